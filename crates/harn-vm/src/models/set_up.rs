//! A desk as options and environment want it.
//!
//! ```text
//! provider file, manifest ─► KnownModels ─┐
//! fixtures, scenario ─────────────────────┼─► Desk
//! network, or tape ─► Transport ──────────┤
//! recordings, without secrets ────────────┘
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use harn_agent::events::{Completeness, KnownSecret, KnownSecrets, RedactionPolicy};
use harn_agent::llm::desk::{
    ByHash, Desk, KnownModels, Ports, Recording, Setup, Staged, TakeLine, lines_to, transcript_in,
};
use harn_agent::llm::mock::Mock;
use harn_agent::llm::mock::by_hash::Folder;
use harn_agent::llm::scenario::Scenario;
use harn_agent::llm::tape::Redaction;

use super::carrier::Carrier;
use super::options::{ModelOptions, Rerun, ScenarioUse, Warn};
use crate::json::from_json;
use crate::policy::Policy;
use crate::world::now;

/// The variable that says where every call is written down.
const TRANSCRIPT_FOLDER: &str = "HARN_LLM_TRANSCRIPT_DIR";

/// A desk as options and environment want it.
pub(super) fn set_up(
    options: &ModelOptions,
    environment: &BTreeMap<String, String>,
    policy: &Policy,
) -> Result<Arc<Desk>, String> {
    let known = KnownModels::read(
        options.manifest.as_deref(),
        options.trust.known(),
        environment,
    )?;
    let redaction = redaction(&known, environment);
    let carrier = Carrier::of(options.tape.as_ref())?;
    let environment = &carrier.environment(&known.config, environment);
    let mut mock = Mock::default();
    for file in &options.fixtures {
        mock.load_fixtures(&file.name, &file.text)?;
    }
    Ok(Arc::new(Desk::new(Setup {
        environment: environment.clone(),
        config: known.config,
        capabilities: known.capabilities,
        mock,
        transport: carrier.transport(environment, &redaction, policy)?,
        ports: ports(options.warn.clone()),
        recording: recording(options, environment, redaction)?,
        staged: options.scenario.as_ref().map(staged).transpose()?,
    })))
}

/// Takes the keys of providers out of what is written down, by their values, and whatever else
/// the rules for events find. The keys are known to those rules from now on as well.
fn redaction(known: &KnownModels, environment: &BTreeMap<String, String>) -> Redaction {
    for (name, key) in known.secrets(environment) {
        KnownSecrets::of_process().learn(KnownSecret::found(name, key));
    }
    let policy = RedactionPolicy::new();
    let hidden = move |text: &str| policy.redact_text(text, Completeness::Whole).into_owned();
    known.redaction(environment).with_host(hidden)
}

fn staged(scenario: &ScenarioUse) -> Result<Staged, String> {
    let ScenarioUse { file, in_real_time } = scenario;
    let scenario = Scenario::parse(&file.name, &file.text);
    Ok(Staged {
        scenario: scenario.map_err(|mistake| mistake.to_string())?,
        in_real_time: *in_real_time,
    })
}

fn recording(
    options: &ModelOptions,
    environment: &BTreeMap<String, String>,
    redaction: Redaction,
) -> Result<Recording, String> {
    let transcript = environment.get(TRANSCRIPT_FOLDER);
    let transcript = transcript.filter(|folder| !folder.trim().is_empty());
    Ok(Recording {
        redaction,
        lines: options
            .record_fixtures
            .as_deref()
            .map(lines_to)
            .transpose()?,
        transcript: transcript.map(transcript_of).transpose()?,
        by_hash: options.rerun.as_ref().map(|rerun| match rerun {
            Rerun::Record(folder) => ByHash::Record(Box::new(Folder::new(folder))),
            Rerun::Replay(folder) => ByHash::Replay(Box::new(Folder::new(folder))),
        }),
    })
}

fn transcript_of(folder: &String) -> Result<TakeLine, String> {
    let opened = transcript_in(Path::new(folder));
    opened.map_err(|error| format!("{TRANSCRIPT_FOLDER} {error}"))
}

fn ports(warn: Option<Warn>) -> Ports {
    Ports {
        now: Arc::new(now),
        chance: Arc::new(|| f64::from(random_u32()) / f64::from(u32::MAX)),
        new_id: Arc::new(new_id),
        schema_errors: Arc::new(|schema, data| {
            harn_stdlib::schema_errors(&from_json(schema), &from_json(data))
        }),
        warn: match warn {
            Some(Warn(warn)) => warn,
            None => Arc::new(|text| tracing::warn!("{text}")),
        },
    }
}

/// An id that nobody else has.
pub fn new_id() -> String {
    harn_stdlib::uuid_of_time(now(), random_octets())
}

fn random_u32() -> u32 {
    let [a, b, c, d, ..] = random_octets();
    u32::from_le_bytes([a, b, c, d])
}

fn random_octets() -> [u8; 16] {
    let mut octets = [0; 16];
    // Without chance, ids repeat and pauses are even; nothing worth failing for.
    let _ = getrandom::fill(&mut octets);
    octets
}
