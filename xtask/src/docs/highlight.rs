//! Blocks of code with colours.
//!
//! Harn is coloured by its own lexer, so the book cannot disagree with the language. Of a
//! terminal the commands stand out; everything else is shown as it is.

use harn_syntax::{Span, TokenKind, lex};

use super::html::escaped;

/// A block as HTML; `info` is what follows the opening fence.
pub(super) fn block(info: &str, text: &str) -> String {
    let language = info.split(',').next().unwrap_or_default();
    let code = match language {
        "harn" => harn(text),
        "console" => console(text),
        "rust" => escaped(&without_hidden_lines(text)),
        _ => escaped(text),
    };
    format!(
        "<pre class=\"code\" data-language=\"{}\"><code>{code}</code></pre>\n",
        escaped(language)
    )
}

fn harn(text: &str) -> String {
    let lexed = lex(text);
    let tokens = lexed.tokens.iter();
    let mut pieces: Vec<(Span, &str)> = tokens
        .filter_map(|token| class(token.kind).map(|class| (token.span, class)))
        .collect();
    pieces.extend(lexed.comments.iter().map(|one| (one.span, "comment")));
    pieces.sort_by_key(|(span, _)| span.start);
    let mut code = String::with_capacity(text.len() * 2);
    let mut at = 0;
    for (span, class) in pieces {
        let (start, end) = (span.start as usize, span.end as usize);
        if start < at {
            continue;
        }
        code += &escaped(&text[at..start]);
        code += &format!(
            "<span class=\"{class}\">{}</span>",
            escaped(&text[start..end])
        );
        at = end;
    }
    code + &escaped(&text[at..])
}

fn class(kind: TokenKind) -> Option<&'static str> {
    match kind {
        TokenKind::String | TokenKind::RawString | TokenKind::InterpolatedString => Some("string"),
        TokenKind::Int | TokenKind::Float | TokenKind::Duration => Some("number"),
        _ if kind.is_word() => Some("word"),
        _ => None,
    }
}

/// A command ends with its line, unless a backslash carries it on.
fn console(text: &str) -> String {
    let mut code = String::new();
    let mut is_command = false;
    for line in text.lines() {
        is_command = is_command || line.starts_with("$ ");
        match is_command {
            true => code += &format!("<span class=\"command\">{}</span>\n", escaped(line)),
            false => code += &format!("{}\n", escaped(line)),
        }
        is_command = is_command && line.ends_with('\\');
    }
    code
}

/// Rustdoc compiles lines that begin with `# ` and does not show them; nor do we.
fn without_hidden_lines(text: &str) -> String {
    let is_shown = |line: &&str| !(line.trim() == "#" || line.trim_start().starts_with("# "));
    let lines = text.lines().filter(is_shown);
    lines.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harn_is_coloured_by_its_lexer() {
        assert_eq!(
            harn("let n = 1 // <one>\n"),
            "<span class=\"word\">let</span> n = <span class=\"number\">1</span> \
             <span class=\"comment\">// &lt;one&gt;</span>\n"
        );
        assert_eq!(
            harn("\"<é>\""),
            "<span class=\"string\">&quot;&lt;é&gt;&quot;</span>"
        );
    }

    #[test]
    fn text_that_is_no_program_is_shown_whole() {
        let shown = harn("let = \"never closed\n");
        assert!(shown.contains("never closed"), "{shown}");
    }

    #[test]
    fn commands_stand_out_to_their_end() {
        assert_eq!(
            console("$ echo a \\\n    b\na b\n"),
            "<span class=\"command\">$ echo a \\</span>\n\
             <span class=\"command\">    b</span>\na b\n"
        );
    }

    #[test]
    fn what_rustdoc_hides_is_hidden() {
        let code = block("rust,no_run", "# use std::io;\nlet a = 1;\n#[test]\n");
        assert!(!code.contains("std::io"), "{code}");
        assert!(code.contains("let a = 1;\n#[test]\n"), "{code}");
    }
}
