//! 11.2: where an import leads.

use harn_check::modules::{Disk, Workspace};

use crate::files::{scratch, shown, workspace, write};

/// Imports `path` from `/p/src/main.harn` beside the given files.
#[track_caller]
fn check(files: &[&str], path: &str, expected: &str) {
    let import = format!("import \"{}\"", path.replace('\\', "\\\\"));
    let mut files: Vec<_> = files.iter().map(|path| (*path, "")).collect();
    files.push(("/p/src/main.harn", &import));
    check_target(&files, expected);
}

#[track_caller]
fn check_target(files: &[(&str, &str)], expected: &str) {
    let (mut workspace, _) = workspace(files);
    let imports = workspace.imports("/p/src/main.harn");
    let [import] = &imports[..] else {
        panic!("one import, not {imports:?}")
    };
    let target = match &import.target {
        Ok(path) => shown(path),
        Err(error) => error.to_string(),
    };
    assert_eq!(target, expected);
}

#[test]
fn a_path_starts_at_the_directory_of_the_importing_file() {
    check(&["/p/src/lib/x.harn"], "lib/x", "/p/src/lib/x.harn");
    check(&["/p/lib/x.harn"], "../lib/x.harn", "/p/lib/x.harn");
    check(&["/p/src/x.harn"], "./x", "/p/src/x.harn");
    check(&["/elsewhere/x.harn"], "/elsewhere/x", "/elsewhere/x.harn");
}

#[test]
fn a_path_is_taken_as_given_before_it_gains_an_extension() {
    check(&["/p/src/x", "/p/src/x.harn"], "x", "/p/src/x");
    check(&["/p/src/x.txt"], "x.txt", "/p/src/x.txt");
}

#[test]
fn a_path_with_an_extension_gains_none() {
    check(
        &["/p/src/v1.2.harn"],
        "v1.2",
        "Import error: cannot read '/p/src/v1.2': entity not found",
    );
}

#[test]
fn a_directory_is_no_module_and_hides_none() {
    check(&["/p/src/x/a.harn", "/p/src/x.harn"], "x", "/p/src/x.harn");
    check(
        &["/p/src/x/a.harn"],
        "x",
        "Import error: cannot read '/p/src/x': is a directory",
    );
}

#[test]
fn a_missing_file_is_named_with_its_extension() {
    check(
        &[],
        "lib/x",
        "Import error: cannot read '/p/src/lib/x.harn': entity not found",
    );
    check(
        &[],
        "../x.harn",
        "Import error: cannot read '/p/src/../x.harn': entity not found",
    );
}

#[test]
fn standard_modules_are_built_in() {
    check(&["/p/src/std/json.harn"], "std/json", "<stdlib>/json.harn");
    let linear = "<stdlib>/connectors/linear.harn";
    check(&[], "std/connectors/linear", linear);
    check(&[], "std/nope", "Unknown stdlib module: std/nope");
    check(&[], "std/", "Unknown stdlib module: std/");
    check(&[], "std/../json", "Unknown stdlib module: std/../json");
}

#[test]
fn a_package_is_a_directory_with_a_lib_or_a_file() {
    let lib = "/p/.harn/packages/pkg/lib.harn";
    check(&[lib], "pkg", lib);
    let nested = "/p/.harn/packages/pkg/a/b.harn";
    check(&[nested], "pkg/a/b", nested);
    check(&[nested], "pkg/a/b.harn", nested);
    let inner = "/p/.harn/packages/pkg/a/lib.harn";
    check(&[inner], "pkg/a", inner);
    let single = "/p/.harn/packages/pkg.harn";
    check(&[single], "pkg", single);
}

#[test]
fn files_beside_come_before_packages_and_near_packages_before_far_ones() {
    let far = "/p/.harn/packages/pkg/lib.harn";
    let near = "/p/src/.harn/packages/pkg/lib.harn";
    check(&[far, near], "pkg", near);
    check(&[far, near, "/p/src/pkg.harn"], "pkg", "/p/src/pkg.harn");
}

#[test]
fn the_search_for_packages_stops_at_the_repository() {
    let outside = "/.harn/packages/pkg/lib.harn";
    check(&[outside], "pkg", outside);
    check(
        &[outside, "/p/.git/HEAD"],
        "pkg",
        "Import error: cannot read '/p/src/pkg.harn': entity not found",
    );
    let inside = "/p/.harn/packages/pkg/lib.harn";
    check(&[inside, "/p/.git/HEAD"], "pkg", inside);
}

#[test]
fn a_manifest_names_what_a_package_exports() {
    let manifest = (
        "/p/.harn/packages/pkg/harn.toml",
        "[exports]\nshort = \"deep/file.harn\"\n\"a/b\" = \"c\"\n",
    );
    let main = |path| ("/p/src/main.harn", path);
    let deep = "/p/.harn/packages/pkg/deep/file.harn";
    check_target(&[manifest, (deep, ""), main("import \"pkg/short\"")], deep);
    let c = "/p/.harn/packages/pkg/c.harn";
    check_target(&[manifest, (c, ""), main("import \"pkg/a/b\"")], c);
    // A file of that name wins, and what is not mapped, or mapped to nothing, is not found.
    let short = "/p/.harn/packages/pkg/short.harn";
    let both = [
        manifest,
        (deep, ""),
        (short, ""),
        main("import \"pkg/short\""),
    ];
    check_target(&both, short);
    for path in ["pkg/other", "pkg/short"] {
        let import = format!("import \"{path}\"");
        check_target(
            &[manifest, ("/p/src/main.harn", &import)],
            &format!("Import error: cannot read '/p/src/{path}.harn': entity not found"),
        );
    }
}

#[test]
fn a_package_cannot_be_left() {
    let missing =
        |path| format!("Import error: cannot read '/p/src/{path}.harn': entity not found");
    let lib = "/p/.harn/packages/pkg/lib.harn";
    let x = "/p/.harn/packages/other/x.harn";
    for path in ["pkg/../other/x", "./pkg", "pkg\\lib"] {
        check(&[lib, x], path, &missing(path));
    }
    for target in ["../other/x.harn", "/p/secret.harn"] {
        let manifest = format!("[exports]\nx = \"{target}\"");
        check_target(
            &[
                ("/p/.harn/packages/pkg/harn.toml", &manifest),
                (x, ""),
                ("/p/secret.harn", ""),
                ("/p/src/main.harn", "import \"pkg/x\""),
            ],
            &missing("pkg/x"),
        );
    }
}

#[test]
fn a_broken_manifest_is_named() {
    let (mut workspace, _) = workspace(&[
        ("/p/.harn/packages/pkg/harn.toml", "[exports\n"),
        ("/p/src/main.harn", "import \"pkg/x\""),
    ]);
    let error = workspace.imports("/p/src/main.harn")[0]
        .target
        .clone()
        .unwrap_err();
    let text = error.to_string();
    let beginning = "Import error: cannot read '/p/.harn/packages/pkg/harn.toml': ";
    let reason = text.strip_prefix(beginning).unwrap();
    assert!(!reason.is_empty() && !reason.contains('\n'), "{text}");
}

#[cfg(unix)]
#[test]
fn a_file_is_the_same_by_whatever_path() {
    let (_guard, root) = scratch();
    write(
        &root,
        &[
            ("real/x.harn", ""),
            (
                "main.harn",
                "import \"real/x\"\nimport \"link/x\"\nimport \"real/../real/x.harn\"",
            ),
        ],
    );
    std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
    let mut workspace = Workspace::new(Box::new(Disk));
    for import in &*workspace.imports(root.join("main.harn")) {
        let target = import.target.as_ref().unwrap();
        assert_eq!(**target, root.join("real/x.harn"));
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_a_package_is_not_followed() {
    let (_guard, root) = scratch();
    write(
        &root,
        &[
            (".git/HEAD", ""),
            (".harn/packages/pkg/lib.harn", ""),
            ("secret.harn", ""),
            ("main.harn", "import \"pkg/escape\""),
        ],
    );
    let link = root.join(".harn/packages/pkg/escape.harn");
    std::os::unix::fs::symlink(root.join("secret.harn"), link).unwrap();
    let mut workspace = Workspace::new(Box::new(Disk));
    let imports = workspace.imports(root.join("main.harn"));
    let error = imports[0].target.as_ref().unwrap_err().to_string();
    let missing = format!(
        "Import error: cannot read '{}': No such file or directory (os error 2)",
        root.join("pkg/escape.harn").display()
    );
    assert_eq!(error, missing);
}
