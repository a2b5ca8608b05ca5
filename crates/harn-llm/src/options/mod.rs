//! The options of a model call, from what a program wrote to what is asked of whom.
//!
//! ```text
//! options ─► whom to ask ─► what to ask (each file one group of keys) ─► what is not possible
//! ```
//!
//! Options arrive as JSON, with closures as `null`; messages name kinds as the language does.

mod gate;
pub mod known;
pub mod limits;
mod messages;
pub mod output;
mod sampling;
pub mod shown_tools;
mod thinking;
pub mod tools;
pub mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::catalog::introspect::Catalog;
use crate::catalog::rank::{self, Decision, Policy};
use crate::catalog::resolve::{self, Wanted};
use crate::catalog::{Invalid, route};
use crate::experiment;
use crate::tool_search::{self, Place, Plan, Search};
use crate::wire::Wire;
use crate::{Reply, Request, ToolSearch};

use gate::Asked;
use limits::Limits;
use output::Structured;
use shown_tools::ShownTools;
use value::{Options, display, kind};

/// How long a whole request may take, in seconds.
const TIMEOUT_S_DEFAULT: u64 = 120;

/// How long to wait before the first retry.
const BACKOFF_MS_DEFAULT: u64 = 250;

/// How many tokens Ollama reads.
const OLLAMA_NUM_CTX_DEFAULT: u64 = 32_768;

/// How long Ollama keeps a model in memory.
const OLLAMA_KEEP_ALIVE_DEFAULT: &str = "30m";

/// The key of a provider's own options that is meant for us.
const FORCE_NATIVE_SEARCH: &str = "force_native_tool_search";

/// A call as it was understood.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// What is asked.
    pub request: Request,
    /// Whom. The model is in the request.
    pub provider: String,
    /// The alias the model was named by.
    pub alias: Option<String>,
    /// `native`, or a format that rides on text.
    pub tool_format: String,
    /// The tools as programs see them in the log of the mock; `None` without any.
    pub native_tools: Option<ShownTools>,
    /// Tools that are held back until they are searched for.
    pub search: Option<Arc<Plan>>,
    /// How long the whole request may take.
    pub timeout_s: u64,
    /// How long the stream may be silent.
    pub idle_timeout_s: Option<u64>,
    /// How often a failed request is repeated.
    pub retries: u64,
    /// How long to wait before the first of them.
    pub backoff_ms: u64,
    /// What is expected of the answer.
    pub structured: Structured,
    /// What it may cost.
    pub limits: Limits,
    /// Where the option `route_policy` led.
    pub routing: Option<Decision>,
    /// Who is asked after a failure.
    pub fallback_chain: Vec<String>,
    /// Options for one provider each, for whoever is asked in the end. Those of the provider
    /// are in [`Request::extra`] already.
    pub provider_options: BTreeMap<String, Map<String, Value>>,
    /// What is said of an experiment with the prompt, which is in the request already.
    pub structural_experiment: Option<Value>,
    /// The variable of the key that is missing, where nothing says whom to ask and a server on
    /// this machine is tried for want of anything better.
    pub missing_key: Option<String>,
    /// The session of an agent loop.
    pub session_id: Option<String>,
    /// The turn of that loop, from 0.
    pub iteration: usize,
    /// The folder in which the calls of that loop are written down, if it has one of its own.
    pub transcript: Option<Arc<Path>>,
    /// Whether a host sees the text while it comes.
    pub user_visible: bool,
    /// What the operator should know.
    pub warnings: Vec<String>,
    /// Told of each whole answer before anything is made of it.
    pub replies: Option<ReplyListener>,
}

/// Hears an answer, its provider and its model.
type HearReply = dyn Fn(&Reply, &str, &str) + Send + Sync;

/// Is told of whole answers, with who has given them: the provider and the model.
#[derive(Clone)]
pub struct ReplyListener(Arc<HearReply>);

impl ReplyListener {
    /// One that calls a function.
    pub fn new(hear: impl Fn(&Reply, &str, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    pub(crate) fn hear(&self, reply: &Reply, provider: &str, model: &str) {
        (self.0)(reply, provider, model);
    }
}

impl fmt::Debug for ReplyListener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ReplyListener")
    }
}

impl CallOptions {
    /// Whether the answer is to be JSON.
    pub fn expects_structure(&self) -> bool {
        self.request.output != crate::Output::Text || self.structured.schema.is_some()
    }

    /// What is merged into the body for a provider: what the caller gave for it, and what the
    /// environment says about Ollama.
    pub fn extra_for(&self, provider: &str, catalog: Catalog<'_>) -> Map<String, Value> {
        let own = self.provider_options.get(provider);
        let mut extra = own.cloned().unwrap_or_default();
        extra.remove(FORCE_NATIVE_SEARCH);
        let entry = catalog.config.providers.get(provider);
        if entry.is_some_and(|entry| route::wire(provider, entry) == Wire::Ollama) {
            add_ollama_settings(&mut extra, catalog);
        }
        extra
    }
}

/// What options are read against.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Providers, models, capabilities, and the environment.
    pub catalog: Catalog<'a>,
    /// Whether a mock answers whatever is asked: fixtures are replayed, or answers are queued.
    /// Then nothing has to be possible and no key is needed.
    pub mocked: bool,
}

/// Reads the options of a call.
///
/// # Errors
/// An option is not understood or not possible, or a key is missing; the text is what the
/// program sees.
pub fn parse(
    prompt: &str,
    system: Option<&str>,
    options: &Map<String, Value>,
    context: Context<'_>,
) -> Result<CallOptions, Invalid> {
    let options = Options(options);
    if options.find("transcript").is_some() {
        return Err(Invalid::new(
            "llm_call / agent_loop: the `transcript` option was removed. Open or open-and-resume \
             a session with agent_session_open(id) and pass `session_id: id` instead.",
        ));
    }
    let mut call = choose(options, context)?;
    let asked = fill(&mut call, prompt, system, options, context)?;
    add_tools(&mut call, options, context)?;
    if !context.mocked {
        let catalog = context.catalog;
        let capability = catalog.capabilities.of(&call.provider, &call.request.model);
        gate::check(&call, asked, &capability)?;
        if call.provider != "mock" {
            // Where calls are forbidden, a key would not help.
            resolve::check_enabled(catalog.environment, &call.provider)?;
            resolve::check_key(catalog.config, catalog.environment, &call.provider)?;
            sampling::drop_unsupported(&mut call, options, catalog);
        }
    }
    Ok(call)
}

/// Whom to ask.
fn choose(options: Options<'_>, context: Context<'_>) -> Result<CallOptions, Invalid> {
    let Catalog {
        config,
        environment,
        ..
    } = context.catalog;
    let policy = match options.given("route_policy") {
        Some(value) => Policy::parse(value)?,
        None => Policy::Manual,
    };
    let (provider, model, tier) = (
        options.text("provider"),
        options.text("model"),
        options.given_text("model_tier"),
    );
    let wanted = Wanted {
        provider: provider.as_deref(),
        model: model.as_deref(),
        tier: tier.as_deref(),
    };
    let routing = rank::decide(config, environment, &policy)?;
    let mut call = CallOptions::default();
    match &routing {
        Some(decision) => {
            call.provider = decision.provider.clone();
            call.request.model = decision.model.clone();
        }
        None => {
            let selection = resolve::select(config, environment, wanted);
            call.provider = selection.provider;
            call.request.model = selection.model;
            call.alias = selection.alias;
            call.warnings.extend(selection.warning);
            call.missing_key = selection.missing_key;
        }
    }
    call.routing = routing;
    call.tool_format = options
        .given_text("tool_format")
        .unwrap_or_else(|| resolve::tool_format(config, &call.provider, call.alias.as_deref()));
    Ok(call)
}

/// What to ask, apart from tools.
fn fill(
    call: &mut CallOptions,
    prompt: &str,
    system: Option<&str>,
    options: Options<'_>,
    context: Context<'_>,
) -> Result<Asked, Invalid> {
    let environment = context.catalog.environment;
    let (output, structured) = output::parse(options)?;
    let (mut thinking, by_effort) = thinking::parse(options)?;
    let (messages, pictured) = messages::parse(prompt, options, &call.provider)?;
    let capability = context
        .catalog
        .capabilities
        .of(&call.provider, &call.request.model);
    let mut is_said = ["thinking", "reasoning_effort"].into_iter();
    if !is_said.any(|key| options.given(key).is_some()) {
        thinking = thinking::usual(environment, &capability);
    }
    call.request.beta_features = capability.anthropic_beta_features;
    for feature in beta_features(options)? {
        if !call.request.beta_features.contains(&feature) {
            call.request.beta_features.push(feature);
        }
    }
    call.limits = limits::parse(options)?;
    call.structured = structured;
    call.retries = options.count("llm_retries").unwrap_or(0);
    call.backoff_ms = options
        .count("llm_backoff_ms")
        .unwrap_or(BACKOFF_MS_DEFAULT);
    call.timeout_s = options
        .positive("timeout")
        .or_else(|| environment.filled("HARN_LLM_TIMEOUT")?.trim().parse().ok())
        .filter(|seconds| *seconds > 0)
        .unwrap_or(TIMEOUT_S_DEFAULT);
    call.idle_timeout_s = options.positive("idle_timeout").or_else(|| {
        let listed = context.catalog.config.models.get(&call.request.model);
        listed.and_then(|model| model.stream_timeout)
    });
    call.fallback_chain = fallback_chain(options);
    call.session_id = options.given_text("session_id");
    call.user_visible = options.flag("user_visible");
    call.provider_options = provider_options(options, context);
    let extra = call.extra_for(&call.provider, context.catalog);
    let request = &mut call.request;
    request.extra = extra;
    request.system = system.map(str::to_owned);
    let mut messages = messages;
    let experiment = options.given("structural_experiment").cloned().or_else(|| {
        let spec = environment.filled("HARN_STRUCTURAL_EXPERIMENT")?;
        Some(spec.into())
    });
    if let Some(experiment) = experiment {
        let system = &mut request.system;
        call.structural_experiment = experiment::apply(&experiment, system, &mut messages)?;
    }
    request.messages = messages.into();
    request.output = output;
    request.thinking = thinking;
    request.sampling = sampling::parse(options, context.catalog.config, &request.model);
    request.tool_choice = options.given("tool_choice").cloned();
    request.prefill = options
        .given_text("prefill")
        .filter(|text| !text.is_empty());
    request.cache = options.flag("cache");
    request.interleaved_thinking = options.flag("interleaved_thinking");
    request.stream = match options.find("stream") {
        Some(value) => value::truthy(value),
        None => !matches!(environment.get("HARN_LLM_STREAM"), Some("0" | "false")),
    };
    Ok(Asked {
        reasoning_effort: by_effort,
        interleaved_thinking: request.interleaved_thinking,
        vision: pictured || options.flag("vision"),
        audio: options.flag("audio"),
        pdf: options.flag("pdf"),
        tools: options.given("tools").is_some(),
    })
}

/// The tools, or what a search leaves of them at first.
fn add_tools(
    call: &mut CallOptions,
    options: Options<'_>,
    context: Context<'_>,
) -> Result<(), Invalid> {
    let search = match options.given("tool_search") {
        Some(value) => Search::parse(value)?,
        None => None,
    };
    let Some(tools) = options.given("tools") else {
        return Ok(());
    };
    let declared = tools::parse(tools)?;
    let catalog = context.catalog;
    let style = route::style(catalog.config, &call.provider);
    let mut head = None;
    match search.filter(|_| !declared.is_empty()) {
        None => call.request.tools = declared.into_iter().map(|tool| tool.spec).collect(),
        Some(search) => {
            let own = call.provider_options.get(&call.provider);
            let plan = search.plan(
                declared,
                Place {
                    provider: &call.provider,
                    model: &call.request.model,
                    capability: &catalog.capabilities.of(&call.provider, &call.request.model),
                    forced: own
                        .and_then(|own| own.get(FORCE_NATIVE_SEARCH))
                        .is_some_and(value::truthy),
                },
            )?;
            call.request.tools = plan.tools.clone().into();
            if plan.native {
                let variant = plan.search.variant;
                let shape = tool_search::head_style(style, &call.provider, &call.request.model);
                head = Some(tool_search::native_head(variant, shape, &plan.tools));
                call.request.tool_search = Some(ToolSearch { variant });
            }
            call.search = Some(Arc::new(plan));
        }
    }
    let mut shown = ShownTools::new(call.request.tools.clone(), style);
    if let Some(head) = head {
        shown.change(|tools| tools.insert(0, head));
    }
    call.native_tools = Some(shown);
    Ok(())
}

/// More names for Anthropic's beta header.
fn beta_features(options: Options<'_>) -> Result<Vec<String>, Invalid> {
    let key = "anthropic_beta_features";
    let names: Vec<String> = match options.given(key) {
        None => Vec::new(),
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(items)) => {
            if let Some(other) = items.iter().find(|item| !item.is_string()) {
                let kind = kind(other);
                return Err(Invalid::new(format!(
                    "{key}: expected list<string>, got {kind}"
                )));
            }
            items.iter().map(display).collect()
        }
        Some(other) => {
            let kind = kind(other);
            return Err(Invalid::new(format!(
                "{key}: expected string or list<string>, got {kind}"
            )));
        }
    };
    let allowed = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    match names
        .iter()
        .find(|name| name.is_empty() || !name.bytes().all(allowed))
    {
        None => Ok(names),
        Some(name) => Err(Invalid::new(format!(
            "{key}: invalid beta feature name `{name}`; expected ASCII letters, digits, '-' or '_'"
        ))),
    }
}

/// Providers to ask after a failure: a list, or names between commas.
fn fallback_chain(options: Options<'_>) -> Vec<String> {
    let names = match options.given("fallback_chain") {
        Some(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
        _ => options.texts("fallback_chain"),
    };
    let names = names.iter().map(|name| name.trim());
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// How much Ollama reads, and how long it keeps a model, unless the caller says so.
fn add_ollama_settings(extra: &mut Map<String, Value>, catalog: Catalog<'_>) {
    let environment = catalog.environment;
    let length: u64 = environment
        .filled("HARN_OLLAMA_NUM_CTX")
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(OLLAMA_NUM_CTX_DEFAULT);
    let keep = environment.filled("HARN_OLLAMA_KEEP_ALIVE");
    extra
        .entry("keep_alive")
        .or_insert_with(|| keep.unwrap_or(OLLAMA_KEEP_ALIVE_DEFAULT).into());
    let options = extra.entry("options").or_insert_with(|| Map::new().into());
    if let Value::Object(options) = options {
        options.entry("num_ctx").or_insert_with(|| length.into());
    }
}

/// The options that are named like a provider.
fn provider_options(
    options: Options<'_>,
    context: Context<'_>,
) -> BTreeMap<String, Map<String, Value>> {
    let known = options.0.iter().filter_map(|(name, value)| match value {
        Value::Object(fields) if context.catalog.config.knows(name) => {
            Some((name.clone(), fields.clone()))
        }
        _ => None,
    });
    known.collect()
}

#[cfg(test)]
mod tests;
