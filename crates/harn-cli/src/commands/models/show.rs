//! `harn models show`: all that is known about a model.

use std::io::{self, Write};

use clap::Args;
use harn_vm::llm::catalog::{price, resolve, route};
use serde_json::{Value, json};

use super::facts::key_of;
use super::{Ctx, Form, Outcome};
use crate::arguments::after_help;
use crate::output::Untrusted;
use crate::suggestion::closest;

const EXAMPLES: &str = "  \
  harn models show sonnet              By an alias
  harn models show gpt-4o-mini         By an id
  harn models show qwen3 --json | jq .capabilities";

/// Show all that is known about a model
///
/// Tells who is asked when a program names this model, over which wire, what it costs and what
/// it can do.
///
/// With --json the answer is what llm_model_info() gives, with wire, url, key and price.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// An alias or an id
    #[arg(value_name = "MODEL")]
    model: String,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> io::Result<Outcome> {
    let name = arguments.model.as_str();
    let info = info(name, ctx);
    if info["alias"].is_null() && info["catalog"].is_null() {
        let config = &ctx.known.config;
        let known = config.aliases.keys().chain(config.models.keys());
        let meant = closest(name, known.map(String::as_str));
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        ctx.output.note(format_args!(
            "`{}` is not listed, its id is passed on as it is{meant}",
            Untrusted(name)
        ));
    }
    match ctx.form {
        Form::Json => ctx.output.json(&info)?,
        Form::Text => write(&info, ctx)?,
    }
    Ok(Outcome::Done)
}

fn info(name: &str, ctx: &Ctx<'_>) -> Value {
    let catalog = ctx.known.catalog(&ctx.environment);
    let mut info = catalog.model_info(name);
    let found = resolve::find(&ctx.known.config, &ctx.environment, name);
    let entry = ctx.known.config.providers.get(&found.provider);
    let price = price::price(&ctx.known.config, Some(&found.provider), &found.id);
    let key = key_of(&ctx.known, &ctx.environment, &found.provider);
    info["wire"] = json!(entry.map(|entry| route::wire(&found.provider, entry).name()));
    info["url"] = json!(entry.map(|entry| {
        let base = route::base_url(entry, &ctx.environment);
        format!("{base}{}", entry.chat_endpoint)
    }));
    info["key"] = json!(key);
    info["price"] = json!(price.map(|price| json!({
        "input_per_mtok": price.of(1e6, 0.0),
        "output_per_mtok": price.of(0.0, 1e6),
    })));
    info
}

fn write(info: &Value, ctx: &mut Ctx<'_>) -> io::Result<()> {
    let provider = info["provider"].as_str().unwrap_or_default();
    let key = key_of(&ctx.known, &ctx.environment, provider).tell();
    let price = match &info["price"] {
        Value::Null => "unknown".to_owned(),
        price => format!(
            "${} in, ${} out for a million tokens",
            price["input_per_mtok"], price["output_per_mtok"]
        ),
    };
    let context = match &info["catalog"]["context_window"] {
        Value::Null => "unknown".to_owned(),
        tokens => format!("{tokens} tokens"),
    };
    let rows = [
        ("id", shown(&info["id"])),
        ("alias", shown(&info["alias"])),
        ("provider", shown(&info["provider"])),
        ("wire", shown(&info["wire"])),
        ("url", shown(&info["url"])),
        ("key", key),
        ("tier", shown(&info["tier"])),
        ("tool format", shown(&info["tool_format"])),
        ("context", context),
        ("price", price),
        ("cheap sibling", shown(&info["qc_default_model"])),
    ];
    for (label, text) in rows {
        line(label, &text, ctx)?;
    }
    let palette = ctx.output.palette();
    writeln!(ctx.output, "\n{}", palette.heading("capabilities"))?;
    if let Value::Object(capabilities) = &info["capabilities"] {
        for (name, value) in capabilities {
            if !matches!(name.as_str(), "provider" | "model") {
                line(name, &shown(value), ctx)?;
            }
        }
    }
    Ok(())
}

fn line(label: &str, text: &str, ctx: &mut Ctx<'_>) -> io::Result<()> {
    let palette = ctx.output.palette();
    let label = format!("{label:<30}");
    writeln!(ctx.output, "{} {}", palette.name(label), Untrusted(text))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
