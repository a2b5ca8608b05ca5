//! What things are called on the server.
//!
//! ```text
//! prefix harn.log, topic orders.eu
//!   subject   harn.log.orders.eu        topics are subjects, for whoever listens in
//!   stream    harn_log+orders=eu        streams may not have dots
//!   buckets   harn_log-topics, harn_log-leases
//! ```
//!
//! Topics consist of letters, digits, `.`, `_` and `-`, so `=` is free to stand for
//! what a name may not have, and two topics never share a stream.

use sha2::{Digest, Sha256};

use crate::error::LogError;
use crate::log::Result;
use crate::name::Topic;

/// Stream names are directory names, which end at 255.
const STREAM_NAME_BYTES_MAX: usize = 240;

/// The names of one log.
#[derive(Clone, Debug)]
pub(super) struct Names {
    prefix: String,
    /// The prefix without dots. It has no `_` of its own, so this is reversible.
    flat: String,
}

impl Names {
    /// The names below a prefix.
    pub(super) fn new(prefix: &str) -> Result<Self> {
        let plain = |word: &str| {
            let mut characters = word.chars();
            !word.is_empty() && characters.all(|one| one.is_ascii_alphanumeric() || one == '-')
        };
        if prefix.len() > 64 || !prefix.split('.').all(plain) {
            return Err(LogError::Config(format!(
                "NATS prefix '{prefix}': wanted are at most 64 ASCII letters, digits and '-', with dots between words"
            )));
        }
        Ok(Self {
            prefix: prefix.to_owned(),
            flat: prefix.replace('.', "_"),
        })
    }

    /// The subject of a topic. Its words may be empty, those of a subject may not.
    pub(super) fn subject(&self, topic: &Topic) -> String {
        let mut subject = self.prefix.clone();
        for word in topic.as_str().split('.') {
            subject.push('.');
            subject.push_str(if word.is_empty() { "=" } else { word });
        }
        subject
    }

    /// The subjects of all topics.
    pub(super) fn all_subjects(&self) -> String {
        format!("{}.>", self.prefix)
    }

    /// The topic of a subject.
    pub(super) fn topic(&self, subject: &str) -> Option<Topic> {
        let words = subject.strip_prefix(&self.prefix)?.strip_prefix('.')?;
        Topic::new(words.replace('=', "")).ok()
    }

    /// The stream of a topic. A name that would be too long ends in its hash; the
    /// subject still says which topic it is.
    pub(super) fn stream(&self, topic: &Topic) -> String {
        let mut stream = format!("{}+{}", self.flat, flat(topic));
        if stream.len() > STREAM_NAME_BYTES_MAX {
            stream.truncate(STREAM_NAME_BYTES_MAX - 65);
            stream.push('+');
            for byte in Sha256::digest(topic.as_str()) {
                stream.push_str(&format!("{byte:02x}"));
            }
        }
        stream
    }

    /// Whether a stream is one of ours.
    pub(super) fn is_ours(&self, stream: &str) -> bool {
        let rest = stream.strip_prefix(&self.flat);
        rest.is_some_and(|rest| rest.starts_with('+'))
    }

    /// The bucket with what we know of topics besides their records.
    pub(super) fn topics_bucket(&self) -> String {
        format!("{}-topics", self.flat)
    }

    /// The bucket with the leases.
    pub(super) fn leases_bucket(&self) -> String {
        format!("{}-leases", self.flat)
    }
}

/// A topic as one word.
pub(super) fn flat(topic: &Topic) -> String {
    topic.as_str().replace('.', "=")
}

/// Any text as one word: what a word may not have becomes `=` and two digits per byte.
pub(super) fn word(text: &str) -> String {
    let mut word = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => word.push(char::from(byte)),
            _ => word.push_str(&format!("={byte:02x}")),
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(name: &str) -> Topic {
        Topic::new(name).unwrap()
    }

    #[test]
    fn a_topic_has_a_subject_and_a_stream() {
        let names = Names::new("harn.log").unwrap();
        for (name, subject, stream) in [
            ("orders", "harn.log.orders", "harn_log+orders"),
            ("orders.eu", "harn.log.orders.eu", "harn_log+orders=eu"),
            (".a..b.", "harn.log.=.a.=.b.=", "harn_log+=a==b="),
            ("..", "harn.log.=.=.=", "harn_log+=="),
            ("a_b-c", "harn.log.a_b-c", "harn_log+a_b-c"),
        ] {
            let topic = topic(name);
            assert_eq!(names.subject(&topic), subject);
            assert_eq!(names.stream(&topic), stream);
            assert_eq!(names.topic(subject), Some(topic));
            assert!(names.is_ours(stream));
        }
    }

    #[test]
    fn long_topics_have_different_streams_of_bounded_length() {
        let names = Names::new("p").unwrap();
        let long = "x".repeat(300);
        let streams = [format!("{long}1"), format!("{long}2")].map(|name| {
            let topic = topic(&name);
            assert_eq!(names.topic(&names.subject(&topic)), Some(topic.clone()));
            names.stream(&topic)
        });
        assert_ne!(streams[0], streams[1]);
        assert!(
            streams
                .iter()
                .all(|name| name.len() <= STREAM_NAME_BYTES_MAX)
        );
    }

    #[test]
    fn a_prefix_is_made_of_plain_words() {
        for prefix in ["", ".", "a.", ".a", "a..b", "a_b", "a b", "a.*", "ä"] {
            assert!(Names::new(prefix).is_err(), "{prefix}");
        }
        assert!(!Names::new("a").unwrap().is_ours("a-b+t"));
        assert!(!Names::new("a").unwrap().is_ours("a_b+t"));
    }

    #[test]
    fn any_text_is_a_word() {
        assert_eq!(word("session 1/ä"), "session=201=2f=c3=a4");
    }
}
