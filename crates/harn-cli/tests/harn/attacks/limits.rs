//! Builtins that work for long or on much, under a small limit.

use std::time::{Duration, Instant};

use crate::program::{Call, harn};

/// How long a program may take that is given so many milliseconds: twice that, and what the
/// machine needs for all the others that run beside it.
fn assert_in_time(begun: Instant, given_ms: u64) {
    const MACHINE: Duration = Duration::from_secs(5);
    let took = begun.elapsed();
    assert!(
        took < Duration::from_millis(2 * given_ms) + MACHINE,
        "{took:?}"
    );
}

/// Runs a text with a limit of time.
fn timed(code: &str) -> Call {
    let begun = Instant::now();
    let call = harn(&["run", "-e", code, "--timeout", "500ms"]);
    assert_in_time(begun, 500);
    call
}

#[test]
fn a_builtin_that_works_for_long_keeps_the_time() {
    for code in [
        // One call after the other, of which each takes longer.
        "var t = \"x\"\nwhile true { t = t + t + \"y\"; sha256(t) }",
        "var t = \"x\" * 30000000\nwhile true { sha256(t) }",
        "while true { list_dir(\"/usr/bin\") }",
        "var x = [\"ab\"]\nfor i in 0 to 60 { x = [x, x] }\nlet t = \"${x}\"\nprintln(len(t))",
        "var x = [\"ab\"]\nfor i in 0 to 60 { x = [x, x] }\nprintln(json_stringify(x))",
        "let t = \"ab\" * 1000000\nwhile true { regex_match(\"a\", t) }",
    ] {
        let call = timed(code);
        assert_eq!(call.code, Some(124), "{code}: {call:?}");
        assert_eq!(call.stderr, "error: timed out after 500ms\n", "{code}");
    }
}

#[test]
fn a_builtin_that_writes_for_long_keeps_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    let code = format!(
        "let t = \"x\" * 20000000\nwhile true {{ write_file(\"{}\", t) }}",
        file.display()
    );
    let call = timed(&code);
    assert_eq!(call.code, Some(124), "{call:?}");
}

#[test]
fn a_block_with_a_deadline_stops_a_builtin_and_its_error_can_be_caught() {
    let code = "var x = [\"ab\"]\nfor i in 0 to 60 { x = [x, x] }\n\
                try { deadline 50ms { println(\"${x}\") } } catch (e) { println(\"caught ${e}\") }";
    let call = harn(&["run", "-e", code, "--timeout", "60s"]);
    call.exits_with(0).prints("caught Deadline exceeded");
}

#[test]
fn a_builtin_cannot_take_more_memory_than_a_program_may() {
    for code in [
        "let t = \"ab\" * 4000000\nprintln(len(t.chars()))",
        "let t = \"a,\" * 4000000\nprintln(len(split(t, \",\")))",
        "let t = \"[\" + \"[],\" * 4000000 + \"[]]\"\nprintln(len(json_parse(t)))",
        "let t = \"ab\" * 4000000\nprintln(len(regex_captures(\"(a)(b)\", t)))",
        "var x = [\"ab\"]\nfor i in 0 to 60 { x = [x, x] }\nprintln(len(\"${x}\"))",
        "let t = \"x\" * 40000000\nvar l = []\nwhile true { l = l + [t + \"y\"] }",
        "println(len(read_file(\"/dev/zero\")))",
        "let l = to_list(split(\"a,\" * 500000, \",\"))\nvar k = []\nwhile true { k = k + [l.push(1)] }",
    ] {
        let call = harn(&[
            "run",
            "-e",
            code,
            "--max-memory",
            "64MB",
            "--timeout",
            "60s",
        ]);
        assert_eq!(call.code, Some(1), "{code}: {call:?}");
        let is_told =
            call.stderr.contains("Memory limit exceeded") || call.stderr.contains("larger");
        assert!(is_told, "{code}: {call:?}");
    }
}

#[test]
fn memory_that_is_garbage_does_not_end_a_program() {
    let code = "let t = \"x\" * 20000000\nvar n = 0\n\
                for i in 0 to 200 { n = n + len(t + \"y\") }\n\
                let l = split(\"a,\" * 100000, \",\")\n\
                for i in 0 to 100 { var k = l; k[0] = i; n = n + len(k) }\nprintln(n > 0)";
    harn(&["run", "-e", code, "--max-memory", "64MB"])
        .exits_with(0)
        .prints("true");
}
