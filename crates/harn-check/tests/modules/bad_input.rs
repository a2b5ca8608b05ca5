//! Files that are no modules, and programs nobody would write.

use std::fmt::Write as _;

use harn_check::modules::{Disk, MemoryFiles, Workspace};

use crate::files::{scratch, workspace, write};

/// What is wrong with importing `x` on a disk prepared by `prepare`, without the path.
#[track_caller]
fn check(prepare: impl FnOnce(&std::path::Path), expected: &str) {
    let (_guard, root) = scratch();
    write(&root, &[(".git/HEAD", ""), ("main.harn", "import \"x\"")]);
    prepare(&root);
    let mut workspace = Workspace::new(Box::new(Disk));
    let problems = workspace.import_problems(root.join("main.harn"));
    let error = problems[0].error.to_string();
    let shown = error.replace(&root.display().to_string(), "ROOT");
    assert_eq!(shown, expected);
    assert!(workspace.imported(root.join("main.harn")).unresolved);
    assert!(
        workspace
            .load_plan(root.join("main.harn"))
            .failure
            .is_some()
    );
}

#[test]
fn a_missing_file() {
    check(
        |_| {},
        "Import error: cannot read 'ROOT/x.harn': No such file or directory (os error 2)",
    );
}

#[test]
fn a_directory() {
    check(
        |root| std::fs::create_dir(root.join("x")).unwrap(),
        "Import error: cannot read 'ROOT/x': Is a directory (os error 21)",
    );
}

#[test]
fn something_that_is_not_utf_8() {
    check(
        |root| std::fs::write(root.join("x.harn"), [b'a', 0xff]).unwrap(),
        "Import error: cannot read 'ROOT/x.harn': stream did not contain valid UTF-8",
    );
}

#[cfg(unix)]
#[test]
fn links_in_a_circle() {
    check(
        |root| {
            std::os::unix::fs::symlink(root.join("y.harn"), root.join("x.harn")).unwrap();
            std::os::unix::fs::symlink(root.join("x.harn"), root.join("y.harn")).unwrap();
        },
        "Import error: cannot read 'ROOT/x.harn': \
         Too many levels of symbolic links (os error 40)",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_never_ends() {
    check(
        |root| std::os::unix::fs::symlink("/dev/zero", root.join("x.harn")).unwrap(),
        "Import error: cannot read '/dev/zero': not a regular file",
    );
}

#[test]
fn odd_paths_are_only_missing() {
    for path in [
        "", ".", "..", "/", "a\\u{0}b", "std", "   ", "\\n", "//x//", "é/ü",
    ] {
        let main = format!("import \"{path}\"");
        let (mut workspace, _) = workspace(&[("/p/main.harn", &main)]);
        assert_eq!(workspace.import_problems("/p/main.harn").len(), 1, "{path}");
        let mut on_disk = Workspace::new(Box::new(Disk));
        let (_guard, root) = scratch();
        on_disk.set_text(root.join("main.harn"), main);
        let plan = on_disk.load_plan(root.join("main.harn"));
        assert!(plan.failure.is_some(), "{path}");
    }
}

#[test]
fn a_file_that_does_not_exist_has_answers() {
    let (mut workspace, _) = workspace(&[]);
    assert!(workspace.parsed("/main.harn").is_err());
    assert!(workspace.imports("/main.harn").is_empty());
    assert!(!workspace.exports("/main.harn").complete);
    assert!(!workspace.imported("/main.harn").unresolved);
    assert!(workspace.import_diagnostics("/main.harn").is_empty());
}

const DEEP: usize = 10_000;

/// A chain of modules that each pass on what the next one has.
fn chain(line: impl Fn(usize) -> String) -> Workspace {
    let files = MemoryFiles::new();
    for at in 0..DEEP {
        files.write(format!("/m{at}.harn"), &line(at));
    }
    files.write(
        format!("/m{DEEP}.harn"),
        "pub fn last() {}\ntype Last = int",
    );
    files.write("/main.harn", "import { last, Last } from \"m0\"");
    files.write("/all.harn", "import \"m0\"");
    Workspace::new(Box::new(files))
}

#[test]
fn a_long_chain_is_followed_to_its_end() {
    let mut workspace = chain(|at| format!("pub import \"m{}\"", at + 1));
    assert_eq!(workspace.imported("/main.harn").types.len(), 1);
    assert_eq!(workspace.imported("/all.harn").names.join(" "), "last Last");
    assert_eq!(workspace.import_problems("/main.harn").len(), 0);
    let plan = workspace.load_plan("/main.harn");
    assert_eq!((plan.order.len(), plan.failure), (DEEP + 2, None));
    assert_eq!(workspace.reachable("/main.harn"), plan.order);
    assert_eq!(workspace.bindings("/main.harn").len(), 1);
    // An edit at the far end is noticed too.
    workspace.set_text(format!("/m{DEEP}.harn"), "pub fn renamed() {}");
    assert_eq!(workspace.imported("/all.harn").names.join(" "), "renamed");
}

#[test]
fn a_long_chain_of_modules_with_functions_of_their_own() {
    let mut workspace = chain(|at| format!("pub import \"m{}\"\npub fn f{at}() {{}}", at + 1));
    assert_eq!(workspace.imported("/all.harn").names.len(), DEEP + 2);
    let plan = workspace.load_plan("/main.harn");
    assert_eq!((plan.order.len(), plan.failure), (DEEP + 2, None));
}

#[test]
fn a_long_chain_in_a_circle_is_cut() {
    let mut workspace = chain(|at| format!("import \"m{}\"\npub fn f{at}() {{}}", (at + 1) % DEEP));
    let plan = workspace.load_plan("/all.harn");
    assert_eq!((plan.order.len(), plan.circular.len()), (DEEP + 1, 1));
}

#[test]
fn a_file_with_many_imports_of_many_names() {
    let mut main = String::new();
    let (mut workspace, files) = workspace(&[]);
    for at in 0..500 {
        let _ = writeln!(main, "import \"m{at}\"");
        let functions: String = (0..20).map(|f| format!("fn f{at}_{f}() {{}}\n")).collect();
        files.write(format!("/m{at}.harn"), &functions);
    }
    files.write("/main.harn", &main);
    assert_eq!(workspace.imported("/main.harn").names.len(), 10_000);
    assert_eq!(workspace.load_plan("/main.harn").failure, None);
}
