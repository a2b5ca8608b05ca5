//! 11.4: which modules are loaded, and when.

use crate::files::{shown, workspace};

/// The plan of `/main.harn` as file names in order, then what fails where.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &str) {
    let (mut workspace, _) = workspace(files);
    let plan = workspace.load_plan("/main.harn");
    let order = plan.order.iter().map(|path| shown(path));
    let mut parts: Vec<_> = order
        .map(|path| {
            path.trim_start_matches('/')
                .trim_end_matches(".harn")
                .to_owned()
        })
        .collect();
    for (importer, import) in &plan.circular {
        parts.push(format!("~{}:{import}", shown(importer)));
    }
    if let Some(failure) = &plan.failure {
        let importer = shown(&failure.importer);
        parts.push(format!("!{importer}:{} {}", failure.import, failure.error));
    }
    assert_eq!(parts.join(" "), expected);
}

#[test]
fn a_module_is_loaded_after_what_it_imports_and_once() {
    check(&[("/main.harn", "fn f() {}")], "main");
    check(
        &[
            ("/main.harn", "import \"a\"\nimport \"b\""),
            ("/a.harn", "import \"c\"\nfn a() {}"),
            ("/b.harn", "import { c } from \"./c.harn\"\nfn b() {}"),
            ("/c.harn", "fn c() {}"),
        ],
        "c a b main",
    );
}

#[test]
fn a_circle_is_cut_where_it_closes() {
    check(
        &[
            ("/main.harn", "import \"a\""),
            ("/a.harn", "import \"b\"\npub fn a() {}"),
            ("/b.harn", "import { a, nope } from \"a\"\npub fn b() {}"),
        ],
        "b a main ~/b.harn:0",
    );
    check(&[("/main.harn", "import \"main\"")], "main ~/main.harn:0");
}

#[test]
fn nothing_can_be_passed_on_through_a_circle() {
    check(
        &[
            ("/main.harn", "import \"a\""),
            ("/a.harn", "import \"b\"\npub fn a() {}"),
            ("/b.harn", "pub import \"a\"\npub fn b() {}"),
        ],
        "~/b.harn:0 !/b.harn:0 Re-export error: imported module 'a' was not loaded",
    );
}

#[test]
fn loading_ends_at_the_first_import_that_fails() {
    check(
        &[
            (
                "/main.harn",
                "import \"a\"\nimport { x } from \"b\"\nimport \"nope\"",
            ),
            ("/a.harn", "fn a() {}"),
            ("/b.harn", "import \"a\"\nfn b() {}"),
        ],
        "a b !/main.harn:1 Import error: 'x' is not defined in /b.harn",
    );
    check(
        &[
            ("/main.harn", "import \"a\""),
            ("/a.harn", "import \"b\"\nimport \"c\""),
            ("/b.harn", ""),
        ],
        "b !/a.harn:1 Import error: cannot read '/c.harn': entity not found",
    );
    check(
        &[("/main.harn", "import \"a\""), ("/a.harn", "fn a( {")],
        "!/main.harn:0 Import parse error: Expected parameter name, got { at 1:7",
    );
}

#[test]
fn what_is_passed_on_is_checked_when_a_module_has_its_imports() {
    check(
        &[
            ("/main.harn", "import \"a\""),
            (
                "/a.harn",
                "pub import \"b\"\npub import \"c\"\npub fn f() {}",
            ),
            ("/b.harn", "pub fn g() {}"),
            ("/c.harn", "pub fn f() {}"),
        ],
        "b c !/a.harn:1 Re-export collision: 'f' is defined here and also re-exported from 'c'",
    );
    check(
        &[
            ("/main.harn", "import \"a\""),
            ("/a.harn", "pub import { hidden } from \"b\""),
            ("/b.harn", "pub fn open() {}\nfn hidden() {}"),
        ],
        "b !/a.harn:0 Re-export error: 'hidden' is not exported by 'b'",
    );
}

#[test]
fn standard_modules_are_loaded_like_others() {
    check(
        &[("/main.harn", "import \"std/plan\"")],
        "<stdlib>/hitl <stdlib>/plan main",
    );
}

#[test]
fn everything_reachable_is_listed_whatever_is_broken() {
    let (mut workspace, _) = workspace(&[
        (
            "/main.harn",
            "import \"gone\"\nimport \"a\"\nimport \"broken\"",
        ),
        ("/a.harn", "import \"b\"\nimport \"main\""),
        ("/b.harn", "import \"a\""),
        ("/broken.harn", "fn (\nimport \"c\""),
        ("/c.harn", ""),
        ("/unrelated.harn", ""),
    ]);
    let files = workspace.reachable("/main.harn");
    let files: Vec<_> = files.iter().map(|path| shown(path)).collect();
    let expected = [
        "/b.harn",
        "/a.harn",
        "/c.harn",
        "/broken.harn",
        "/main.harn",
    ];
    assert_eq!(files, expected);
}
