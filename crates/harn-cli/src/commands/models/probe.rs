//! `harn models probe`: whether a provider answers, really.

use std::io::{self, Write};
use std::time::Instant;

use clap::Args;
use harn_vm::llm::catalog::resolve;
use harn_vm::llm::desk::Probed;
use harn_vm::llm::mock::PROVIDER as MOCK;
use harn_vm::project::TrustSource;
use harn_vm::{ModelAsker, ModelOptions};
use serde::Serialize;
use serde_json::Value;

use super::super::project::manifest_here;
use super::super::trust;
use super::facts::{key_of, next_step};
use super::{Ctx, Form, Outcome};
use crate::arguments::after_help;
use crate::output::Untrusted;

const EXAMPLES: &str = "  \
  harn models probe anthropic          Whether it answers and takes the key
  harn models probe openai gpt-4o      Also whether a model does; costs a few tokens
  harn models probe ollama llama3.2 --json";

/// Ask a provider whether it is there
///
/// Really asks: first the provider whether it is there, then, if a model is named, that model
/// for one word, as a stream. Tells how long it took and what was seen, or what to do next.
///
/// With --json the answer is {"provider", "model", "ok", "steps": [STEP, …]}. STEP has step
/// (healthcheck or call), ok, took_ms, message, next, and for a call first_piece_ms, pieces,
/// input_tokens, output_tokens, stop_reason and text.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The provider
    #[arg(value_name = "PROVIDER")]
    provider: String,

    /// A model of it, by alias or id
    #[arg(value_name = "MODEL")]
    model: Option<String>,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Report {
    provider: String,
    model: Option<String>,
    ok: bool,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    step: &'static str,
    ok: bool,
    took_ms: i64,
    message: String,
    next: Option<String>,
    #[serde(flatten)]
    seen: Option<Seen>,
}

#[derive(Serialize)]
struct Seen {
    first_piece_ms: Option<i64>,
    pieces: u64,
    thoughts: u64,
    input_tokens: u64,
    output_tokens: u64,
    stop_reason: Option<String>,
    text: String,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> io::Result<Outcome> {
    let options = ModelOptions {
        manifest: manifest_here(),
        trust: TrustSource::Known(trust::of_project_here()),
        ..ModelOptions::default()
    };
    let asker = match ModelAsker::new(&options, &ctx.environment) {
        Ok(asker) => asker,
        Err(why) => {
            ctx.output.error(format_args!("{}", Untrusted(why)));
            return Ok(Outcome::Problems);
        }
    };
    let provider = arguments.provider.as_str();
    let model = arguments.model.as_deref();
    let model = model.map(|name| resolve::find(&ctx.known.config, &ctx.environment, name).id);
    let mut steps = vec![healthcheck(&asker, provider, ctx)];
    if let (true, Some(model)) = (steps[0].ok, &model) {
        steps.push(call(&asker, provider, model, ctx));
    }
    let report = Report {
        provider: provider.to_owned(),
        ok: steps.iter().all(|step| step.ok),
        model,
        steps,
    };
    match ctx.form {
        Form::Json => ctx.output.json(&report)?,
        Form::Text => write(&report, ctx)?,
    }
    Ok(match report.ok {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

fn healthcheck(asker: &ModelAsker, provider: &str, ctx: &Ctx<'_>) -> Step {
    let started = Instant::now();
    let health = asker.healthcheck(provider);
    let took_ms = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
    let ok = health["valid"] == true;
    let reason = health["metadata"]["reason"].as_str().unwrap_or_default();
    Step {
        step: "healthcheck",
        ok,
        took_ms,
        message: text(&health["message"]),
        next: (!ok).then(|| next(reason, provider, ctx)),
        seen: None,
    }
}

fn call(asker: &ModelAsker, provider: &str, model: &str, ctx: &Ctx<'_>) -> Step {
    if provider != MOCK
        && let Err(disabled) = resolve::check_enabled(&ctx.environment, provider)
    {
        return Step {
            step: "call",
            ok: false,
            took_ms: 0,
            message: disabled.to_string(),
            next: Some("unset HARN_LLM_CALLS_DISABLED".to_owned()),
            seen: None,
        };
    }
    match asker.probe(provider, model) {
        Ok(probed) => Step {
            step: "call",
            ok: true,
            took_ms: probed.took_ms,
            message: format!("{} answers", probed.model),
            next: None,
            seen: Some(Seen::of(probed)),
        },
        Err(error) => Step {
            step: "call",
            ok: false,
            took_ms: 0,
            message: text(&error["message"]),
            next: Some(next(&text(&error["category"]), provider, ctx)),
            seen: None,
        },
    }
}

fn next(reason: &str, provider: &str, ctx: &Ctx<'_>) -> String {
    let key = key_of(&ctx.known, &ctx.environment, provider);
    next_step(reason, provider, &key)
}

impl Seen {
    fn of(probed: Probed) -> Self {
        let stop = probed.stop.and_then(|stop| stop.word);
        Self {
            first_piece_ms: probed.first_piece_ms,
            pieces: probed.pieces,
            thoughts: probed.thoughts,
            input_tokens: probed.usage.input,
            output_tokens: probed.usage.output,
            stop_reason: stop,
            text: probed.text,
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn write(report: &Report, ctx: &mut Ctx<'_>) -> io::Result<()> {
    let palette = ctx.output.palette();
    for step in &report.steps {
        let verdict = match step.ok {
            true => palette.fine("ok"),
            false => palette.problem("failed"),
        };
        let message = Untrusted(&step.message);
        writeln!(
            ctx.output,
            "{}: {verdict} after {}ms, {message}",
            step.step, step.took_ms
        )?;
        if let Some(seen) = &step.seen {
            let first = seen
                .first_piece_ms
                .map_or("it came in one piece".to_owned(), |ms| {
                    format!("first piece after {ms}ms")
                });
            let stop = seen.stop_reason.as_deref().unwrap_or("-");
            writeln!(
                ctx.output,
                "      {first}; pieces of text: {}, of thoughts: {}",
                seen.pieces, seen.thoughts
            )?;
            writeln!(
                ctx.output,
                "      {} tokens in, {} out, stop reason {}",
                seen.input_tokens,
                seen.output_tokens,
                Untrusted(stop)
            )?;
            writeln!(ctx.output, "      said {:?}", seen.text)?;
        }
        if let Some(next) = &step.next {
            writeln!(
                ctx.output,
                "      {} {}",
                palette.heading("next:"),
                Untrusted(next)
            )?;
        }
    }
    Ok(())
}
