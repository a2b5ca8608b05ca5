use std::fs;

use serde_json::json;

use crate::coding::scene::Scene;

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("a.rs", "fn one() {}\nfn two() {}\n");
    scene.write("src/b.rs", "let x = one();\r\nlet Y = 2;\r\n");
    scene.write("src/notes.md", "ones and Zweis");
    scene.write(".git/c.rs", "fn one()");
    scene.write("program", b"one\0");
    scene.write("latin", b"one Gr\xfc\xdfe\n");
    scene.link("a.rs", "link.rs");
    scene
}

#[test]
fn lines_are_found() {
    let scene = scene();
    let rows = [
        (
            json!({"pattern": "one\\("}),
            "a.rs:1:fn one() {}\nsrc/b.rs:1:let x = one();",
        ),
        (
            json!({"pattern": "one", "path": "src"}),
            "src/b.rs:1:let x = one();\nsrc/notes.md:1:ones and Zweis",
        ),
        (
            json!({"pattern": "one", "path": "src/b.rs"}),
            "src/b.rs:1:let x = one();",
        ),
        (
            json!({"pattern": "one", "glob": "*.md"}),
            "src/notes.md:1:ones and Zweis",
        ),
        (
            json!({"pattern": "one", "glob": "*/*.rs"}),
            "src/b.rs:1:let x = one();",
        ),
        (
            json!({"pattern": "one", "glob": "*.rs", "path": "link.rs"}),
            "a.rs:1:fn one() {}",
        ),
        (
            json!({"pattern": "let y", "ignore_case": true}),
            "src/b.rs:2:let Y = 2;",
        ),
        (json!({"pattern": "let y"}), "[no line matches in 4 files]"),
        (
            json!({"pattern": ";$", "limit": 5, "glob": "b.rs"}),
            "src/b.rs:1:let x = one();\nsrc/b.rs:2:let Y = 2;",
        ),
        (
            json!({"pattern": "^one Gr"}),
            "latin:1:one Gr\u{fffd}\u{fffd}e",
        ),
        (
            json!({"pattern": "fn", "limit": 1}),
            "a.rs:1:fn one() {}\n\n[only the first 1 matching lines are shown. Use a narrower pattern, path or glob]",
        ),
    ];
    for (arguments, expected) in rows {
        scene.says("grep", arguments, expected);
    }
}

#[test]
fn lines_around_are_shown_in_groups() {
    let scene = Scene::new();
    scene.write("f", "1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10\n");
    scene.write("g", "x1\n");
    scene.says(
        "grep",
        json!({"pattern": "x", "context": 1}),
        "f-2-2\nf:3:x3\nf-4-4\nf:5:x5\nf-6-6\n--\nf-9-9\nf:10:x10\n--\ng:1:x1",
    );
    scene.says(
        "grep",
        json!({"pattern": "x", "path": "g", "context": 99}),
        "g:1:x1",
    );
    scene.says(
        "grep",
        json!({"pattern": "x", "path": "f", "context": 2, "limit": 2}),
        "f-1-1\nf-2-2\nf:3:x3\nf-4-4\nf:5:x5\nf-6-6\nf-7-7\n\n[only the first 2 matching lines are shown. Use a narrower pattern, path or glob]",
    );
}

#[test]
fn an_empty_line_can_match() {
    let scene = Scene::new();
    scene.write("f", "a\n\nb\n");
    scene.says("grep", json!({"pattern": "^$"}), "f:2:");
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let scene = Scene::new();
    scene.write(
        "f",
        format!("{}needle{}", "ü".repeat(1000), "x".repeat(1000)),
    );
    let text = scene.call("grep", json!({"pattern": "needle"})).unwrap();
    assert!(text.starts_with("f:1:…ü") && text.ends_with("x…"), "{text}");
    assert!(
        text.contains("needle") && text.len() < 520 && !text.contains('\u{fffd}'),
        "{text}"
    );
}

#[test]
fn large_files_are_passed_over() {
    let scene = Scene::with_limits(|limits| limits.grep_bytes_max = 10);
    scene.write("large", "x".repeat(11));
    scene.write("small", "x");
    scene.says(
        "grep",
        json!({"pattern": "x"}),
        "small:1:x\n\n[1 files of more than 10 bytes were passed over]",
    );
}

#[test]
fn much_text_ends_the_search() {
    let scene = Scene::with_limits(|limits| limits.read_bytes_max = 20);
    scene.write("f", "xxxxxxxxxxxxxxxxxxxxxxxxx\nx\nx\n");
    let text = scene.call("grep", json!({"pattern": "x"})).unwrap();
    assert!(text.contains("only the first 1 matching lines"), "{text}");
}

#[test]
fn what_cannot_be_searched_is_said() {
    let scene = scene();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "one").unwrap();
    scene.link(outside.path(), "out");
    scene.fails("grep", json!({}), "the argument `pattern` is missing");
    for pattern in ["(", "(?:a{1000}){1000}"] {
        let result = scene.call("grep", json!({"pattern": pattern}));
        let said = result.unwrap_err().to_string();
        assert!(said.starts_with("the pattern is not valid: "), "{said}");
    }
    scene.fails(
        "grep",
        json!({"pattern": "x", "path": "no"}),
        "cannot look in 'no': No such file or directory (os error 2)",
    );
    scene.rejects("grep", json!({"pattern": "one", "path": "out"}));
    scene.rejects("grep", json!({"pattern": "one", "path": "out/secret"}));
    let text = scene.call("grep", json!({"pattern": "one"})).unwrap();
    assert!(!text.contains("secret"), "{text}");
}
