//! What patterns mean, by rows and against a reference that does not care for time.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(pattern: &str, text: &str, expected: bool) {
    let read = TextPattern::read(pattern).expect("it can be read");
    assert_eq!(read.matches(text), expected, "{pattern} on {text}");
}

#[test]
fn the_forms_with_one_star_mean_what_they_always_did() {
    for (pattern, text, expected) in [
        ("*", "anything", true),
        ("*", "", true),
        ("read*", "read_file", true),
        ("read*", "read", true),
        ("read*", "thread", false),
        ("*_file", "read_file", true),
        ("*_file", "read_files", false),
        ("read", "read", true),
        ("read", "read_file", false),
        ("", "", true),
        ("", "read", false),
        ("src/*", "src/deep/a.rs", true),
        ("ls*", "ls\nrm", true),
    ] {
        check(pattern, text, expected);
    }
}

#[test]
fn wildcards_stand_anywhere() {
    for (pattern, text, expected) in [
        ("*__*", "files__read", true),
        ("*__*", "read_file", false),
        ("*run*", "run", true),
        ("*run*", "my_run_it", true),
        ("*run*", "ru_n", false),
        ("a*b", "axb", true),
        ("a*b", "ab", true),
        ("a*b", "abc", false),
        ("*a*b*", "xaxbx", true),
        ("*ab*ab", "xab", false),
        ("r?n", "run", true),
        ("r?n", "rn", false),
        ("r?n", "ruun", false),
        ("?", "ä", true),
        ("r[ua]n", "ran", true),
        ("r[ua]n", "ron", false),
        ("r[!ua]n", "ron", true),
        ("r[^ua]n", "run", false),
        ("[a-c]1", "b1", true),
        ("[a-c]1", "d1", false),
        ("[]a]", "]", true),
        ("[a-]", "-", true),
        ("[!-a]", "-", false),
        ("{run,write}", "write", true),
        ("{run,write}", "{run,write}", false),
        ("{read,list}_*", "list_files", true),
        ("{read,list}_*", "write_files", false),
        ("a{b,c{d,e}}f", "acef", true),
        ("a{b,c{d,e}}f", "acf", false),
        ("run{,_it}", "run", true),
        ("run{,_it}", "run_it", true),
        ("{*_a,b*}*", "x_ay", true),
    ] {
        check(pattern, text, expected);
    }
}

#[test]
fn a_backslash_takes_a_letter_as_it_is() {
    for (pattern, text, expected) in [
        (r"a\*", "a*", true),
        (r"a\*", "ab", false),
        (r"\{a,b\}", "{a,b}", true),
        (r"a\\b", r"a\b", true),
        (r"[\]]", "]", true),
        (r"{a\,b,c}", "a,b", true),
        // No brace is open, so a comma is one.
        ("a,b", "a,b", true),
        ("a]", "a]", true),
    ] {
        check(pattern, text, expected);
    }
}

#[test]
fn json_is_written_as_it_is() {
    for (pattern, text, expected) in [
        ("{\"n\":*", "{\"n\":1}", true),
        ("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}", true),
        ("{\"a\":{\"b\":[*", "{\"a\":{\"b\":[1,2]}}", true),
        ("*{}", "{\"a\":{}", true),
        ("{}", "{}", true),
        ("{}", "", false),
    ] {
        check(pattern, text, expected);
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    for (pattern, reason) in [
        ("run[", "a '[' is not closed"),
        ("run[]", "a '[' is not closed"),
        ("[a", "a '[' is not closed"),
        ("[a-", "a '[' is not closed"),
        ("[z-a]", "the range z-a runs backwards"),
        ("{run", "a '{' is not closed"),
        ("{run,write", "a '{' is not closed"),
        ("{a,{b}", "a '{' is not closed"),
        ("run}", "there is no '{' before a '}'"),
        ("run\\", "it ends with a backslash, which is written '\\\\'"),
        (
            "C:\\temp",
            "'\\t' means nothing; a backslash is written '\\\\'",
        ),
    ] {
        let told = TextPattern::read(pattern).map_err(|error| error.to_string());
        let expected = format!("pattern '{pattern}' cannot be read: {reason}");
        assert_eq!(told, Err(expected));
    }
    let deep = "{".repeat(99_999);
    let wide = "{a,b}".repeat(9);
    let long = "a".repeat(99_999);
    for pattern in [deep, wide, long] {
        assert!(TextPattern::read(&pattern).is_err());
    }
    assert!(TextPattern::read(&"{a,b}".repeat(8)).is_ok());
}

#[test]
fn a_pattern_covers_those_that_ask_for_less() {
    for (outer, inner, expected) in [
        ("*", "{a,b}[c]?*", true),
        ("read*", "read_*", true),
        ("read*", "read", true),
        ("read_*", "read*", false),
        ("read", "read", true),
        ("read", "r*", false),
        ("{read,list}", "list", true),
        ("{read,list}", "{list,read}", true),
        ("{read,list}", "{list,run}", false),
        ("r?d", "r[ae]d", true),
        ("r[ae]d", "r?d", false),
        ("*b*", "[ab]", false),
        ("?", "*", false),
    ] {
        let read = |pattern| TextPattern::read(pattern).expect("it can be read");
        let covers = read(outer).covers(&read(inner));
        assert_eq!(covers, expected, "{outer} {inner}");
    }
}

#[test]
fn stars_take_no_time_to_speak_of() {
    let pattern = TextPattern::read(&"a*".repeat(200)).expect("it can be read");
    let text = format!("{}b", "a".repeat(20_000));
    assert!(pattern.matches(&text));
    let pattern = TextPattern::read(&format!("{}c", "a*".repeat(200))).expect("it can be read");
    assert!(!pattern.matches(&text));
}

/// A pattern as a tree, from which both its text and its meaning follow.
#[derive(Clone, Debug)]
enum Node {
    Letter(char),
    Any,
    Star,
    Class(bool, Vec<(char, char)>),
    Choice(Vec<Vec<Node>>),
}

fn written(nodes: &[Node]) -> String {
    nodes.iter().map(written_one).collect()
}

fn written_one(node: &Node) -> String {
    let quoted = |letter: char| match "*?[]{},!-\\".contains(letter) {
        true => format!("\\{letter}"),
        false => letter.to_string(),
    };
    match node {
        Node::Letter(letter) => quoted(*letter),
        Node::Any => "?".to_owned(),
        Node::Star => "*".to_owned(),
        Node::Class(is_negated, ranges) => {
            let ranges = ranges.iter();
            let ranges = ranges.map(|(from, to)| match from == to {
                true => quoted(*from),
                false => format!("{}-{}", quoted(*from), quoted(*to)),
            });
            let sign = if *is_negated { "!" } else { "" };
            format!("[{sign}{}]", ranges.collect::<String>())
        }
        Node::Choice(choices) => {
            let choices: Vec<String> = choices.iter().map(|choice| written(choice)).collect();
            format!("{{{}}}", choices.join(","))
        }
    }
}

/// Where a sequence may end that begins at a letter.
fn ends(nodes: &[Node], text: &[char], begin: usize) -> BTreeSet<usize> {
    let Some((first, rest)) = nodes.split_first() else {
        return BTreeSet::from([begin]);
    };
    let one = |is_taken: bool| {
        if is_taken {
            vec![begin + 1]
        } else {
            Vec::new()
        }
    };
    let next = text.get(begin);
    let after: Vec<usize> = match first {
        Node::Letter(letter) => one(next == Some(letter)),
        Node::Any => one(next.is_some()),
        Node::Star => (begin..=text.len()).collect(),
        Node::Class(is_negated, ranges) => one(next.is_some_and(|letter| {
            let is_in = ranges
                .iter()
                .any(|(from, to)| from <= letter && letter <= to);
            is_in != *is_negated
        })),
        Node::Choice(choices) => {
            let all = choices.iter().flat_map(|choice| ends(choice, text, begin));
            all.collect()
        }
    };
    after
        .into_iter()
        .flat_map(|at| ends(rest, text, at))
        .collect()
}

fn letter() -> impl Strategy<Value = char> {
    prop::sample::select(vec!['a', 'b', '/', '*', '{', '}', ',', ']', '-', '"'])
}

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let range = (letter(), letter()).prop_map(|(one, other)| (one.min(other), one.max(other)));
    let leaf = prop_oneof![
        3 => letter().prop_map(Node::Letter),
        1 => Just(Node::Any),
        2 => Just(Node::Star),
        1 => (any::<bool>(), prop::collection::vec(range, 1..3))
            .prop_map(|(is_negated, ranges)| Node::Class(is_negated, ranges)),
    ];
    let node = leaf.prop_recursive(2, 12, 3, |inner| {
        let choice = prop::collection::vec(inner, 0..3);
        prop::collection::vec(choice, 2..4).prop_map(Node::Choice)
    });
    prop::collection::vec(node, 0..5)
}

/// Whether the text of a pattern would be taken for JSON, which the tree knows nothing of.
fn looks_like_json(pattern: &str) -> bool {
    pattern.contains("{\"") || pattern.contains("{}")
}

proptest! {
    #[test]
    fn a_pattern_means_what_the_reference_says(
        nodes in nodes(),
        texts in prop::collection::vec("[ab/*{},\"-]{0,5}", 1..8),
    ) {
        let pattern = written(&nodes);
        prop_assume!(!looks_like_json(&pattern));
        let read = TextPattern::read(&pattern);
        let is_too_large = |error: &UnreadablePattern| error.to_string().contains("too long");
        prop_assume!(!read.as_ref().is_err_and(is_too_large));
        prop_assert!(read.is_ok(), "{pattern}: {read:?}");
        let read = read.unwrap();
        for text in texts {
            let letters: Vec<char> = text.chars().collect();
            let expected = ends(&nodes, &letters, 0).contains(&letters.len());
            prop_assert_eq!(read.matches(&text), expected, "{} on {}", &pattern, &text);
        }
    }

    #[test]
    fn every_text_is_a_pattern_or_an_error(pattern in "[ab*?!,\"^{}\\[\\]\\\\-]{0,12}", text in "[ab]{0,6}") {
        if let Ok(read) = TextPattern::read(&pattern) {
            read.matches(&text);
            prop_assert!(read.covers(&read) || pattern.contains('['));
        }
    }

    #[test]
    fn what_is_covered_fits_the_outer_one(
        outer in "[ab*?]{0,4}", inner in "[ab*?]{0,4}", text in "[ab]{0,5}",
    ) {
        let read = |pattern: &str| TextPattern::read(pattern).unwrap();
        let (outer, inner) = (read(&outer), read(&inner));
        if outer.covers(&inner) && inner.matches(&text) {
            prop_assert!(outer.matches(&text));
        }
    }
}
