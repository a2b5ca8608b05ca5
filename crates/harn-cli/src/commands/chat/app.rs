//! What keys do, and what is done about everything else.
//!
//! ```text
//! Message ─► App::take ─► State, draft, focus ─► Effect ─► whoever has the terminal
//! ```

mod slashes;

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use harn_log::AnyEventLog;
use harn_vm::{Partner, Turn, TurnRunner};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::Message;
use super::asked::{Asked, Scope};
use super::draft::{Draft, To};
use super::host::{granted, refused};
use super::looks::Looks;
use super::paint::{self, Memory, Scene};
use super::past::Past;
use super::people::People;
use super::picker::Picker;
use super::shared::{Shared, State};
use super::slash;
use super::view::Ended;
use crate::clock::Clock;

/// A chat, but for its terminal.
pub(super) struct App {
    pub(super) shared: Shared,
    pub(super) runner: TurnRunner,
    pub(super) partner: Partner,
    /// Where sessions are kept.
    pub(super) log: Arc<AnyEventLog>,
    pub(super) people: Option<People>,
    pub(super) messages: SyncSender<Message>,
    pub(super) looks: Looks,
    pub(super) clock: Clock,
    pub(super) draft: Draft,
    pub(super) memory: Memory,
    pub(super) picker: Option<Picker>,
    pub(super) focus: Focus,
    pub(super) shows_thoughts: bool,
    pub(super) shows_results: bool,
    /// How wide the terminal was when it was drawn last.
    pub(super) columns: usize,
}

/// What keys are for.
#[derive(Debug, Default)]
pub(super) enum Focus {
    /// What is written. Somebody who is writing is not interrupted by a question.
    #[default]
    Draft,
    /// The same, although there is a question: the person wants to write first.
    DraftFirst,
    /// The question; what was being written waits.
    Asked(String),
}

/// What whoever has the terminal is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    /// Draw everything again, also what should be there.
    Redraw,
    /// Write this to the terminal as it is.
    Write(String),
    Leave,
    /// Leave because of a signal.
    LeaveBy(i32),
}

impl App {
    /// Does what a message wants.
    pub(super) fn take(&mut self, message: Message) -> Effect {
        let effect = match message {
            Message::Changed => Effect::Nothing,
            Message::Input(event) => self.input(event),
            Message::Ended(ended) => self.ended(&ended),
            Message::Sessions(sessions) => self.sessions(sessions),
            Message::Hangup => Effect::Leave,
            Message::Signal(signal) => Effect::LeaveBy(signal),
        };
        self.settle_focus();
        effect
    }

    /// Begins a turn, or has the agent hear it in the one that runs.
    pub(super) fn send(&mut self, prompt: String) {
        self.draft.remember(&prompt);
        self.memory.scroll.top = None;
        let now_ms = self.shared.now_ms();
        let is_running = self.shared.change(|state| {
            if state.view.turn().is_some() {
                state.unheard.push_back(prompt.clone());
                return true;
            }
            state.view.prompt(&prompt);
            state.view.begin_turn(now_ms);
            false
        });
        if !is_running {
            let partner = self.partner.clone();
            self.runner.turn(Turn {
                partner,
                prompt,
                ..Turn::default()
            });
        }
    }

    /// Draws it.
    pub(super) fn draw(&mut self, frame: &mut ratatui::Frame<'_>) {
        self.columns = usize::from(frame.area().width);
        let state = self.shared.state();
        let scene = Scene {
            state: &state,
            draft: &self.draft,
            picker: self.picker.as_ref(),
            is_asked: matches!(self.focus, Focus::Asked(_)),
            shows_thoughts: self.shows_thoughts,
            shows_results: self.shows_results,
            looks: self.looks,
            now_ms: self.shared.now_ms(),
            date_ms: self.clock.now_ms(),
        };
        paint::draw(frame, &scene, &mut self.memory);
    }

    /// Whether something changes on the screen as time goes by.
    pub(super) fn is_running(&self) -> bool {
        self.shared.state().view.turn().is_some()
    }

    fn input(&mut self, event: Event) -> Effect {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            Event::Paste(text) => {
                if self.picker.is_none() && self.takes_text() {
                    self.draft.insert(&text);
                }
                Effect::Nothing
            }
            Event::Resize(..) => Effect::Redraw,
            _ => Effect::Nothing,
        }
    }

    /// Whether letters are written. A question that wants yes or no takes keys, not texts.
    fn takes_text(&self) -> bool {
        match self.focus {
            Focus::Draft | Focus::DraftFirst => true,
            Focus::Asked(_) => self
                .shared
                .state()
                .asked
                .front()
                .is_none_or(Asked::wants_text),
        }
    }

    fn key(&mut self, key: KeyEvent) -> Effect {
        let has = |modifier| key.modifiers.contains(modifier);
        if has(KeyModifiers::CONTROL)
            && let KeyCode::Char(letter) = key.code
        {
            return self.control(letter.to_ascii_lowercase());
        }
        if self.picker.is_some() {
            return self.picker_key(key.code);
        }
        match key.code {
            KeyCode::PageUp => self.scroll(1),
            KeyCode::PageDown => self.scroll(-1),
            KeyCode::Tab => self.switch_focus(),
            _ if !self.takes_text() => return self.answer_key(key.code),
            KeyCode::Enter if has(KeyModifiers::ALT) || has(KeyModifiers::SHIFT) => {
                self.draft.insert("\n");
            }
            KeyCode::Enter => return self.enter(),
            KeyCode::Esc => self.memory.scroll.top = None,
            code => self.edit(code, has(KeyModifiers::ALT)),
        }
        Effect::Nothing
    }

    fn edit(&mut self, code: KeyCode, by_words: bool) {
        let columns = paint::draft_columns(self.columns);
        let draft = &mut self.draft;
        match code {
            KeyCode::Char('b') if by_words => draft.go(To::WordLeft),
            KeyCode::Char('f') if by_words => draft.go(To::WordRight),
            KeyCode::Char(letter) => draft.insert(letter.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace if by_words => draft.remove(To::WordLeft),
            KeyCode::Backspace => draft.remove(To::Left),
            KeyCode::Delete => draft.remove(To::Right),
            KeyCode::Left if by_words => draft.go(To::WordLeft),
            KeyCode::Right if by_words => draft.go(To::WordRight),
            KeyCode::Left => draft.go(To::Left),
            KeyCode::Right => draft.go(To::Right),
            KeyCode::Up => draft.up(columns),
            KeyCode::Down => draft.down(columns),
            KeyCode::Home => draft.go(To::LineStart),
            KeyCode::End if self.memory.scroll.top.is_some() => self.memory.scroll.top = None,
            KeyCode::End => draft.go(To::LineEnd),
            _ => {}
        }
    }

    fn control(&mut self, letter: char) -> Effect {
        match letter {
            'c' => return self.interrupt(),
            'd' if self.draft.is_empty() && !self.is_running() => return Effect::Leave,
            'd' => self.draft.remove(To::Right),
            'l' => return Effect::Redraw,
            't' => self.shows_thoughts = !self.shows_thoughts,
            'o' => self.shows_results = !self.shows_results,
            'y' => return self.copy(),
            'j' if self.takes_text() => self.draft.insert("\n"),
            'a' => self.draft.go(To::LineStart),
            'e' => self.draft.go(To::LineEnd),
            'b' => self.draft.go(To::Left),
            'f' => self.draft.go(To::Right),
            'w' => self.draft.remove(To::WordLeft),
            'u' => self.draft.remove(To::LineStart),
            'k' => self.draft.remove(To::LineEnd),
            'h' => self.draft.remove(To::Left),
            _ => {}
        }
        Effect::Nothing
    }

    /// Ctrl-C: what is nearest ends.
    fn interrupt(&mut self) -> Effect {
        if self.picker.take().is_some() {
            return Effect::Nothing;
        }
        if self.is_running() {
            self.runner.cancel();
            self.shared.change(|state| state.view.stop_turn());
            return Effect::Nothing;
        }
        match self.draft.is_empty() {
            true => Effect::Leave,
            false => {
                self.draft.take();
                Effect::Nothing
            }
        }
    }

    /// By so many pages.
    fn scroll(&mut self, pages: isize) {
        let scroll = &mut self.memory.scroll;
        let page = scroll.shown.saturating_sub(1).max(1);
        let page = isize::try_from(page).unwrap_or(isize::MAX);
        scroll.up(pages * page);
    }

    fn enter(&mut self) -> Effect {
        if self.draft.text().trim().is_empty() {
            return Effect::Nothing;
        }
        let text = self.draft.take();
        if matches!(self.focus, Focus::Asked(_)) {
            self.answer_with(text);
            return Effect::Nothing;
        }
        match slash::read(&text) {
            Some(slash) => {
                self.draft.remember(&text);
                self.memory.scroll.top = None;
                self.slash(slash)
            }
            None => {
                self.send(text);
                Effect::Nothing
            }
        }
    }

    /// A turn has ended. What came too late for it is the next prompt.
    fn ended(&mut self, ended: &Ended) -> Effect {
        let next = self.shared.change(|state| {
            state.view.end_turn(ended);
            state.asked.clear();
            match ended {
                Ended::Well(_) | Ended::Told(_) => state.unheard.pop_front(),
                // Who stopped the agent may not want it to go on with the next.
                Ended::Cancelled | Ended::Failed(_) => None,
            }
        });
        if let Some(next) = next {
            self.send(next);
            return Effect::Nothing;
        }
        let unheard = self
            .shared
            .change(|state| std::mem::take(&mut state.unheard));
        if !unheard.is_empty() && self.draft.is_empty() {
            let unheard: Vec<String> = unheard.into();
            self.draft.set(unheard.join("\n"));
        }
        Effect::Nothing
    }

    /// A key answers the question.
    fn answer_key(&mut self, code: KeyCode) -> Effect {
        let KeyCode::Char(letter) = code else {
            return Effect::Nothing;
        };
        let asked = self.shared.state().asked.pop_front();
        match (asked, letter.to_ascii_lowercase()) {
            (Some(Asked::Permission(permission)), 'y' | 'a' | 'n')
                if permission.scope != Scope::Once || !letter.eq_ignore_ascii_case(&'a') =>
            {
                if letter.eq_ignore_ascii_case(&'a') {
                    let scope = permission.scope.clone();
                    self.shared.change(|state| state.always.allow(scope));
                }
                let answer = match letter.eq_ignore_ascii_case(&'n') {
                    true => refused("the user does not allow it"),
                    false => granted(),
                };
                let _the_turn_may_be_over = permission.reply.send(answer);
            }
            (Some(Asked::Request(request)), 'y' | 'n') => {
                let agreed = letter.eq_ignore_ascii_case(&'y');
                self.respond(|people| people.decide(&request, agreed));
            }
            // Not an answer: the question stays.
            (Some(asked), _) => self.shared.state().asked.push_front(asked),
            (None, _) => {}
        }
        Effect::Nothing
    }

    /// A text answers the question.
    fn answer_with(&mut self, text: String) {
        let asked = self.shared.state().asked.pop_front();
        match asked {
            Some(Asked::Request(request)) => {
                let (asked, said) = (request.prompt.clone(), text.clone());
                self.shared.change(|state| {
                    state.view.notice(&format!("{asked}\n→ {said}"));
                });
                self.respond(|people| people.answer(&request, &text));
            }
            Some(asked) => self.shared.state().asked.push_front(asked),
            None => {}
        }
    }

    fn respond(&self, respond: impl FnOnce(&People) -> Result<(), harn_log::LogError>) {
        if let Some(people) = &self.people
            && let Err(error) = respond(people)
        {
            let why = format!("the answer cannot be written to the log: {error}");
            self.shared.change(|state| state.view.problem(&why));
        }
    }

    /// Tab: from what is written to the question, and back.
    fn switch_focus(&mut self) {
        self.focus = match std::mem::take(&mut self.focus) {
            Focus::Asked(waiting) => {
                self.draft.set(waiting);
                Focus::DraftFirst
            }
            Focus::Draft | Focus::DraftFirst if self.has_question() => {
                Focus::Asked(self.draft.take())
            }
            other => other,
        };
    }

    /// A question has the keys as soon as that interrupts nobody, and gives them back.
    fn settle_focus(&mut self) {
        let has_question = self.has_question();
        self.focus = match std::mem::take(&mut self.focus) {
            Focus::Draft if has_question && self.draft.is_empty() => Focus::Asked(String::new()),
            Focus::Asked(waiting) if !has_question => {
                self.draft.set(waiting);
                Focus::Draft
            }
            Focus::DraftFirst if !has_question => Focus::Draft,
            other => other,
        };
    }

    /// Whether there is a question that somebody waits for.
    fn has_question(&self) -> bool {
        let state: &mut State = &mut self.shared.state();
        state.asked.retain(Asked::is_open);
        !state.asked.is_empty()
    }

    fn picker_key(&mut self, code: KeyCode) -> Effect {
        let Some(picker) = &mut self.picker else {
            return Effect::Nothing;
        };
        match code {
            KeyCode::Esc => self.picker = None,
            KeyCode::Up => picker.go(-1),
            KeyCode::Down => picker.go(1),
            KeyCode::PageUp => picker.go(-10),
            KeyCode::PageDown => picker.go(10),
            KeyCode::Backspace => picker.remove(),
            KeyCode::Char(letter) => picker.add(letter),
            KeyCode::Enter => {
                let id = picker.choice().map(|past| past.id.clone());
                if let Some(id) = id {
                    self.picker = None;
                    self.go_on_with(&id);
                }
            }
            _ => {}
        }
        Effect::Nothing
    }

    fn sessions(&mut self, sessions: Result<Vec<Past>, String>) -> Effect {
        match (sessions, &mut self.picker) {
            (Ok(sessions), Some(picker)) => picker.set(sessions),
            (Err(why), _) => {
                self.picker = None;
                self.shared.change(|state| state.view.problem(&why));
            }
            (Ok(_), None) => {}
        }
        Effect::Nothing
    }
}
