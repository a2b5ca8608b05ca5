//! Numbers, durations and strings.

use super::{check, check_value, check_values};

#[test]
fn durations_are_in_the_largest_exact_unit() {
    check_value("3600000ms", "1h");
    check_value("90s", "90s");
    check_value("120s", "2m");
    check_value("1500ms", "1500ms");
    check_value("60m", "1h");
    check_value("1d", "24h");
    check_value("1w", "168h");
    check_value("0s", "0ms");
    check_values(&["99999999999999999999h"]);
}

#[test]
fn floats_keep_a_decimal_point() {
    check_value("1.0", "1.0");
    check_value("1.50", "1.5");
    check_value("99999999999999999999", "100000000000000000000.0");
    check_values(&[&format!("1{}", "0".repeat(400))]);
}

#[test]
fn strings_are_kept() {
    check_values(&[
        "\"a\\n${b  +  c} \\$ é\"",
        "r\"a\\b\"",
        "\"\"\"\n    alpha\n  beta ${1 + 1}  \n    \"\"\"",
    ]);
    check(
        "fn f() { let s = \"\"\"\n a\n b\"\"\" }",
        "fn f() {\n  let s = \"\"\"\n a\n b\"\"\"\n}\n",
    );
}
