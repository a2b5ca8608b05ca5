//! What secrets look like.
//!
//! A specific detector knows a token by its shape. The last one knows no shape: it looks for
//! random text that is assigned to something with a telling name.

use regex::Regex;

/// Something that looks like a secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) detector: &'static Detector,
    /// Where it begins and ends, in octets.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Who finds secrets of one kind.
#[derive(Debug, PartialEq)]
pub(super) struct Detector {
    pub(super) name: &'static str,
    /// The tool whose rule it follows.
    pub(super) source: &'static str,
    pub(super) title: &'static str,
    pattern: &'static str,
}

impl Detector {
    /// Whether it finds the first line of a key, which is shown whole: it holds no secret.
    pub(super) fn finds_key_blocks(&self) -> bool {
        self.name == "private-key-block"
    }
}

const SPECIFIC: [Detector; 9] = [
    Detector {
        name: "aws-access-key-id",
        source: "gitleaks",
        title: "AWS access key id",
        pattern: r"\b(?:AKIA|ASIA|AGPA|AIDA|ANPA|AROA|AIPA)[A-Z0-9]{16}\b",
    },
    Detector {
        name: "github-token",
        source: "gitleaks",
        title: "GitHub token",
        pattern: r"\bgh(?:p|o|u|s|r)_[A-Za-z0-9]{36,255}\b",
    },
    Detector {
        name: "github-fine-grained-token",
        source: "gitleaks",
        title: "GitHub fine-grained personal access token",
        pattern: r"\bgithub_pat_[A-Za-z0-9_]{20,255}\b",
    },
    Detector {
        name: "gitlab-token",
        source: "detect-secrets",
        title: "GitLab personal access token",
        pattern: r"\bglpat-[A-Za-z0-9_-]{20,255}\b",
    },
    Detector {
        name: "npm-token",
        source: "detect-secrets",
        title: "npm access token",
        pattern: r"\bnpm_[A-Za-z0-9]{36}\b",
    },
    Detector {
        name: "openai-api-key",
        source: "detect-secrets",
        title: "OpenAI API key",
        pattern: r"\bsk-[A-Za-z0-9_-]{20,255}\b",
    },
    Detector {
        name: "slack-token",
        source: "trufflehog",
        title: "Slack token",
        pattern: r"\bxox(?:a|b|p|r|s)-[A-Za-z0-9-]{10,255}\b",
    },
    Detector {
        name: "stripe-secret-key",
        source: "trufflehog",
        title: "Stripe secret or restricted key",
        pattern: r"\b(?:rk|sk)_(?:live|test)_[0-9A-Za-z]{16,255}\b",
    },
    Detector {
        name: "private-key-block",
        source: "detect-secrets",
        title: "Private key block",
        pattern: r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----",
    },
];

const ASSIGNMENT: Detector = Detector {
    name: "high-entropy-credential-assignment",
    source: "trufflehog",
    title: "High-entropy secret assignment",
    pattern: concat!(
        r"(?i)(?:client[_-]?secret|private[_-]?key|access[_-]?key|api[_-]?key",
        r"|secret|token|password|passwd|pwd)",
        r#"[^\n]{0,32}?[:=]\s*(?:"([A-Za-z0-9+/=_.-]{20,})"|'([A-Za-z0-9+/=_.-]{20,})')"#,
    ),
};

/// Bits for each character from which on a text counts as random.
const ENTROPY_MIN: f64 = 3.5;

static SPECIFIC_DETECTORS: [Detector; 9] = SPECIFIC;
static ASSIGNMENT_DETECTOR: Detector = ASSIGNMENT;

/// The patterns of the detectors, compiled once in a run.
pub(crate) struct Detectors {
    specific: Vec<Regex>,
    assignment: Regex,
}

impl Default for Detectors {
    fn default() -> Self {
        let compiled = |detector: &Detector| {
            Regex::new(detector.pattern).expect("the patterns are checked by a test")
        };
        Self {
            specific: SPECIFIC_DETECTORS.iter().map(compiled).collect(),
            assignment: compiled(&ASSIGNMENT_DETECTOR),
        }
    }
}

/// Everything that looks like a secret, in the order of the text.
pub(super) fn find(detectors: &Detectors, text: &str) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for (detector, regex) in SPECIFIC_DETECTORS.iter().zip(&detectors.specific) {
        all.extend(regex.find_iter(text).map(|found| Found {
            detector,
            start: found.start(),
            end: found.end(),
        }));
    }
    all.sort_by_key(|found| found.start);
    let assigned: Vec<Found> = assignments(&detectors.assignment, text)
        .filter(|assigned| !is_covered(assigned, &all))
        .collect();
    all.extend(assigned);
    all.sort_by_key(|found| found.start);
    all
}

fn assignments(regex: &Regex, text: &str) -> impl Iterator<Item = Found> {
    let values = regex
        .captures_iter(text)
        .filter_map(|captures| captures.get(1).or_else(|| captures.get(2)));
    let random = values.filter(|value| entropy(value.as_str()) >= ENTROPY_MIN);
    random.map(|value| Found {
        detector: &ASSIGNMENT_DETECTOR,
        start: value.start(),
        end: value.end(),
    })
}

/// Whether one of some findings, which are sorted, has something in common with another.
fn is_covered(found: &Found, sorted: &[Found]) -> bool {
    let until = sorted.partition_point(|other| other.start < found.end);
    // Findings of specific detectors are short, so those that matter are near.
    let near = sorted[..until].iter().rev();
    near.take(SPECIFIC.len() * 2)
        .any(|other| other.end > found.start)
}

/// Shannon's entropy of a text of ASCII, in bits for each character.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_usize; 256];
    for octet in text.bytes() {
        counts[usize::from(octet)] += 1;
    }
    let length = text.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0);
    let shares = shares.map(|count| *count as f64 / length);
    shares.map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = find(&Detectors::default(), text);
        let names: Vec<&str> = found.iter().map(|found| found.detector.name).collect();
        assert_eq!(names, expected, "{text}");
    }

    #[test]
    fn tokens_are_known_by_their_shape() {
        let letters = "aB3".repeat(12);
        check("AKIAIOSFODNN7EXAMPLE", &["aws-access-key-id"]);
        check(&format!("ghp_{letters}"), &["github-token"]);
        check(
            &format!("github_pat_{letters}"),
            &["github-fine-grained-token"],
        );
        check(&format!("glpat-{letters}"), &["gitlab-token"]);
        check(&format!("npm_{letters}"), &["npm-token"]);
        check(&format!("sk-{letters}"), &["openai-api-key"]);
        check(&format!("xoxb-{letters}"), &["slack-token"]);
        check(&format!("sk_live_{letters}"), &["stripe-secret-key"]);
        check("-----BEGIN PRIVATE KEY-----", &["private-key-block"]);
        check("-----BEGIN RSA PRIVATE KEY-----", &["private-key-block"]);
        check("-----BEGIN PUBLIC KEY-----", &[]);
        check("AKIAIOSFODNN7EXAMPL", &[]);
    }

    #[test]
    fn random_text_with_a_telling_name_is_found() {
        let random = "q9Zx7Lm2Wp4Rt8Vb6Ny1";
        let name = "high-entropy-credential-assignment";
        check(&format!("password = \"{random}\""), &[name]);
        check(&format!("{{\"apiKey\": '{random}'}}"), &[name]);
        check(&format!("colour = \"{random}\""), &[]);
        check(&format!("password = \"{}\"", "a".repeat(30)), &[]);
        check(&format!("password = {random}"), &[]);
    }

    #[test]
    fn a_specific_detector_comes_before_the_general_one() {
        let token = format!("token = \"ghp_{}\"", "aB3dE6gH9".repeat(4));
        check(&token, &["github-token"]);
    }

    #[test]
    fn entropy_is_that_of_the_letters() {
        assert_eq!(entropy("aaaa"), 0.0);
        assert_eq!(entropy("abab"), 1.0);
        assert_eq!(entropy("abcd"), 2.0);
    }
}
