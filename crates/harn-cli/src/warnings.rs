//! Warnings of the crates below, for whoever runs the command.
//!
//! ```text
//! tracing::warn!(target: "agent.subscriber", session, error, "it failed")
//!     └─► warning: agent.subscriber: it failed (session: s, error: boom)
//! ```
//!
//! They go to standard error, never to standard output, which belongs to data and protocols. A
//! command that draws on the terminal takes them over, so that none of them is written into the
//! middle of what is there.

use std::fmt::{Debug, Write as _};
use std::io::{self, Write as _};
use std::sync::{Arc, PoisonError, RwLock};

use harn_events::KnownSecrets;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::output::Untrusted;

/// Where a warning is shown.
type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Shows warnings. All clones show them in the same place.
#[derive(Clone)]
pub(crate) struct Warnings {
    tell: Arc<RwLock<Tell>>,
}

impl Default for Warnings {
    fn default() -> Self {
        let tell: Tell = Arc::new(|text: &str| {
            let _nobody_may_listen = writeln!(io::stderr(), "warning: {}", Untrusted(text));
        });
        Self {
            tell: Arc::new(RwLock::new(tell)),
        }
    }
}

impl Warnings {
    /// From now on, everything that is odd in this process is shown here.
    pub(crate) fn listen(&self) {
        let _somebody_listens_already = tracing::subscriber::set_global_default(self.clone());
    }

    /// From now on, warnings are handed to somebody else.
    pub(crate) fn hand_to(&self, tell: Tell) {
        *self.tell.write().unwrap_or_else(PoisonError::into_inner) = tell;
    }

    fn tell(&self, text: &str) {
        // Whoever tells may take its time, and may be replaced meanwhile.
        let tell = Arc::clone(&self.tell.read().unwrap_or_else(PoisonError::into_inner));
        tell(&KnownSecrets::of_process().redact(text));
    }
}

impl Subscriber for Warnings {
    /// What libraries have to say about themselves is not for whoever runs a command.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.module_path().is_some_and(is_ours)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        let mut said = Said::default();
        event.record(&mut said);
        self.tell(&said.text(event.metadata().target()));
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// Whether a module is one of ours.
fn is_ours(path: &str) -> bool {
    path.starts_with("harn")
}

/// What a warning says: a sentence, and what it is about.
#[derive(Default)]
struct Said {
    message: String,
    about: String,
}

impl Said {
    /// The line for a category. Without one of its own a warning has the path of a module in its
    /// place, which says nothing to anybody outside.
    fn text(self, category: &str) -> String {
        let Self { message, about } = self;
        let category = match is_ours(category) {
            true => String::new(),
            false => format!("{category}: "),
        };
        match about.is_empty() {
            true => format!("{category}{message}"),
            false => format!("{category}{message} ({about})"),
        }
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let separator = if self.about.is_empty() { "" } else { ", " };
        let _text_takes_everything = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.about, "{separator}{name}: {value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// What is shown of the warnings of some work.
    fn shown(work: impl FnOnce()) -> Vec<String> {
        let (warnings, shown) = (Warnings::default(), Arc::<Mutex<Vec<String>>>::default());
        let kept = Arc::clone(&shown);
        warnings.hand_to(Arc::new(move |text: &str| {
            kept.lock().unwrap().push(text.to_owned());
        }));
        tracing::subscriber::with_default(warnings, work);
        let shown = shown.lock().unwrap();
        shown.clone()
    }

    #[test]
    fn a_warning_says_its_category_its_sentence_and_what_it_is_about() {
        let shown = shown(|| {
            let error = std::fmt::Error;
            tracing::warn!(
                target: "agent.sink", session = "s", panics = 2, %error,
                "a sink failed"
            );
        });
        let error = std::fmt::Error;
        assert_eq!(
            shown,
            [format!(
                "agent.sink: a sink failed (session: s, panics: 2, error: {error})"
            )]
        );
    }

    #[test]
    fn a_warning_without_a_category_says_its_sentence() {
        let shown = shown(|| tracing::warn!(target: "harn_acp::client", "models: slow down"));
        assert_eq!(shown, ["models: slow down"]);
    }

    #[test]
    fn what_is_less_than_a_warning_or_not_ours_is_not_shown() {
        let shown = shown(|| {
            tracing::info!(target: "agent.sink", "it works");
            tracing::error!(target: "agent.sink", "it does not");
        });
        assert_eq!(shown, ["agent.sink: it does not"]);
    }
}
