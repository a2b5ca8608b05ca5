//! What the commands that start with a slash do.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;
use std::thread;

use super::super::Message;
use super::super::clipboard::copying;
use super::super::past::{self, Opened};
use super::super::picker::Picker;
use super::super::slash::{Slash, help};
use super::super::view::View;
use super::{App, Effect};
use crate::amounts::{dollars, tokens};

/// What can only be done between two turns.
const WAIT: &str = "the agent works; wait for it, or stop it with Ctrl-C";

impl App {
    /// Does what a command wants.
    pub(super) fn slash(&mut self, slash: Slash) -> Effect {
        let needs_rest = matches!(slash, Slash::New | Slash::Sessions | Slash::Compact);
        if needs_rest && self.is_running() {
            return self.say(WAIT);
        }
        match slash {
            Slash::Help => self.say(&help()),
            Slash::New => self.new_session(),
            Slash::Sessions => self.pick_session(),
            Slash::Model(name) => self.model(name),
            Slash::Tools => self.tools(),
            Slash::Compact => self.compact(),
            Slash::Cost => self.cost(),
            Slash::Export(file) => self.export(file),
            Slash::Copy => self.copy(),
            Slash::Thoughts => {
                self.shows_thoughts = !self.shows_thoughts;
                Effect::Nothing
            }
            Slash::Quit => Effect::Leave,
            Slash::Unknown(why) => self.complain(&why),
        }
    }

    pub(super) fn say(&self, text: &str) -> Effect {
        self.shared.change(|state| state.view.notice(text));
        Effect::Nothing
    }

    fn complain(&self, text: &str) -> Effect {
        self.shared.change(|state| state.view.problem(text));
        Effect::Nothing
    }

    /// Copies what the agent said last to the clipboard.
    pub(super) fn copy(&self) -> Effect {
        let answer = self.shared.state().view.last_answer().map(str::to_owned);
        let Some(answer) = answer else {
            return self.say("there is no answer yet");
        };
        let (sequence, is_all) = copying(&answer);
        self.say(match is_all {
            true => "the last answer was copied",
            false => "the beginning of the last answer was copied; it is too long for a terminal",
        });
        Effect::Write(sequence)
    }

    fn new_session(&mut self) -> Effect {
        self.partner.session_id = super::super::new_session_id();
        self.show(View::default());
        self.say("a new session")
    }

    fn show(&mut self, view: View) {
        self.shared.change(|state| {
            let model = std::mem::take(&mut state.view.meter.model);
            let tools = state.view.tools().to_vec();
            state.view = view;
            state.view.meter.model = model;
            state.view.set_tools(&tools);
        });
        self.memory.cache.forget();
        self.memory.scroll.top = None;
    }

    /// Reads the log beside, which may be long.
    fn pick_session(&mut self) -> Effect {
        let (log, messages) = (Arc::clone(&self.log), self.messages.clone());
        let thread = thread::Builder::new().name("harn-sessions".to_owned());
        let reading = thread.spawn(move || {
            let _nobody_looks_any_more = messages.send(Message::Sessions(past::list(&log)));
        });
        match reading {
            Ok(_) => {
                self.picker = Some(Picker::default());
                Effect::Nothing
            }
            Err(error) => self.complain(&format!("the log cannot be read: {error}")),
        }
    }

    /// Takes a session up again.
    pub(in super::super) fn go_on_with(&mut self, id: &str) {
        if let Err(why) = past::check_free(&self.log, id) {
            return drop(self.complain(&why));
        }
        match past::exactly(&self.log, id) {
            Some(opened) => self.go_on(&opened),
            None => drop(self.complain("the session is not there any more")),
        }
    }

    pub(in super::super) fn go_on(&mut self, opened: &Opened) {
        self.partner.session_id = opened.id().to_owned();
        self.show(opened.view());
    }

    fn model(&mut self, name: Option<String>) -> Effect {
        let Some(name) = name else {
            let chosen = self.partner.model.clone();
            let used = self.shared.state().view.meter.model.clone();
            let used = Some(used).filter(|used| !used.is_empty());
            return match chosen.or(used) {
                Some(model) => self.say(&format!("{model} answers; /model NAME asks another")),
                None => self.say("the program chooses the model; /model NAME asks another"),
            };
        };
        self.partner.model = Some(name.clone());
        self.say(&format!(
            "{name} is asked from the next turn on, unless the program names a model itself"
        ))
    }

    fn tools(&self) -> Effect {
        let tools = self.shared.state().view.tools().to_vec();
        if tools.is_empty() {
            return self.say("the agent has no tools, or has not said yet which it has");
        }
        let tools = tools.iter().map(|(name, what)| {
            let what = what.split(". ").next().unwrap_or_default();
            format!("{name}: {}", what.trim_end_matches('.'))
        });
        self.say(&tools.collect::<Vec<_>>().join("\n"))
    }

    fn compact(&self) -> Effect {
        let now_ms = self.shared.now_ms();
        self.shared.change(|state| state.view.begin_turn(now_ms));
        self.runner.compact(self.partner.clone());
        Effect::Nothing
    }

    fn cost(&self) -> Effect {
        let meter = self.shared.state().view.meter.clone();
        let (input, output) = (tokens(meter.input_tokens), tokens(meter.output_tokens));
        let mut text = format!(
            "{} for {input} tokens in and {output} out",
            dollars(meter.cost_usd)
        );
        if let (Some(percent), Some(window)) = (meter.percent(), meter.context_window) {
            let used = tokens(meter.context_tokens);
            text += &format!(
                "\nthe context holds {used} of {} tokens ({percent}%)",
                tokens(window)
            );
        }
        self.say(&text)
    }

    fn export(&self, file: Option<String>) -> Effect {
        let id = &self.partner.session_id;
        let start: String = id.chars().take(13).collect();
        let file = file.unwrap_or_else(|| format!("{start}.md"));
        let Some(opened) = past::exactly(&self.log, id) else {
            return self.say("nothing was said yet");
        };
        let written = OpenOptions::new().write(true).create_new(true).open(&file);
        match written.and_then(|mut file| file.write_all(opened.markdown().as_bytes())) {
            Ok(()) => self.say(&format!("written to {file}")),
            Err(error) => self.complain(&format!("cannot write {file}: {error}")),
        }
    }
}
