//! `harn bench`.

use super::Programs;

const TEXT: &str = "\
var loaded = 0

pipeline bench_sum() {
  println(\"not shown\")
  var total = 0
  for n in range(10) {
    total = total + n
  }
  assert_eq(total, 45)
}

pipeline bench_nothing() {
}

pipeline other() {
  throw \"not run\"
}
";

#[test]
fn every_benchmark_is_measured() {
    let programs = Programs::new(&[("a.harn", TEXT)]);
    let call = programs
        .harn(&["bench", "--time", "20", "a.harn"])
        .exits_with(0);
    assert_eq!(call.stderr, "");
    let lines: Vec<_> = call.stdout.lines().collect();
    assert_eq!(lines.len(), 8, "{call:?}");
    assert_eq!(
        (lines[0], lines[4]),
        ("bench_sum [a.harn]", "bench_nothing [a.harn]")
    );
    assert!(
        lines[1].starts_with("  median ") && lines[1].contains("   from "),
        "{call:?}"
    );
    assert!(
        lines[2].starts_with("  mean   ") && lines[2].ends_with(" runs"),
        "{call:?}"
    );
}

#[test]
fn json_tells_the_numbers() {
    let programs = Programs::new(&[("a.harn", TEXT)]);
    let arguments = [
        "bench", "--json", "--time", "20", "--filter", "sum", "a.harn",
    ];
    let answer = programs.harn(&arguments).exits_with(0).json();
    let [benchmark] = answer["benchmarks"].as_array().unwrap().as_slice() else {
        panic!("{answer}");
    };
    assert_eq!(benchmark["name"], "bench_sum");
    assert_eq!(benchmark["file"], "a.harn");
    let number = |name: &str| benchmark[name].as_u64().unwrap();
    assert!(number("runs") >= 1);
    assert!(number("min_ns") <= number("median_ns"));
    assert!(number("median_ns") <= number("max_ns"));
    assert!(number("mean_ns") <= number("max_ns"));
}

#[test]
fn a_benchmark_that_fails_is_a_problem() {
    let text = "pipeline bench_a() {\n  throw \"boom\"\n}\n";
    let programs = Programs::new(&[("a.harn", text)]);
    let call = programs.harn(&["bench", "a.harn"]).exits_with(1);
    call.says(
        "",
        "error: bench_a [a.harn] has failed\nerror: Thrown: boom\n  --> a.harn:2:3\n   |\n \
         2 |   throw \"boom\"\n   |   ^^^^^\n",
    );
}

#[test]
fn without_benchmarks_that_is_said() {
    let programs = Programs::new(&[("a.harn", "println(1)\n"), ("b.harn", "let = 1\n")]);
    let call = programs.harn(&["bench", "a.harn"]).exits_with(0);
    call.says("No bench pipelines found\n", "");
    let call = programs.harn(&["bench", "b.harn"]).exits_with(1);
    assert!(call.stderr.starts_with("error: "), "{call:?}");
}
