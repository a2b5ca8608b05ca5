//! `harn new`.

use serde_json::json;

use super::Programs;

const TEMPLATES: [&str; 4] = ["agent", "library", "pipeline", "script"];

#[test]
fn without_a_template_all_are_listed() {
    let programs = Programs::new(&[]);
    let call = programs.harn(&["new"]).exits_with(0);
    let names = call
        .stdout
        .lines()
        .map(|line| line.split(' ').next().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), TEMPLATES);
    let answer = programs.harn(&["new", "--json"]).exits_with(0).json();
    let templates = answer["templates"].as_array().unwrap();
    assert_eq!(templates.len(), TEMPLATES.len());
    assert_eq!(templates[3]["template"], "script");
}

/// What we hand out is what we ask for.
#[test]
fn every_template_is_fine_by_our_own_standards() {
    for template in TEMPLATES {
        let programs = Programs::new(&[]);
        programs
            .harn(&["new", template, "my-project"])
            .exits_with(0);
        let manifest = programs.text("my-project/harn.toml");
        assert!(manifest.contains("name = \"my-project\""), "{manifest}");
        assert!(!programs.text("my-project/README.md").contains("{{"));
        for check in [&["check"][..], &["fmt", "--check"], &["lint"], &["test"]] {
            let call = programs
                .harn(&[check, &["my-project"]].concat())
                .exits_with(0);
            assert_eq!(call.stderr, "", "{template} {check:?}");
        }
    }
}

#[test]
fn the_files_are_told() {
    let programs = Programs::new(&[]);
    programs.harn(&["new", "script", "a/b"]).exits_with(0).says(
        "a/b/harn.toml\na/b/main.harn\na/b/tests/main_test.harn\na/b/README.md\n",
        "`harn test` runs its tests\n",
    );
    let call = programs.harn(&["new", "script", "--json", "c"]);
    let files = [
        "c/harn.toml",
        "c/main.harn",
        "c/tests/main_test.harn",
        "c/README.md",
    ];
    assert_eq!(call.json(), json!({"folder": "c", "files": files}));
}

#[test]
fn nothing_is_overwritten() {
    let programs = Programs::new(&[("README.md", "mine\n")]);
    let call = programs.harn(&["new", "pipeline"]).exits_with(1);
    call.says(
        "",
        "error: ./README.md: it is there already; nothing was written\n",
    );
    assert_eq!(programs.text("README.md"), "mine\n");
    assert!(!programs.path("harn.toml").exists());
}

#[test]
fn an_unknown_template_is_a_problem() {
    let programs = Programs::new(&[]);
    let call = programs.harn(&["new", "scrpt", "x"]).exits_with(1);
    call.says(
        "",
        "error: there is no template `scrpt`\ndid you mean `script`?\n",
    );
    assert!(!programs.path("x").exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_a_problem() {
    let programs = Programs::new(&[("file", "")]);
    let call = programs.harn(&["new", "script", "file"]).exits_with(1);
    assert_eq!(call.stdout, "");
    assert!(call.stderr.starts_with("error: file"), "{call:?}");
}
