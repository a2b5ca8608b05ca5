//! What an operator would read.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// One line of the log.
#[derive(Clone, Debug)]
pub(crate) struct LogLine {
    pub(crate) level: Level,
    pub(crate) target: String,
    pub(crate) fields: BTreeMap<String, String>,
}

impl LogLine {
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Whether any field is exactly `text`.
    pub(crate) fn names(&self, text: &str) -> bool {
        self.fields.values().any(|value| value == text)
    }
}

/// Runs `work` and returns the lines it logged on this thread.
pub(crate) fn capture_logs(work: impl FnOnce()) -> Vec<LogLine> {
    let lines = Arc::default();
    tracing::subscriber::with_default(Capture(Arc::clone(&lines)), work);
    let lines = lines.lock().expect("nobody panics while logging");
    lines.clone()
}

struct Capture(Arc<Mutex<Vec<LogLine>>>);

impl Subscriber for Capture {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = LogLine {
            level: *event.metadata().level(),
            target: event.metadata().target().to_owned(),
            fields: BTreeMap::new(),
        };
        event.record(&mut Fields(&mut line.fields));
        self.0
            .lock()
            .expect("nobody panics while logging")
            .push(line);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}
