//! Secrets inside text, by their looks.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::{Captures, Regex};

use super::Completeness;
use super::known::{joined, without};
use super::names::FieldNames;
use super::rules::{self, Looks};

/// The rules for text. Each looks at all of it, and what they find is taken out together.
#[derive(Debug)]
pub(super) struct Patterns {
    whole: Vec<Rule>,
    /// For text that is still arriving, besides `whole`.
    partial: Vec<Rule>,
    /// What begins at the end of a text and may become a secret: where a stream is looked at.
    open: OnceLock<Vec<Regex>>,
    names: String,
}

/// A pattern for something secret. What its groups `before` and `after` match stays on either
/// side of the mark.
#[derive(Debug)]
struct Rule {
    pattern: Regex,
    /// Looks at a find once more; `None` where the pattern alone is sure enough.
    is_secret: Option<rules::Check>,
}

impl Rule {
    fn new(looks: Looks) -> Self {
        Self {
            pattern: compiled(&looks.pattern),
            is_secret: looks.is_secret,
        }
    }

    fn find(&self, text: &str, completeness: Completeness, found: &mut Vec<Range<usize>>) {
        for captures in self.pattern.captures_iter(text) {
            let whole = captures.get_match().range();
            // What is still arriving cannot be judged yet.
            let is_arriving = completeness == Completeness::Partial && whole.end == text.len();
            let is_secret = self
                .is_secret
                .is_none_or(|is_secret| is_secret(&captures, text));
            if is_arriving || is_secret {
                found.push(secret_part(&captures, whole));
            }
        }
    }
}

fn secret_part(captures: &Captures<'_>, whole: Range<usize>) -> Range<usize> {
    let start = captures
        .name("before")
        .map_or(whole.start, |before| before.end());
    let end = captures
        .name("after")
        .map_or(whole.end, |after| after.start());
    start..end
}

/// Words are told apart by ASCII alone: all tokens are ASCII, and text that is not would be slow.
fn compiled(pattern: &str) -> Regex {
    let pattern = pattern.replace(r"\b", r"(?-u:\b)");
    Regex::new(&pattern).expect("the patterns are fixed and tested")
}

impl Patterns {
    pub(super) fn new(names: &FieldNames) -> Self {
        let names = rules::alternatives(names);
        let compile = |looks: Vec<Looks>| looks.into_iter().map(Rule::new).collect();
        Self {
            whole: compile(rules::whole(&names)),
            partial: compile(rules::partial(&names)),
            open: OnceLock::new(),
            names,
        }
    }

    /// Where secrets are, in no order.
    pub(super) fn find(&self, text: &str, completeness: Completeness) -> Vec<Range<usize>> {
        let partial = match completeness {
            Completeness::Whole => &[][..],
            Completeness::Partial => &self.partial[..],
        };
        let mut found = Vec::new();
        for rule in self.whole.iter().chain(partial) {
            rule.find(text, completeness, &mut found);
        }
        found
    }

    /// Where the longest end of a text begins that may become a secret.
    pub(super) fn open_at(&self, text: &str) -> Option<usize> {
        let open = self.open.get_or_init(|| {
            let open = rules::open(&self.names);
            open.iter().map(|pattern| compiled(pattern)).collect()
        });
        let found = open.iter().filter_map(|open| open.find(text));
        found.map(|found| found.start()).min()
    }
}

/// The text without these ranges.
pub(super) fn taken_out(text: &str, ranges: Vec<Range<usize>>) -> Cow<'_, str> {
    let ranges = joined(ranges);
    // What was taken out before stays as it is.
    let is_new = |range: &Range<usize>| &text[range.clone()] != super::REDACTED;
    match ranges.iter().any(is_new) {
        true => Cow::Owned(without(text, &ranges)),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{REDACTED, RedactionPolicy};
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(
            RedactionPolicy::new().redact_text(text, Completeness::Whole),
            expected
        );
    }

    #[test]
    fn tokens_with_a_known_look_are_hidden() {
        check("use sk-abcdefghijklmnopqrstuv now", "use [redacted] now");
        check("id AKIAIOSFODNN7EXAMPLE.", "id [redacted].");
        check(
            "push with ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "push with [redacted]",
        );
        check("xoxb-123456789012-abcdef", "[redacted]");
        check(
            "a.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln b",
            "a.[redacted] b",
        );
    }

    #[test]
    fn credentials_in_headers_urls_and_assignments_are_hidden() {
        check(
            "Authorization: Bearer abc.def-123",
            "Authorization: Bearer [redacted]",
        );
        check(
            "curl -H 'authorization: Bearer abcd1234'",
            "curl -H 'authorization: Bearer [redacted]'",
        );
        check(
            "https://user:pass@example.org/x",
            "https://[redacted]@example.org/x",
        );
        check("GET /x?token=abc&page=2", "GET /x?token=[redacted]&page=2");
        check(
            "export DEPLOY_TOKEN=hunter2",
            "export DEPLOY_TOKEN=[redacted]",
        );
        check("password: hunter2", "password: [redacted]");
    }

    #[test]
    fn quoted_values_and_settings_are_hidden() {
        check("password = \"correct\"", "password = \"[redacted]\"");
        check("let api_key = 'abc';", "let api_key = '[redacted]';");
        check("api_key: abc123", "api_key: [redacted]");
        check("PASSWORD=correct", "PASSWORD=[redacted]");
        check("Cookie: theme=dark; sessionid=abc123", "Cookie: [redacted]");
        check(
            "Authorization: ApiKey abc123",
            "Authorization: ApiKey [redacted]",
        );
        check("password = \"correct horse\"", "password = \"[redacted]\"");
        check(
            r#"{"password": "it's-my-pass"}"#,
            r#"{"password": "[redacted]"}"#,
        );
        check(r#"{"password": "ab\"cd"}"#, r#"{"password": "[redacted]"}"#);
        check(
            r#"{"dbPassword":"x1","ssh_private_key":"y"}"#,
            r#"{"dbPassword":"[redacted]","ssh_private_key":"[redacted]"}"#,
        );
        check("postgres://u:p@ss@host/db", "postgres://[redacted]@host/db");
        check(
            "AWS_SECRET_ACCESS_KEY=abc/def",
            "AWS_SECRET_ACCESS_KEY=[redacted]",
        );
    }

    #[test]
    fn the_longer_of_two_secrets_is_hidden_whole() {
        let policy = RedactionPolicy::new()
            .with_secret("horse")
            .with_secret("horse battery");
        let text = policy.redact_text("a horse battery", Completeness::Whole);
        assert_eq!(text, "a [redacted]");
    }

    #[test]
    fn source_code_about_secrets_stays_readable() {
        for code in [
            "pub struct Login { password: String, token: Option<Token> }",
            "let token = parser.next();",
            "let token = tokens[0];",
            "fn refresh(&mut self, refresh_token: &str) -> Token",
            "client.login(password=password, token=None)",
            "if (token == null) return;",
            "match token { Token::Word => 1 }",
            "struct Key { token: u64, secret: Sha256Digest }",
            "Client(token=self.token, password=settings.PASSWORD)",
            "let token = AuthenticationTokenProvider::shared;",
            "const MARK: &str = \"-----BEGIN \"; // see basic functionality, a bearer token",
            "open http://localhost:8080",
        ] {
            check(code, code);
        }
    }

    #[test]
    fn json_that_travels_as_text_is_covered() {
        check(
            r#"{"api_key":"hunter2","page":2}"#,
            r#"{"api_key":"[redacted]","page":2}"#,
        );
        check(
            r#"{"body":"{\"token\":\"hunter2\"}"}"#,
            r#"{"body":"{\"token\":\"[redacted]\"}"}"#,
        );
    }

    #[test]
    fn a_port_at_the_end_of_partial_text_is_no_password() {
        let policy = RedactionPolicy::new();
        let text = policy.redact_text("http://localhost:8080", Completeness::Partial);
        assert_eq!(text, "http://localhost:8080");
    }

    #[test]
    fn a_private_key_is_hidden_even_when_its_end_is_missing() {
        check(
            "x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\ny",
            "x\n[redacted]\ny",
        );
        check("-----BEGIN PRIVATE KEY-----\nMIIE", "[redacted]");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "The input_tokens and output_tokens were 12 and 40.",
            "See https://example.org/a?page=2#top",
            "A task-based plan; ask-me-anything; risk-averse-people-everywhere",
            "the bearer of it",
            r#"{"input_tokens": 12, "tokens_saved": 3}"#,
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_declared_secret_is_hidden_wherever_it_turns_up() {
        let policy = RedactionPolicy::new().with_secret("correct horse");
        let text = policy.redact_text("battery correct horse staple", Completeness::Whole);
        assert_eq!(text, "battery [redacted] staple");
    }

    #[test]
    fn no_beginning_of_a_secret_shows_while_it_arrives() {
        let policy = RedactionPolicy::new().with_secret("correct horse");
        for whole in [
            r#"{"header":"sk-abcdefghijklmnopqrstuv"#,
            r#"{"header":"Bearer abcdefgh"#,
            r#"{"api_key":"abcdefgh"#,
            r#"{"url":"https://user:pa55word"#,
        ] {
            let secret_starts = whole.rfind(['"', ' ', ':']).unwrap() + 4;
            for end in secret_starts..=whole.len() {
                let text = policy.redact_text(&whole[..end], Completeness::Partial);
                assert!(text.ends_with(REDACTED), "{text}");
            }
        }
        let text = policy.redact_text("say correct h", Completeness::Partial);
        assert_eq!(text, "say [redacted]");
    }

    #[test]
    fn redacting_twice_changes_nothing_more() {
        let policy = RedactionPolicy::new();
        for text in [
            "password: hunter2",
            r#"{"token":"abcd"}"#,
            "https://a:b@c/?token=x",
            "Bearer abcdefgh",
        ] {
            let once = policy.redact_text(text, Completeness::Whole).into_owned();
            assert_eq!(policy.redact_text(&once, Completeness::Whole), once);
        }
    }
}
