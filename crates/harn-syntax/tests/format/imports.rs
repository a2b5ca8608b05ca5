//! The imports at the head of a file.

use super::{check, check_width};

#[test]
fn the_standard_library_comes_first() {
    check(
        "import \"lib/a\"\nimport \"std/json\"\nimport \"abc\"\nimport \"std/agents\"\nf()",
        "import \"std/agents\"\nimport \"std/json\"\nimport \"abc\"\nimport \"lib/a\"\n\nf()\n",
    );
}

#[test]
fn a_wildcard_comes_before_names() {
    check(
        "import { a } from \"m\"\nimport \"m\"\nimport { b } from \"l\"",
        "import { b } from \"l\"\nimport \"m\"\nimport { a } from \"m\"\n",
    );
}

#[test]
fn names_are_sorted() {
    check(
        "import {c,a,b} from \"m\"",
        "import { a, b, c } from \"m\"\n",
    );
    check("import {} from \"m\"", "import {} from \"m\"\n");
    check(
        "pub import {b a} from \"m\"",
        "pub import { a, b } from \"m\"\n",
    );
}

#[test]
fn there_are_no_blank_lines_within_and_one_after() {
    check(
        "import \"a\"\n\n\nimport \"b\"\nlet x = 1",
        "import \"a\"\nimport \"b\"\n\nlet x = 1\n",
    );
}

#[test]
fn only_the_leading_ones_are_sorted() {
    check(
        "import \"b\"\nf()\nimport \"a\"",
        "import \"b\"\n\nf()\n\nimport \"a\"\n",
    );
}

#[test]
fn many_names_have_a_line_each() {
    check_width(
        20,
        "import { bbbbbb, aaaaaa } from \"m\"",
        "import {\n  aaaaaa,\n  bbbbbb,\n} from \"m\"\n",
    );
}

#[test]
fn comments_move_with_their_imports() {
    check(
        "// about b\nimport \"b\" // b\n// about a\nimport \"a\" // a\n// about f\nf()",
        "// about a\nimport \"a\" // a\n// about b\nimport \"b\" // b\n\n// about f\nf()\n",
    );
    check(
        "import { b, // b\n a // a\n } from \"m\"",
        "import {\n  a, // a\n  b, // b\n} from \"m\"\n",
    );
}

#[test]
fn comments_about_the_file_stay_at_its_head() {
    check(
        "// licence\n\n// about b\nimport \"b\"\nimport \"a\"",
        "// licence\n\nimport \"a\"\n// about b\nimport \"b\"\n",
    );
    check(
        "/** The file. */\nimport \"b\"\nimport \"a\"",
        "/** The file. */\nimport \"a\"\nimport \"b\"\n",
    );
}
