//! Secrets inside text.

use std::borrow::Cow;

use regex::{Captures, Regex};

use super::names::{FieldNames, SUFFIXES};
use super::triggers::TOKEN_PREFIXES;
use super::{Completeness, REDACTED};

/// The rules for text, in the order they are applied.
#[derive(Debug)]
pub(super) struct Patterns {
    secrets: Vec<String>,
    whole: Vec<Rule>,
    /// Applied after `whole` to text that is still arriving.
    partial: Vec<Rule>,
}

/// A pattern for something secret. What its groups `before` and `after` match is
/// kept on either side of the mark.
#[derive(Debug)]
struct Rule {
    pattern: Regex,
    /// Looks at a find once more; `None` where the pattern alone is sure enough.
    is_secret: Option<fn(&Captures<'_>) -> bool>,
}

impl Rule {
    fn new(pattern: &str) -> Self {
        let pattern = Regex::new(pattern).expect("the patterns are fixed and tested");
        Self {
            pattern,
            is_secret: None,
        }
    }

    fn with_check(self, is_secret: fn(&Captures<'_>) -> bool) -> Self {
        Self {
            is_secret: Some(is_secret),
            ..self
        }
    }

    fn apply(&self, text: &str, completeness: Completeness) -> Option<String> {
        let mark = |found: &Captures<'_>| -> String {
            // What is still arriving cannot be judged yet.
            let is_arriving =
                completeness == Completeness::Partial && found.get_match().end() == text.len();
            if !is_arriving && self.is_secret.is_some_and(|is_secret| !is_secret(found)) {
                return found.get_match().as_str().to_owned();
            }
            let kept = |group| found.name(group).map_or("", |kept| kept.as_str());
            format!("{}{REDACTED}{}", kept("before"), kept("after"))
        };
        match self.pattern.replace_all(text, mark) {
            Cow::Borrowed(_) => None,
            Cow::Owned(changed) => (changed != text).then_some(changed),
        }
    }
}

/// Whether what follows `Bearer` or `Basic` is a credential and not the next word of
/// a sentence.
fn is_credential(found: &Captures<'_>) -> bool {
    let value = found.name("value").map_or("", |value| value.as_str());
    value.len() >= 24 || value.bytes().any(|byte| !byte.is_ascii_alphabetic())
}

/// Whether what is assigned to a secret name is a value and not a piece of source
/// code: `password: hunter2` and `TOKEN=abc` are, `password: String` and
/// `token = parser.next()` are not.
fn is_assigned_value(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    let (name, value) = (group("name"), group("value"));
    if !group("after").is_empty() || is_code(value) || value.eq_ignore_ascii_case(name) {
        return false;
    }
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    group("sign") == "=" || has_digit || value.len() >= 24
}

/// Whether this is a type, a constant or the path of a variable.
fn is_code(value: &str) -> bool {
    const WORDS: [&str; 7] = ["none", "null", "nil", "true", "false", "undefined", "self"];
    let is_name = |part: &str| {
        let mut bytes = part.bytes();
        bytes
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let is_number_type = |text: &str| {
        let digits = text.strip_prefix(['u', 'i', 'f']).unwrap_or_default();
        matches!(digits, "8" | "16" | "32" | "64" | "128")
    };
    let is_type = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_uppercase())
            && text.bytes().any(|byte| byte.is_ascii_lowercase())
            && text.ends_with(|last: char| last.is_ascii_alphabetic())
            && is_name(text)
    };
    WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.contains("::")
        || is_number_type(value)
        || is_type(value)
        || (value.contains('.') && value.split('.').all(is_name))
}

impl Patterns {
    pub(super) fn new(names: &FieldNames, secrets: &[String]) -> Self {
        let names = alternatives(names);
        let prefixes = TOKEN_PREFIXES
            .iter()
            .map(|prefix| regex::escape(prefix))
            .collect::<Vec<_>>();
        let prefixes = prefixes.join("|");
        let whole = [
            Rule::new(concat!(
                r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
                r"(?:[A-Za-z0-9+/=\s\\:.,()]|-[^-])*",
                r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)?",
            )),
            // Credentials in a URL.
            Rule::new(r"(?<before>[A-Za-z][A-Za-z0-9+.-]*://)[^/\s@?#]*:[^/\s?#]*(?<after>@)"),
            Rule::new(r"(?<before>(?i:bearer)[ \t]+)(?<value>[A-Za-z0-9._~+/=-]{4,})")
                .with_check(is_credential),
            Rule::new(r"(?<before>(?i:basic)[ \t]+)(?<value>[A-Za-z0-9+/=]{8,})")
                .with_check(is_credential),
            // Headers, up to the end of the line or of the string they are in.
            Rule::new(
                r#"(?<before>(?i:authorization)\s*:\s*(?:[A-Za-z]+[ \t]+)?)(?<value>[^\s"'\\\[\],;]{4,})"#,
            )
            .with_check(is_credential),
            Rule::new(r#"(?<before>(?i:cookie)\s*:\s*)[^\s"'\\\[\]=]+=[^\r\n"'\\]*"#),
            // `"api_key": "…"` in JSON that travels as text, escaped or not, closed or not.
            Rule::new(&format!(
                r#"(?<before>"(?i:{names})"\s*:\s*")[^"\\\[](?:[^"\\]|\\.)*"#
            )),
            Rule::new(&format!(
                r#"(?<before>\\"(?i:{names})\\"\s*:\s*\\")[^"\\\[](?:[^"\\]|\\[^"])*"#
            )),
            Rule::new(&format!(
                r"(?<before>'(?i:{names})'\s*:\s*')[^'\\\[](?:[^'\\]|\\.)*"
            )),
            // `api_key = "…"` in settings and source code.
            Rule::new(&format!(
                r#"(?<before>(?i:(?:^|[^A-Za-z0-9]){names})\s*[=:]\s*")[^"\\\[](?:[^"\\]|\\.)*"#
            )),
            Rule::new(&format!(
                r"(?<before>(?i:(?:^|[^A-Za-z0-9]){names})\s*[=:]\s*')[^'\\\[](?:[^'\\]|\\.)*"
            )),
            // `api_key=…` in URLs, shells, settings and prose.
            Rule::new(&format!(
                r#"(?<before>(?i:(?:^|[^A-Za-z0-9])(?<name>{names}))(?<sign>\s*[=:]\s*))(?<value>[^\s"'&;,()\[\]{{}}<>\\]+)(?<after>[(\[<]?)"#
            ))
            .with_check(is_assigned_value),
            Rule::new(r"\b(?:AKIA|ASIA|AGPA|AIDA|ANPA|AROA|AIPA)[A-Z0-9]{16}\b"),
            Rule::new(r"\bAIza[A-Za-z0-9_-]{30,}"),
            Rule::new(r"\bgh[pousr]_[A-Za-z0-9]{16,}"),
            Rule::new(r"\b(?:github_pat_|dckr_pat_|shpat_|gsk_|hf_)[A-Za-z0-9_-]{16,}"),
            Rule::new(r"\b(?:glpat-|sk-|xai-|xapp-|ya29\.|SG\.)[A-Za-z0-9_.-]{16,}"),
            Rule::new(r"\bnpm_[A-Za-z0-9]{30,}"),
            Rule::new(r"\bxox[abprs]-[A-Za-z0-9-]{8,}"),
            Rule::new(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{12,}"),
            Rule::new(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
        ];
        let partial = [
            Rule::new(&format!(r"\b(?:{prefixes})[A-Za-z0-9._-]*$")),
            Rule::new(r"(?<before>(?i:bearer|basic)[ \t]+)[A-Za-z0-9._~+/=-]+$"),
            // A port is digits; a password may begin with some.
            Rule::new(
                r"(?<before>[A-Za-z][A-Za-z0-9+.-]*://)[^/\s@?#]*:(?:\d{6,}|\d*[^\d/\s@?#][^/\s@?#]*)$",
            ),
        ];
        let mut secrets: Vec<String> = secrets
            .iter()
            .flat_map(|secret| spellings(secret))
            .collect();
        // The longest first: one secret may be part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self {
            secrets,
            whole: whole.into(),
            partial: partial.into(),
        }
    }

    pub(super) fn redact<'a>(&self, text: &'a str, completeness: Completeness) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        for secret in &self.secrets {
            if redacted.contains(secret.as_str()) {
                redacted = Cow::Owned(redacted.replace(secret.as_str(), REDACTED));
            } else if completeness == Completeness::Partial
                && let Some(start) = arriving(&redacted, secret)
            {
                redacted = Cow::Owned(format!("{}{REDACTED}", &redacted[..start]));
            }
        }
        let partial = match completeness {
            Completeness::Whole => &[][..],
            Completeness::Partial => &self.partial[..],
        };
        for rule in self.whole.iter().chain(partial) {
            if let Some(changed) = rule.apply(&redacted, completeness) {
                redacted = Cow::Owned(changed);
            }
        }
        redacted
    }
}

/// A secret as it is and, where that is different, as it looks inside JSON.
fn spellings(secret: &str) -> Vec<String> {
    let quoted = serde_json::Value::from(secret).to_string();
    let escaped = quoted[1..quoted.len() - 1].to_owned();
    let mut spellings = vec![secret.to_owned(), escaped];
    spellings.dedup();
    spellings
}

/// Where at the end of `text` a secret has begun to arrive, if four of its
/// characters are there already.
fn arriving(text: &str, secret: &str) -> Option<usize> {
    let starts = text
        .char_indices()
        .map(|(start, _)| start)
        .rev()
        .take(secret.len());
    starts
        .into_iter()
        .filter(|&start| text.len() - start >= 4)
        .find(|&start| secret.starts_with(&text[start..]))
}

/// All names as one alternation in which `_` may also be `-` or nothing.
fn alternatives(names: &FieldNames) -> String {
    let spelled = |name: &str| regex::escape(name).replace('_', "[_-]?");
    let suffixes = SUFFIXES
        .iter()
        .map(|suffix| format!("[A-Za-z0-9_-]*{}", spelled(suffix)));
    let all: Vec<String> = suffixes.chain(names.iter().map(spelled)).collect();
    format!("(?:{})", all.join("|"))
}

#[cfg(test)]
mod tests {
    use super::super::RedactionPolicy;
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
