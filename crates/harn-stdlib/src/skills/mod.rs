//! Skills: what an agent is told when it is about to do something of a kind.
//!
//! ```text
//! skill_define ──► registry ─┬─► skill_find, skill_select …    registries again
//!                            ├─► skill_describe                 for people
//!                            └─► skills_catalog_entries ──► render_always_on_catalog
//! ```
//!
//! What needs the files of skills or the loop of an agent is above: discovery, `load_skill`,
//! `skill_render` and activation.

mod catalogue;
mod define;

use harn_machine::{Context, Failure, Registry, Value};

use crate::registries::{SKILLS, text_of};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        (
            "render_always_on_catalog",
            catalogue::render_always_on_catalog,
        ),
        ("skill_count", skill_count),
        ("skill_define", define::skill_define),
        ("skill_describe", skill_describe),
        ("skill_find", skill_find),
        ("skill_list", skill_list),
        ("skill_registry", skill_registry),
        ("skill_remove", skill_remove),
        ("skill_select", skill_select),
        ("skills_catalog_entries", catalogue::skills_catalog_entries),
    ]);
}

fn skill_registry(_: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Ok(SKILLS.empty())
}

fn skill_count(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    SKILLS.count("skill_count", arguments)
}

fn skill_find(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    SKILLS.find("skill_find", arguments)
}

fn skill_remove(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    SKILLS.remove("skill_remove", arguments)
}

fn skill_select(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    SKILLS.select("skill_select", arguments)
}

/// `skill_list(registry)`: what is told about skills, without what they do.
fn skill_list(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let registry = SKILLS.only("skill_list", arguments)?;
    let entries = SKILLS.entries(&registry).map(|entry| {
        let told = entry.iter().filter(|(_, value)| !value.is_callable());
        let told = told.map(|(key, value)| (key.clone(), value.clone()));
        Value::Dict(told.collect())
    });
    Ok(entries.collect())
}

/// `skill_describe(registry)`
fn skill_describe(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let registry = SKILLS.only("skill_describe", arguments)?;
    let skills = SKILLS.sorted(&registry);
    let mut out = String::from("Available skills:");
    if skills.is_empty() {
        out.push_str("\n(none)");
    }
    for (name, skill) in skills {
        out.push_str(&format!("\n- {name}"));
        let description = text_of(skill, "description");
        if !description.is_empty() {
            out.push_str(&format!(": {description}"));
        }
        let when = text_of(skill, "when_to_use");
        if !when.is_empty() {
            out.push_str(&format!("\n  when: {when}"));
        }
    }
    Ok(out.into())
}
