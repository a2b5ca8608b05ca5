//! `harn trust`: whether what came with a project may act.
//!
//! ```text
//! asking     the question in front of a chat
//! ancestry   whether an agent asks in the place of a person
//! listing    what the files of a project could do, and what has changed
//! ```

mod ancestry;
mod asking;
mod listing;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use harn_vm::llm::catalog::ProjectTrust;
use harn_vm::project::difference;
use harn_vm::project::{Answer, Change, JudgedProject, Kind, Standing, TrustedProjects, Verdict};
use serde_json::{Value, json};

use super::project::manifest_here;
use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::clock::Clock;
use crate::environment;
use crate::output::{Output, Untrusted};
use crate::table::Table;
use crate::timestamp;

pub(super) use asking::ask;

const EXAMPLES: &str = "  \
  harn trust                           What the files of this project could do
  harn trust yes                       They may, as they are now
  harn trust no                        They may not
  harn trust list                      The projects that were asked about
  harn trust --json | jq '.parts[] | select(.kind == \"server\")'";

/// Say whether what came with a project may act
///
/// The files of a project can start servers of tools and hooks, say where models are asked and
/// where sessions are kept, and tell models what to do: [[mcp]], [[hooks]], [llm.providers] and
/// [event_log] of its harn.toml, its skills, its AGENTS.md. Until you have seen and trusted
/// them, `harn chat`, `harn serve`, `harn run -e`, `harn repl`, `harn doctor` and other commands
/// that were given no file of the project use none of that, and say so. `harn run FILE`,
/// `harn test` and `harn serve acp FILE` trust the project of FILE, because you have named it.
/// Keys go to the hosts of their providers in every case.
///
/// What is trusted are the files as they are now; when they change, it is asked again, with the
/// difference. Answers are in harn/trust.toml below XDG_STATE_HOME, or ~/.local/state.
///
/// With --json the answer is {"project", "standing", "digest", "parts": [PART, …], "changes":
/// [CHANGE, …], "unreadable"}. standing is harmless, trusted, refused, unknown or changed. PART
/// has kind (server, hook, provider, log, skill, instructions or setting), name, detail and
/// digest; CHANGE has change (added, changed or removed), name, before and now. With `list` it
/// is {"projects": [PROJECT, …]}, PROJECT with path, verdict, digest, at and by.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// What to do
    #[arg(value_name = "WHAT", value_enum, default_value_t = What::Show)]
    what: What,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Show what the files of this project could do, and whether they may
    Show,
    /// Trust this project as it is now
    Yes,
    /// Do not trust this project, and take back what was answered before
    No,
    /// List the projects that were asked about
    List,
}

pub(crate) fn run(
    arguments: &Arguments,
    form: Form,
    clock: Clock,
    output: &mut Output,
) -> io::Result<Outcome> {
    let projects = projects();
    match arguments.what {
        What::Show => show(&here(&projects), form, output)?,
        What::List => return list(&projects, form, output),
        What::Yes => return answer(&projects, Verdict::Yes, clock, output),
        What::No => return answer(&projects, Verdict::No, clock, output),
    }
    Ok(Outcome::Done)
}

/// What the operator has answered about projects.
pub(super) fn projects() -> Arc<TrustedProjects> {
    let home = environment::variable("HOME").map(PathBuf::from);
    let state = environment::state_folder();
    Arc::new(TrustedProjects::new(state.as_deref(), home))
}

/// The project that we are in.
pub(super) fn here(projects: &TrustedProjects) -> JudgedProject {
    projects.judge(Path::new("."), manifest_here().as_deref())
}

/// Whether the project that we are in is trusted, for commands that were given no file of it.
pub(super) fn of_project_here() -> ProjectTrust {
    here(&projects()).trust()
}

/// Whether the manifest of a project may say where its sessions are kept.
pub(super) fn may_place_log(judged: &JudgedProject) -> bool {
    let mut acting = judged.contents.acting();
    judged.trust() == ProjectTrust::Trusted || !acting.any(|part| part.kind == Kind::Log)
}

fn answer(
    projects: &TrustedProjects,
    verdict: Verdict,
    clock: Clock,
    output: &mut Output,
) -> io::Result<Outcome> {
    if ancestry::is_below_a_run() {
        output.error(format_args!(
            "an answer cannot come from a run; use another terminal"
        ));
        return Ok(Outcome::Problems);
    }
    let judged = here(projects);
    let root = judged.contents.root.display();
    let store = projects.store();
    let stored = match verdict {
        Verdict::Yes => Ok(false),
        Verdict::No => store.forget(&judged.contents.root),
    };
    let now_ms = clock.now_ms();
    let stored = stored.and_then(|_| store.answer(&judged.contents, verdict, "command", now_ms));
    if let Err(error) = stored {
        output.error(format_args!("{}", Untrusted(error)));
        return Ok(Outcome::Problems);
    }
    let word = match verdict {
        Verdict::Yes => "trusted as it is now",
        Verdict::No => "not trusted",
    };
    writeln!(output, "{} is {word}", Untrusted(root))?;
    Ok(Outcome::Done)
}

fn show(judged: &JudgedProject, form: Form, output: &mut Output) -> io::Result<()> {
    let changes = changes(judged);
    if form == Form::Json {
        return output.json(&report(judged, &changes));
    }
    let root = judged.contents.root.display().to_string();
    let said = match &judged.standing {
        Standing::Harmless => "has nothing in it that could act",
        Standing::Trusted => "is trusted as it is",
        Standing::Refused => "is not trusted",
        Standing::Unknown => "is not trusted yet",
        Standing::Changed(_) => "has changed since you were asked, and is not trusted now",
    };
    writeln!(output, "{} {said}", Untrusted(root))?;
    listing::write(judged, output)?;
    if !changes.is_empty() {
        writeln!(output, "what has changed:")?;
        listing::write_changes(&changes, output)?;
    }
    if judged.trust() == ProjectTrust::Untrusted {
        writeln!(output, "`harn trust yes` trusts it as it is now")?;
    }
    Ok(())
}

/// What has changed since somebody last answered; nothing if that was never or is the same.
fn changes(judged: &JudgedProject) -> Vec<Change> {
    match &judged.standing {
        Standing::Changed(before) => difference(before, &judged.contents),
        Standing::Harmless | Standing::Trusted | Standing::Refused | Standing::Unknown => {
            Vec::new()
        }
    }
}

fn report(judged: &JudgedProject, changes: &[Change]) -> Value {
    let standing = match &judged.standing {
        Standing::Harmless => "harmless",
        Standing::Trusted => "trusted",
        Standing::Refused => "refused",
        Standing::Unknown => "unknown",
        Standing::Changed(_) => "changed",
    };
    let parts = judged.contents.parts.iter().map(|part| {
        json!({
            "kind": listing::word(part.kind), "name": part.name, "detail": part.detail,
            "digest": part.digest,
        })
    });
    let changes = changes.iter().map(|change| match change {
        Change::Added(part) => {
            json!({"change": "added", "name": part.name, "before": null, "now": part.detail})
        }
        Change::Changed(part, before) => {
            json!({"change": "changed", "name": part.name, "before": before, "now": part.detail})
        }
        Change::Removed(name, before) => {
            json!({"change": "removed", "name": name, "before": before, "now": null})
        }
    });
    json!({
        "project": judged.contents.root,
        "standing": standing,
        "digest": judged.contents.digest,
        "parts": parts.collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
        "unreadable": judged.contents.unreadable,
    })
}

fn list(projects: &TrustedProjects, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let answers = match projects.store().all() {
        Ok(answers) => answers,
        Err(error) => {
            output.error(format_args!("{}", Untrusted(error)));
            return Ok(Outcome::Problems);
        }
    };
    if form == Form::Json {
        let rows: Vec<Value> = answers.iter().map(row).collect();
        output.json(&json!({"projects": rows}))?;
        return Ok(Outcome::Done);
    }
    if answers.is_empty() {
        writeln!(output, "no project was asked about yet")?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(["TRUSTED", "SINCE", "DIGEST", "PROJECT"]);
    for answer in answers {
        table.add([
            verdict_word(answer.verdict).to_owned(),
            timestamp::rfc3339(answer.at_ms),
            answer.digest.chars().take("sha256:".len() + 12).collect(),
            answer.path.display().to_string(),
        ]);
    }
    table.write(output)?;
    Ok(Outcome::Done)
}

fn row(answer: &Answer) -> Value {
    json!({
        "path": answer.path, "verdict": verdict_word(answer.verdict), "digest": answer.digest,
        "at": timestamp::rfc3339(answer.at_ms), "by": answer.by,
    })
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Yes => "yes",
        Verdict::No => "no",
    }
}
