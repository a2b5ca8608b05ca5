//! `harn check --provider-matrix`: which models can do what.

use std::io;

use harn_vm::KnownModels;
use harn_vm::llm::catalog::ProjectTrust;
use harn_vm::llm::catalog::capabilities::{Origin, RuleView};
use serde_json::{Value, json};

use super::models::abilities;
use super::project::manifest_here;
use super::{Form, Outcome};
use crate::environment;
use crate::output::{Output, Untrusted};
use crate::table::Table;

/// Prints all rules in the order in which they are tried.
pub(super) fn run(form: Form, output: &mut Output) -> io::Result<Outcome> {
    let environment = environment::all();
    let known = match KnownModels::read(
        manifest_here().as_deref(),
        ProjectTrust::Trusted,
        &environment,
    ) {
        Ok(known) => known,
        Err(why) => {
            output.error(format_args!("{}", Untrusted(why)));
            return Ok(Outcome::Problems);
        }
    };
    let rules: Vec<RuleView<'_>> = known.capabilities.rules().collect();
    let families = known.capabilities.families();
    if form == Form::Json {
        let rules: Vec<Value> = rules.iter().map(document).collect();
        output.json(&json!({"rules": rules, "families": families}))?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(["PROVIDER", "MODELS", "TOOLS", "THINKING", "CAN"]);
    for rule in &rules {
        let version = rule
            .version_min
            .map(|(major, minor)| format!(" from {major}.{minor}"));
        let tools = rule.capability.preferred_tool_format.clone();
        let tools = tools.unwrap_or_else(|| "-".to_owned());
        table.add([
            rule.provider.to_owned(),
            rule.models.join(" ") + &version.unwrap_or_default(),
            tools,
            or_dash(rule.capability.thinking_modes.join(" ")),
            or_dash(abilities(rule.capability).join(" ")),
        ]);
    }
    table.write(output)?;
    let families = families
        .iter()
        .map(|(provider, family)| format!("{provider} → {family}"));
    let families: Vec<String> = families.collect();
    output.note(format_args!(
        "the first rule that fits decides; without one, those of the family do: {}",
        Untrusted(families.join(", "))
    ));
    Ok(Outcome::Done)
}

fn or_dash(text: String) -> String {
    match text.is_empty() {
        true => "-".to_owned(),
        false => text,
    }
}

fn document(rule: &RuleView<'_>) -> Value {
    json!({
        "provider": rule.provider,
        "models": rule.models,
        "version_min": rule.version_min,
        "origin": match rule.origin {
            Origin::BuiltIn => "built_in",
            Origin::Manifest => "manifest",
            Origin::Program => "program",
        },
        "capabilities": abilities(rule.capability),
        "thinking_modes": rule.capability.thinking_modes,
        "tool_search": rule.capability.tool_search,
        "max_tools": rule.capability.max_tools,
        "preferred_tool_format": rule.capability.preferred_tool_format,
        "tool_mode_parity": rule.capability.tool_mode_parity.word(),
    })
}
