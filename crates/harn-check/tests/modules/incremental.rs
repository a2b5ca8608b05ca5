//! What is made again after an edit, and what is not.

use std::sync::Arc;

use harn_check::modules::{Checks, Computations, MemoryFiles, Workspace};

use crate::files::workspace;

const MAIN: &str = "import \"a\"\nimport \"c\"\nfn main() { f() }";

fn program() -> (Workspace, MemoryFiles) {
    let (mut workspace, files) = workspace(&[
        ("/main.harn", MAIN),
        (
            "/a.harn",
            "pub import \"b\"\npub fn f() { 1 }\ntype T = int",
        ),
        ("/b.harn", "pub fn g() { 1 }"),
        ("/c.harn", "pub fn h() { 1 }"),
        ("/other.harn", "import \"c\""),
    ]);
    workspace.imported("/main.harn");
    workspace.imported("/other.harn");
    (workspace, files)
}

/// Does something, asks again what the two programs import, and counts what was made.
fn count(workspace: &mut Workspace, edit: impl FnOnce(&mut Workspace)) -> Computations {
    let before = workspace.computations();
    edit(workspace);
    workspace.imported("/main.harn");
    workspace.imported("/other.harn");
    let after = workspace.computations();
    Computations {
        parsed: after.parsed - before.parsed,
        outlines: after.outlines - before.outlines,
        resolutions: after.resolutions - before.resolutions,
        exports: after.exports - before.exports,
        imported: after.imported - before.imported,
        problems: after.problems - before.problems,
    }
}

const NOTHING: Computations = Computations {
    parsed: 0,
    outlines: 0,
    resolutions: 0,
    exports: 0,
    imported: 0,
    problems: 0,
};

/// A file was read and outlined again, and that was that.
const OUTLINED: Computations = Computations {
    parsed: 1,
    outlines: 1,
    ..NOTHING
};

#[test]
fn each_file_is_read_once() {
    let (mut workspace, _) = program();
    assert_eq!(workspace.computations().parsed, 5);
    assert_eq!(count(&mut workspace, |_| {}), NOTHING);
}

#[test]
fn a_body_concerns_no_importer() {
    let (mut workspace, _) = program();
    let before = workspace.imported("/main.harn");
    // Everything after the body moves down as well.
    let text = "pub import \"b\"\npub fn f() {\n  let x = 2\n  x\n}\n// Note.\ntype T = int";
    let counted = count(&mut workspace, |workspace| {
        workspace.set_text("/a.harn", text)
    });
    assert_eq!(counted, OUTLINED);
    assert!(Arc::ptr_eq(&before, &workspace.imported("/main.harn")));
}

#[test]
fn a_body_concerns_no_importer_of_an_importer() {
    let (mut workspace, _) = program();
    let text = "pub fn g() { 2 }";
    let counted = count(&mut workspace, |workspace| {
        workspace.set_text("/b.harn", text)
    });
    assert_eq!(counted, OUTLINED);
}

#[test]
fn a_new_public_function_concerns_importers_only() {
    let (mut workspace, _) = program();
    let before = workspace.imported("/other.harn");
    let text = "pub import \"b\"\npub fn f() { 1 }\npub fn f2() { 1 }\ntype T = int";
    let counted = count(&mut workspace, |workspace| {
        workspace.set_text("/a.harn", text)
    });
    // The module's own imports are looked at again; they lead where they led.
    assert_eq!(
        counted,
        Computations {
            resolutions: 1,
            exports: 1,
            imported: 1,
            ..OUTLINED
        }
    );
    let names = &workspace.imported("/main.harn").names;
    assert_eq!(names.join(" "), "f f2 g T h");
    assert!(Arc::ptr_eq(&before, &workspace.imported("/other.harn")));
}

#[test]
fn a_new_function_is_passed_on() {
    let (mut workspace, _) = program();
    let text = "pub fn g() { 1 }\npub fn g2() { 1 }";
    let counted = count(&mut workspace, |workspace| {
        workspace.set_text("/b.harn", text)
    });
    assert_eq!((counted.exports, counted.imported), (1, 1));
    let names = &workspace.imported("/main.harn").names;
    assert_eq!(names.join(" "), "f g g2 T h");
}

#[test]
fn a_private_function_makes_exports_again_but_not_what_importers_get() {
    let (mut workspace, _) = program();
    let before = workspace.imported("/main.harn");
    let text = "pub fn g() { 1 }\nfn hidden() { 1 }";
    let counted = count(&mut workspace, |workspace| {
        workspace.set_text("/b.harn", text)
    });
    assert_eq!((counted.exports, counted.imported), (1, 0));
    assert!(Arc::ptr_eq(&before, &workspace.imported("/main.harn")));
}

#[test]
fn another_type_is_noticed() {
    let (mut workspace, _) = program();
    let text = "pub import \"b\"\npub fn f() { 1 }\ntype T = string";
    let before = workspace.imported("/main.harn");
    let counted = count(&mut workspace, |workspace| {
        workspace.set_text("/a.harn", text)
    });
    assert_eq!(counted.imported, 1);
    assert_ne!(before, workspace.imported("/main.harn"));
}

#[test]
fn the_same_text_is_no_edit() {
    let (mut workspace, files) = program();
    let counted = count(&mut workspace, |workspace| {
        workspace.set_text("/main.harn", MAIN);
        workspace.remove_override("/main.harn");
        files.write(
            "/a.harn",
            "pub import \"b\"\npub fn f() { 1 }\ntype T = int",
        );
        workspace.refresh("/a.harn");
    });
    assert_eq!(counted, NOTHING);
}

#[test]
fn editors_come_before_files() {
    let (mut workspace, files) = program();
    workspace.set_text("/c.harn", "pub fn edited() {}");
    files.write("/c.harn", "pub fn saved() {}");
    workspace.refresh("/c.harn");
    assert_eq!(workspace.imported("/other.harn").names.join(" "), "edited");
    workspace.remove_override("/c.harn");
    assert_eq!(workspace.imported("/other.harn").names.join(" "), "saved");
}

#[test]
fn files_are_read_again_when_they_are_said_to_have_changed() {
    let (mut workspace, files) = program();
    files.write("/c.harn", "pub fn changed() {}");
    assert_eq!(workspace.imported("/other.harn").names.join(" "), "h");
    workspace.refresh("/c.harn");
    assert_eq!(workspace.imported("/other.harn").names.join(" "), "changed");
}

#[test]
fn a_directory_stands_for_what_is_in_it() {
    let (mut workspace, files) = workspace(&[
        ("/main.harn", "import \"lib/a\"\nimport \"lib/b\""),
        ("/lib/a.harn", "fn a() {}"),
    ]);
    assert!(workspace.imported("/main.harn").unresolved);
    files.write("/lib/a.harn", "fn a2() {}");
    files.write("/lib/b.harn", "fn b() {}");
    workspace.refresh("/lib");
    assert_eq!(workspace.imported("/main.harn").names.join(" "), "a2 b");
    assert!(!workspace.imported("/main.harn").unresolved);
}

#[test]
fn modules_may_come_and_go() {
    let (mut workspace, files) = program();
    files.remove("/c.harn");
    workspace.refresh("/c.harn");
    assert!(workspace.imported("/other.harn").unresolved);
    files.write("/c.harn", "pub fn back() {}");
    workspace.refresh("/c.harn");
    assert_eq!(workspace.imported("/other.harn").names.join(" "), "back");
    assert!(!workspace.imported("/other.harn").unresolved);
}

#[test]
fn a_module_may_exist_in_an_editor_only() {
    let (mut workspace, _) = workspace(&[("/main.harn", "import \"lib/new\"")]);
    assert!(workspace.imported("/main.harn").unresolved);
    workspace.set_text("/lib/new.harn", "pub fn fresh() {}");
    assert_eq!(workspace.imported("/main.harn").names.join(" "), "fresh");
    assert!(!workspace.imported("/main.harn").unresolved);
    workspace.remove_override("/lib/new.harn");
    assert!(workspace.imported("/main.harn").unresolved);
}

#[test]
fn a_nearer_module_takes_over_when_it_appears() {
    let (mut workspace, files) = workspace(&[
        ("/main.harn", "import \"pkg\""),
        ("/.harn/packages/pkg/lib.harn", "pub fn packaged() {}"),
    ]);
    assert_eq!(workspace.imported("/main.harn").names.join(" "), "packaged");
    files.write("/pkg.harn", "pub fn beside() {}");
    workspace.refresh("/pkg.harn");
    assert_eq!(workspace.imported("/main.harn").names.join(" "), "beside");
}

#[test]
fn a_manifest_is_read_again() {
    let manifest = "/.harn/packages/pkg/harn.toml";
    let (mut workspace, files) = workspace(&[
        ("/main.harn", "import \"pkg/x\""),
        (manifest, "[exports]\nx = \"a.harn\""),
        ("/.harn/packages/pkg/a.harn", "pub fn a() {}"),
        ("/.harn/packages/pkg/b.harn", "pub fn b() {}"),
    ]);
    assert_eq!(workspace.imported("/main.harn").names.join(" "), "a");
    files.write(manifest, "[exports]\nx = \"b.harn\"");
    workspace.refresh(manifest);
    assert_eq!(workspace.imported("/main.harn").names.join(" "), "b");
}

#[test]
fn problems_follow_edits() {
    let (mut workspace, _) = workspace(&[
        ("/main.harn", "import { f } from \"a\""),
        ("/a.harn", "fn f() {}"),
    ]);
    assert!(workspace.import_problems("/main.harn").is_empty());
    workspace.set_text("/a.harn", "fn g() {}");
    assert_eq!(workspace.import_problems("/main.harn").len(), 1);
    workspace.set_text("/a.harn", "pub import \"b\"");
    workspace.set_text("/b.harn", "fn f() {}");
    assert!(workspace.import_problems("/main.harn").is_empty());
}

#[test]
fn any_order_of_edits_gives_what_a_fresh_look_gives() {
    let texts = [
        "",
        "pub fn f() {}",
        "fn f() {}\nfn g() {}",
        "pub import \"b\"",
        "pub import \"a\"\ntype T = int",
        "pub import { f } from \"c\"\npub fn g() {}",
        "fn (",
        "import \"nope\"",
    ];
    let paths = ["/a.harn", "/b.harn", "/c.harn"];
    let main = ("/main.harn", "import \"a\"\nimport { f } from \"b\"");
    let (mut edited, files) = workspace(&[main]);
    let mut state = 7_u32;
    for _ in 0..2000 {
        // A small generator of numbers, so that the test is the same every time.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let path = paths[(state >> 8) as usize % paths.len()];
        let text = texts[(state >> 16) as usize % texts.len()];
        match (state >> 24) % 4 {
            0 => {
                files.remove(path);
                edited.remove_override(path);
                edited.refresh(path);
            }
            // Saved, but the editor still has it.
            1 => {
                edited.set_text(path, text);
                files.write(path, text);
            }
            _ => {
                files.write(path, text);
                edited.remove_override(path);
                edited.refresh(path);
            }
        }
        let mut fresh = Workspace::new(Box::new(files.clone()));
        for path in ["/main.harn", "/a.harn", "/b.harn"] {
            assert_eq!(edited.imported(path).names, fresh.imported(path).names);
            assert_eq!(
                edited.imported(path).unresolved,
                fresh.imported(path).unresolved
            );
            assert_eq!(edited.import_problems(path), fresh.import_problems(path));
            assert_eq!(edited.load_plan(path), fresh.load_plan(path));
        }
    }
}

/// How often the importer is checked, which is what an editor waits for.
#[test]
fn only_files_that_may_be_different_are_checked_again() {
    let (mut workspace, _) = program();
    let mut checks = Checks::new();
    let mut count = 0;
    let mut check = |workspace: &mut Workspace| {
        let names = checks.get(workspace, "/main.harn", |_, imported| {
            count += 1;
            imported.names.join(" ")
        });
        (count, names.unwrap().to_string())
    };
    assert_eq!(check(&mut workspace), (1, "f g T h".to_owned()));
    assert_eq!(check(&mut workspace).0, 1);
    workspace.set_text("/b.harn", "pub fn g() { 2 }");
    assert_eq!(check(&mut workspace).0, 1, "a body of a module");
    workspace.set_text("/other.harn", "");
    assert_eq!(check(&mut workspace).0, 1, "another program");
    workspace.set_text("/b.harn", "pub fn g() { 2 }\npub fn g2() { 2 }");
    assert_eq!(check(&mut workspace), (2, "f g g2 T h".to_owned()));
    workspace.set_text("/main.harn", MAIN.replace("f()", "g()"));
    assert_eq!(check(&mut workspace).0, 3, "a body of its own");
}
