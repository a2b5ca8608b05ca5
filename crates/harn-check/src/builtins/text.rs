//! Texts: strings, Unicode, spelling of names, regular expressions.

use super::table::builtins;

builtins! {
    "basename(path: string) -> string" [string] Pure "Gives the last part of a path.";
    "camel_to_kebab(name: string) -> string" [string] Pure "Writes `camelCase` as `kebab-case`.";
    "camel_to_pascal(name: string) -> string" [string] Pure "Writes `camelCase` as `PascalCase`.";
    "camel_to_snake(name: string) -> string" [string] Pure "Writes `camelCase` as `snake_case`.";
    "contains(whole: string | list, part: any) -> bool" [] Pure "Tells whether a text contains another, or a list an item.";
    "dirname(path: string) -> string" [string] Pure "Gives a path without its last part.";
    "ends_with(text: string, suffix: string) -> bool" [] Pure "Tells whether a text ends in another.";
    "extname(path: string) -> string" [string] Pure "Gives the extension of a path with its dot.";
    "format(template: string, ...values: any) -> string" [string] Pure "Puts values, or the entries of a dict, into a template.";
    r#"join(items: list, separator: string = "") -> string"# [string] Pure "Joins items to a text.";
    "kebab_to_camel(name: string) -> string" [string] Pure "Writes `kebab-case` as `camelCase`.";
    "kebab_to_snake(name: string) -> string" [string] Pure "Writes `kebab-case` as `snake_case`.";
    "lowercase(text: string) -> string" [string] Pure "Writes a text in lower case.";
    "lowercase_first(text: string) -> string" [string] Pure "Writes the first letter in lower case.";
    "pascal_to_camel(name: string) -> string" [string] Pure "Writes `PascalCase` as `camelCase`.";
    "pascal_to_snake(name: string) -> string" [string] Pure "Writes `PascalCase` as `snake_case`.";
    "regex_captures(pattern: string, text: string) -> list<dict>" [list] Pure "Gives every match of a pattern with its groups.";
    r#"regex_match(pattern: string, text: string, flags: string = "") -> list<string> | nil"# [string nil] Pure "Gives every match of a pattern.";
    "regex_replace(pattern: string, replacement: string, text: string) -> string" [string] Pure "Replaces every match of a pattern.";
    "regex_replace_all(pattern: string, replacement: string, text: string) -> string" [string] Pure "Replaces every match of a pattern.";
    r#"regex_split(text: string, pattern: string, flags: string = "") -> list<string>"# [list] Pure "Splits a text at every match of a pattern.";
    "replace(text: string, old: string, new: string) -> string" [string] Pure "Replaces every occurrence of a text by another.";
    "snake_to_camel(name: string) -> string" [string] Pure "Writes `snake_case` as `camelCase`.";
    "snake_to_kebab(name: string) -> string" [string] Pure "Writes `snake_case` as `kebab-case`.";
    "snake_to_pascal(name: string) -> string" [string] Pure "Writes `snake_case` as `PascalCase`.";
    r#"split(text: string, separator: string = " ") -> list<string>"# [] Pure "Splits a text at every separator.";
    "starts_with(text: string, prefix: string) -> bool" [] Pure "Tells whether a text begins with another.";
    r#"str_pad(text: string, width: int, fill: string = " ", side: string = "right") -> string"# [string] Pure "Fills a text up to a width.";
    "substring(text: string, start: int, length: int | nil = nil) -> string" [string] Pure "Gives a part of a text by its start and length.";
    "title_case(text: string) -> string" [string] Pure "Writes every word with one capital letter.";
    "trim(text: string) -> string" [string] Pure "Cuts white space off both ends.";
    "unicode_graphemes(text: string) -> list<string>" [list] Pure "Splits a text into what people see as characters.";
    r#"unicode_normalize(text: string, form: string = "NFC") -> string"# [string] Pure "Brings a text into a Unicode normal form.";
    "uppercase(text: string) -> string" [string] Pure "Writes a text in upper case.";
    "uppercase_first(text: string) -> string" [string] Pure "Writes the first letter in upper case.";
}
