//! Findings for people. A session that is fine has one line; each thing worth
//! knowing adds one.

use std::io::{self, Write};

use super::findings::{DamageFinding, Findings, PathFindings, SessionFindings};
use crate::counting;
use crate::output::{Output, Untrusted};

pub(super) fn write(findings: &Findings, output: &mut Output) -> io::Result<()> {
    let is_one_of_many = findings.paths.len() > 1;
    for path in &findings.paths {
        if is_one_of_many {
            let palette = output.palette();
            writeln!(output, "{}", palette.heading(Untrusted(&path.path)))?;
        }
        write_path(path, output)?;
    }
    Ok(())
}

/// The last line, for the person who asked.
pub(super) fn summary(findings: &Findings) -> String {
    let paths = &findings.paths;
    let sessions: usize = paths.iter().map(|path| path.sessions.len()).sum();
    let records = paths.iter().flat_map(|path| &path.sessions);
    let records: usize = records.map(|session| session.records).sum();
    let problems: usize = paths.iter().map(PathFindings::problems).sum();
    let verdict = match problems {
        0 => "no problems".to_owned(),
        _ => count(problems, "problem"),
    };
    let (sessions, records) = (count(sessions, "session"), count(records, "record"));
    format!("{sessions}, {records}: {verdict}")
}

fn write_path(path: &PathFindings, output: &mut Output) -> io::Result<()> {
    for session in &path.sessions {
        write_session(session, output)?;
    }
    if path.homeless_records > 0 {
        let homeless = count(path.homeless_records, "record");
        writeln!(output, "without a session: {homeless}")?;
    }
    for damage in &path.damage {
        write_damage(damage, output)?;
    }
    Ok(())
}

fn write_session(session: &SessionFindings, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    let id = Untrusted(&session.session_id);
    let records = count(session.records, "record");
    let base = match session.iteration_base {
        Some(base) => format!("iterations from {base}"),
        None => "no iterations".to_owned(),
    };
    let ending = match session.is_complete {
        true => "complete",
        false => "incomplete",
    };
    writeln!(output, "{}: {records}, {base}, {ending}", palette.name(id))?;
    for problem in problems(session) {
        writeln!(output, "  {}", palette.problem(problem))?;
    }
    for note in notes(session) {
        writeln!(output, "  {note}")?;
    }
    Ok(())
}

fn problems(session: &SessionFindings) -> Vec<String> {
    let range = |&(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    };
    let mut problems = Vec::new();
    if !session.missing.is_empty() {
        let missing: Vec<String> = session.missing.iter().map(range).collect();
        problems.push(format!("missing indexes: {}", missing.join(", ")));
    }
    if !session.duplicates.is_empty() {
        let indexes = session.duplicates.iter().map(u64::to_string);
        let indexes: Vec<String> = indexes.collect();
        problems.push(format!("duplicate indexes: {}", indexes.join(", ")));
    }
    problems
}

fn notes(session: &SessionFindings) -> Vec<String> {
    let mut notes = Vec::new();
    if session.adapted > 0 {
        notes.push(format!("adapted from other versions: {}", session.adapted));
    }
    if session.nulls_as_zero > 0 {
        notes.push(format!("null numbers read as 0: {}", session.nulls_as_zero));
    }
    if session.opaque > 0 {
        notes.push(format!(
            "not understood, kept as opaque: {}",
            session.opaque
        ));
    }
    for end in &session.inferred_ends {
        let records = count(end.position, "record");
        let iteration = end.iteration;
        notes.push(format!(
            "iteration {iteration} has no end; over after {records}"
        ));
    }
    notes
}

fn write_damage(damage: &DamageFinding, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    let DamageFinding { line, offset, .. } = damage;
    let (path, reason) = (Untrusted(&damage.path), Untrusted(&damage.reason));
    let place = format!("{path}:{line} (byte {offset})");
    match damage.is_torn_tail {
        true => writeln!(output, "{place}: {reason} (torn tail)"),
        false => writeln!(output, "{}: {reason}", palette.problem(place)),
    }
}

fn count(number: usize, thing: &str) -> String {
    counting::count(number as u64, thing)
}
