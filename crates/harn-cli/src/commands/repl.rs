//! `harn repl`: a conversation with the language.
//!
//! ```text
//! terminal ─► editor: history, completion, colours ─┐
//! pipe ─► lines, joined while brackets are open ────┴─► entry ─► Session ─► value or error
//!                                                         └─► :command
//! ```

mod editor;
mod entry;
mod history;
mod lines;

use std::io::{self, BufRead, IsTerminal, Write};

use clap::Args;
use harn_syntax::tree::{ItemKind, Module, StatementKind};
use harn_vm::machine::value::Value;
use harn_vm::machine::{Failure, FaultKind};
use harn_vm::project::TrustSource;
use harn_vm::{RunOptions, Session, WorldOptions, runtime_error};

use self::editor::Editor;
use self::entry::Entry;
use self::lines::Lines;
use super::answers;
use super::findings::Findings;
use super::permissions::Permissions;
use super::run::{Terminal, exit_status, keeping};
use super::{Outcome, doc, trust};
use crate::arguments::after_help;
use crate::environment;
use crate::output::{Output, Untrusted, UntrustedText};
use crate::suggestion;

const EXAMPLES: &str = "  \
  harn repl                            A prompt
  harn repl -- one two                 With arguments, in `argv`
  echo '1 + 2' | harn repl             Entries from a pipe
  harn repl --deny write,net           Without changing files and without network";

const HELP: &str = "\
Type statements or an expression; its value is shown. An entry goes on in the next line
while brackets are open, and an empty line ends it.

  :type EXPRESSION   the type of an expression, without running it
  :doc NAME          what a builtin, a method or a module does
  :help              this page
  :quit              leave; Ctrl-D does too";

/// Try things at a prompt
///
/// Runs what is typed, one entry after the other, and shows the value of each. Names, types
/// and imports stay, and everything can be declared again. Lines can be edited, are
/// remembered, and names are completed with Tab. `:help` tells about commands.
///
/// Sessions of agents are not kept; with HARN_EVENT_LOG_DIR set, their events are written to
/// files in that folder.
///
/// The history is kept in harn/repl_history below XDG_STATE_HOME, or ~/.local/state.
///
/// What is typed may do what you may, unless --deny or --allow-… say otherwise.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// What is found in `argv`
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<String>,

    #[command(flatten)]
    permissions: Permissions,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> io::Result<Outcome> {
    let Some(policy) = arguments.permissions.policy_or_complaint(output) else {
        return Ok(Outcome::WrongUsage);
    };
    let mut models = answers::of_project(None);
    let manifest = models.manifest.clone();
    let projects = trust::projects();
    let judged = trust::here(&projects);
    if let Some(notice) = projects.notice(&judged) {
        output.note(format_args!("{}", Untrusted(notice)));
    }
    models.trust = TrustSource::Answers(projects);
    let options = RunOptions {
        arguments: arguments.arguments.clone(),
        world: WorldOptions {
            environment: environment::all(),
            models,
            agents: keeping::only_where_asked_for(manifest.as_deref(), judged.trust()),
            policy,
            ..WorldOptions::default()
        },
        ..RunOptions::default()
    };
    let session = Session::new(&options, Box::new(Terminal::new()));
    let mut conversation = Conversation {
        session,
        is_fine: true,
    };
    if io::stdin().is_terminal() {
        writeln!(output, "Harn {}; :help for help", env!("CARGO_PKG_VERSION"))?;
        let mut editor = Editor::new(output.palette());
        conversation.hold(|session| editor.next(session), output)
    } else {
        let mut lines = Lines::new(|line: &mut Vec<u8>| io::stdin().lock().read_until(b'\n', line));
        conversation.hold(|_| lines.next(), output)
    }
}

/// A conversation.
struct Conversation {
    session: Session,
    /// Whether nothing has failed.
    is_fine: bool,
}

impl Conversation {
    /// Answers every entry. Somebody at a terminal has seen what went wrong; a script learns
    /// it from the outcome.
    fn hold(
        &mut self,
        mut next: impl FnMut(&Session) -> io::Result<Option<String>>,
        output: &mut Output,
    ) -> io::Result<Outcome> {
        loop {
            output.flush()?;
            let Some(text) = next(&self.session)? else {
                break;
            };
            if let Some(outcome) = self.answer(&text, output)? {
                output.flush()?;
                return Ok(outcome);
            }
        }
        Ok(match self.is_fine || io::stdin().is_terminal() {
            true => Outcome::Done,
            false => Outcome::Problems,
        })
    }

    /// Answers an entry; gives the outcome if it is the last.
    fn answer(&mut self, text: &str, output: &mut Output) -> io::Result<Option<Outcome>> {
        match Entry::of(text) {
            Entry::Nothing => {}
            Entry::Quit => return Ok(Some(Outcome::Done)),
            Entry::Help => writeln!(output, "{HELP}")?,
            Entry::Type(expression) => match self.session.type_of(expression) {
                Ok(ty) => writeln!(output, "{}", Untrusted(ty))?,
                Err(why) => self.complain(&why, output),
            },
            Entry::Doc(name) => match doc::describe(name) {
                Ok(page) => write!(output, "{page}")?,
                Err(why) => self.complain(&why, output),
            },
            Entry::Unknown(command) => {
                let hint = suggestion::closest(command, entry::COMMANDS.into_iter());
                let hint = hint.map(|other| format!("; did you mean `{other}`?"));
                let hint = hint.unwrap_or_else(|| "; `:help` lists them".to_owned());
                self.complain(&format!("there is no command `{command}`{hint}"), output);
            }
            Entry::Program(text) => return self.run(text, output),
        }
        Ok(None)
    }

    fn run(&mut self, text: &str, output: &mut Output) -> io::Result<Option<Outcome>> {
        let typed = self.session.enter(text);
        let findings = Findings {
            name: typed.name,
            diagnostics: typed.diagnostics,
        };
        findings.show(&typed.file, output);
        if typed.result.is_some() && has_pipeline(&typed.file.parsed.module) {
            output.note(format_args!("note: pipelines do not run at a prompt"));
        }
        match typed.result {
            None => self.is_fine = false,
            Some(Ok(Value::Nil)) => {}
            Some(Ok(value)) => writeln!(output, "{}", shown(&value))?,
            Some(Err(failure)) => return Ok(self.failed(&failure, output)),
        }
        Ok(None)
    }

    fn failed(&mut self, failure: &Failure, output: &mut Output) -> Option<Outcome> {
        if let FaultKind::Exit(status) = failure.kind {
            return Some(Outcome::Status(exit_status(status)));
        }
        self.is_fine = false;
        for line in runtime_error(failure).to_string().lines() {
            output.note(format_args!("{}", UntrustedText(line)));
        }
        None
    }

    fn complain(&mut self, why: &str, output: &mut Output) {
        self.is_fine = false;
        output.error(format_args!("{}", Untrusted(why)));
    }
}

/// Whether something that is typed declares a pipeline.
fn has_pipeline(module: &Module) -> bool {
    let mut statements = module.statements.iter().map(|statement| &statement.kind);
    statements.any(|kind| match kind {
        StatementKind::Item(item) => matches!(item.kind, ItemKind::Pipeline(_)),
        _ => false,
    })
}

/// A value as it is answered: a text in quotes, so that one sees that it is one.
fn shown(value: &Value) -> String {
    let text = value.show();
    let text = match value {
        Value::Text(_) => format!("{text:?}"),
        _ => text,
    };
    let lines = text.lines().map(|line| Untrusted(line).to_string());
    lines.collect::<Vec<_>>().join("\n")
}
