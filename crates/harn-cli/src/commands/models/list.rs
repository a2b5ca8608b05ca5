//! `harn models list`: which providers and models there are.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use clap::Args;
use harn_vm::llm::catalog::{price, route};
use serde::Serialize;

use super::facts::{Key, abilities, key_of};
use super::{Ctx, Form, Outcome};
use crate::arguments::after_help;
use crate::table::Table;

const EXAMPLES: &str = "  \
  harn models list                     All providers and models that are known
  harn models list --available         Those that can be asked now
  harn models list --provider openai   Those of a provider
  harn models list --json | jq -r '.models[].id'";

/// List providers and models
///
/// Prices are dollars for a million tokens. A model need not be listed to be asked: its id
/// tells the provider.
///
/// With --json the answer is {"providers": [PROVIDER, …], "models": [MODEL, …]}. PROVIDER has
/// name, display_name, base_url, wire and key: {variables, found_in, available}. MODEL has id,
/// provider, aliases, context_window, input_per_mtok, output_per_mtok, capabilities and
/// available.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// Only this provider and its models
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// Only what can be asked now: the key is there, or none is needed
    #[arg(long)]
    available: bool,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Listing {
    providers: Vec<Provider>,
    models: Vec<Model>,
}

#[derive(Serialize)]
struct Provider {
    name: String,
    display_name: Option<String>,
    base_url: String,
    wire: &'static str,
    key: Key,
}

#[derive(Serialize)]
struct Model {
    id: String,
    provider: String,
    aliases: Vec<String>,
    context_window: Option<u64>,
    input_per_mtok: Option<f64>,
    output_per_mtok: Option<f64>,
    capabilities: Vec<&'static str>,
    available: bool,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> io::Result<Outcome> {
    if let Some(name) = &arguments.provider
        && !ctx.known.config.knows(name)
    {
        let known = ctx.known.config.providers.keys();
        let known: Vec<&str> = known.map(String::as_str).collect();
        let known = known.join(", ");
        ctx.output.error(format_args!(
            "there is no provider `{name}`; there are {known}"
        ));
        return Ok(Outcome::Problems);
    }
    let is_wanted = |provider: &str, available: bool| {
        let wanted = arguments.provider.as_deref();
        wanted.is_none_or(|wanted| wanted == provider) && (available || !arguments.available)
    };
    let mut listing = Listing {
        providers: providers(ctx),
        models: models(ctx),
    };
    listing
        .providers
        .retain(|one| is_wanted(&one.name, one.key.available));
    listing
        .models
        .retain(|one| is_wanted(&one.provider, one.available));
    match ctx.form {
        Form::Json => ctx.output.json(&listing)?,
        Form::Text => write(&listing, ctx)?,
    }
    Ok(Outcome::Done)
}

fn providers(ctx: &Ctx<'_>) -> Vec<Provider> {
    let entries = ctx.known.config.providers.iter();
    entries
        .map(|(name, entry)| Provider {
            name: name.clone(),
            display_name: entry.display_name.clone(),
            base_url: route::base_url(entry, &ctx.environment),
            wire: route::wire(name, entry).name(),
            key: key_of(&ctx.known, &ctx.environment, name),
        })
        .collect()
}

/// The models of the catalog and those that only an alias knows.
fn models(ctx: &Ctx<'_>) -> Vec<Model> {
    let config = &ctx.known.config;
    let mut aliases: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (id, model) in &config.models {
        aliases.entry((&model.provider, id)).or_default();
    }
    for (name, alias) in &config.aliases {
        let model = aliases.entry((&alias.provider, &alias.id)).or_default();
        model.insert(name);
    }
    let models = aliases.into_iter().map(|((provider, id), aliases)| {
        let listed = config.models.get(id);
        let price = price::price(config, Some(provider), id);
        let capability = ctx.known.capabilities.of(provider, id);
        Model {
            id: id.to_owned(),
            provider: provider.to_owned(),
            aliases: aliases.into_iter().map(str::to_owned).collect(),
            context_window: listed.map(|model| model.context_window),
            input_per_mtok: price.map(|price| price.of(1e6, 0.0)),
            output_per_mtok: price.map(|price| price.of(0.0, 1e6)),
            capabilities: abilities(&capability),
            available: key_of(&ctx.known, &ctx.environment, provider).available,
        }
    });
    models.collect()
}

fn write(listing: &Listing, ctx: &mut Ctx<'_>) -> io::Result<()> {
    let mut table = Table::new(["PROVIDER", "KEY", "WHERE"]);
    for one in &listing.providers {
        table.add([
            one.name.clone(),
            one.key.tell_briefly(),
            one.base_url.clone(),
        ]);
    }
    table.write(ctx.output)?;
    if listing.models.is_empty() {
        ctx.output
            .note(format_args!("no models; --available may hide some"));
        return Ok(());
    }
    writeln!(ctx.output)?;
    let mut table = Table::new([
        "MODEL", "PROVIDER", "CONTEXT", "IN", "OUT", "CAN", "ALIASES",
    ]);
    for one in &listing.models {
        let number = |number: Option<f64>| number.map_or("-".to_owned(), |price| price.to_string());
        let context = one.context_window.map_or("-".to_owned(), thousands);
        table.add([
            one.id.clone(),
            one.provider.clone(),
            context,
            number(one.input_per_mtok),
            number(one.output_per_mtok),
            one.capabilities.join(" "),
            one.aliases.join(" "),
        ]);
    }
    table.write(ctx.output)
}

/// A number of tokens, as people say it.
fn thousands(tokens: u64) -> String {
    match tokens {
        0..1000 => tokens.to_string(),
        1000..1_000_000 => format!("{}k", tokens / 1000),
        _ if tokens.is_multiple_of(1_000_000) => format!("{}M", tokens / 1_000_000),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}
