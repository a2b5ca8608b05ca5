//! The question in front of a chat.

use std::io::{self, IsTerminal, Write};

use harn_vm::project::{Standing, TrustedProjects, Verdict};
use rustix::termios::{QueueSelector, tcflush};

use super::{changes, here, listing};
use crate::clock::Clock;
use crate::output::{Output, Untrusted};

/// Asks the person at the terminal about the project that we are in, if they were not asked
/// about its contents before. Without an answer, or without a terminal, nothing changes.
pub(in super::super) fn ask(
    projects: &TrustedProjects,
    clock: Clock,
    output: &mut Output,
) -> io::Result<()> {
    let judged = here(projects);
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(());
    }
    let changes = changes(&judged);
    let said = match &judged.standing {
        Standing::Unknown => "has files that could act, if you trust it",
        Standing::Changed(_) => "has changed since you were asked about it",
        Standing::Harmless | Standing::Trusted | Standing::Refused => return Ok(()),
    };
    let mut screen = io::stderr().lock();
    let root = judged.contents.root.display();
    writeln!(screen, "{} {said}:", Untrusted(root))?;
    listing::write(&judged, &mut screen)?;
    if !changes.is_empty() {
        writeln!(screen, "what has changed:")?;
        listing::write_changes(&changes, &mut screen)?;
    }
    // What was typed before the question was there is no answer to it.
    let _is_no_terminal = tcflush(io::stdin(), QueueSelector::IFlush);
    write!(screen, "Trust it as it is now? [y/N] ")?;
    screen.flush()?;
    let mut line = String::new();
    if io::stdin().read_line(&mut line)? == 0 {
        writeln!(screen)?;
        return Ok(());
    }
    let verdict = match line.trim() {
        "y" | "Y" | "yes" => Verdict::Yes,
        _ => Verdict::No,
    };
    let store = projects.store();
    if let Err(error) = store.answer(&judged.contents, verdict, "terminal", clock.now_ms()) {
        output.error(format_args!("{}", Untrusted(error)));
    }
    Ok(())
}
