//! Names in the spellings of different languages: `snake_case`, `kebab-case`, `camelCase`,
//! `PascalCase`.

use harn_machine::{Registry, Value};

use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("camel_to_kebab", |_, arguments| {
            respell(arguments, |name| joined(humps(name), "-"))
        }),
        ("camel_to_pascal", |_, arguments| {
            respell(arguments, uppercase_first)
        }),
        ("camel_to_snake", |_, arguments| {
            respell(arguments, |name| joined(humps(name), "_"))
        }),
        ("kebab_to_camel", |_, arguments| {
            respell(arguments, |name| camel(parts(name, '-')))
        }),
        ("kebab_to_snake", |_, arguments| {
            respell(arguments, |name| joined(parts(name, '-'), "_"))
        }),
        ("lowercase_first", |_, arguments| {
            respell(arguments, lowercase_first)
        }),
        ("pascal_to_camel", |_, arguments| {
            respell(arguments, lowercase_first)
        }),
        ("pascal_to_snake", |_, arguments| {
            respell(arguments, |name| joined(humps(name), "_"))
        }),
        ("snake_to_camel", |_, arguments| {
            respell(arguments, |name| camel(parts(name, '_')))
        }),
        ("snake_to_kebab", |_, arguments| {
            respell(arguments, |name| joined(parts(name, '_'), "-"))
        }),
        ("snake_to_pascal", |_, arguments| {
            respell(arguments, |name| pascal(parts(name, '_')))
        }),
        ("title_case", |_, arguments| respell(arguments, title_case)),
        ("uppercase_first", |_, arguments| {
            respell(arguments, uppercase_first)
        }),
    ]);
}

fn respell(
    arguments: &[Value],
    spelling: fn(&str) -> String,
) -> Result<Value, harn_machine::Failure> {
    Ok(spelling(&text(arguments, 0)).into())
}

/// The words of a name between separators, in lower case.
fn parts(name: &str, separator: char) -> Vec<String> {
    name.split(separator)
        .filter(|part| !part.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The words of a name of which each begins with a capital, in lower case.
fn humps(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        if letter.is_uppercase() && begins_word(before, letters.get(at + 1).copied()) {
            words.push(String::new());
        }
        let word = words.last_mut().expect("there is a word from the start");
        word.extend(letter.to_lowercase());
    }
    words
}

/// Whether a capital begins a word.
fn begins_word(before: Option<char>, after: Option<char>) -> bool {
    before.is_some_and(|before| {
        let ends_word = before.is_lowercase() || before.is_ascii_digit();
        ends_word || (before.is_uppercase() && after.is_some_and(char::is_lowercase))
    })
}

fn joined(words: Vec<String>, separator: &str) -> String {
    words.join(separator)
}

fn pascal(words: Vec<String>) -> String {
    words.iter().map(|word| uppercase_first(word)).collect()
}

fn camel(words: Vec<String>) -> String {
    let mut words = words.into_iter();
    let first = words.next().unwrap_or_default();
    first + &pascal(words.collect())
}

fn uppercase_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.collect::<String>() + letters.as_str()
}

fn lowercase_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.collect::<String>() + letters.as_str()
}

/// Each word with a capital; the white space between them stays.
fn title_case(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace);
    words
        .map(|word| uppercase_first(&word.to_lowercase()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(spelling: fn(&str) -> String, cases: &[(&str, &str)]) {
        for (name, expected) in cases {
            assert_eq!(spelling(name), *expected, "{name}");
        }
    }

    #[test]
    fn capitals_begin_words() {
        check(
            |name| joined(humps(name), "_"),
            &[
                ("HTTPServer2Go", "http_server2_go"),
                ("camelCase", "camel_case"),
                ("PascalCase", "pascal_case"),
                ("a", "a"),
                ("", ""),
                ("ABC", "abc"),
                ("éÀb", "é_àb"),
            ],
        );
    }

    #[test]
    fn separators_part_words() {
        check(
            |name| camel(parts(name, '_')),
            &[
                ("snake_case_name", "snakeCaseName"),
                ("__a__B_", "aB"),
                ("", ""),
            ],
        );
        check(
            |name| pascal(parts(name, '_')),
            &[("snake_case", "SnakeCase"), ("HTTP_server", "HttpServer")],
        );
        check(
            |name| joined(parts(name, '-'), "_"),
            &[("kebab-case", "kebab_case"), ("-A--b", "a_b")],
        );
    }

    #[test]
    fn first_letters_change_alone() {
        check(
            uppercase_first,
            &[("helloWorld", "HelloWorld"), ("", ""), ("ßa", "SSa")],
        );
        check(lowercase_first, &[("HelloWorld", "helloWorld")]);
        check(
            title_case,
            &[("hello  wORLD\tx", "Hello  World\tX"), ("", "")],
        );
    }
}
