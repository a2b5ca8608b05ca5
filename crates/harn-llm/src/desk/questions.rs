//! The builtins that a desk answers at once: what it knows, and what it is told.

use serde_json::{Value, json};

use super::{Desk, Thrown};
use crate::catalog::price;
use crate::options::value::display;

type Answer = Result<Value, Thrown>;

impl Desk {
    /// Answers a builtin that asks no model; `None` if it is not one of them.
    pub fn answer(&self, builtin: &str, arguments: &[Value]) -> Option<Answer> {
        let answer = self.about_mocks(builtin, arguments);
        let answer = answer.or_else(|| self.about_money(builtin, arguments));
        let answer = answer.or_else(|| self.about_capabilities(builtin, arguments));
        answer.or_else(|| self.about_models(builtin, arguments).map(Ok))
    }

    fn about_mocks(&self, builtin: &str, arguments: &[Value]) -> Option<Answer> {
        let mock = &mut self.state().mock;
        let done = |result: Result<(), String>| match result {
            Ok(()) => Ok(Value::Null),
            Err(text) => Err(Thrown::Runtime(text)),
        };
        Some(match builtin {
            "llm_mock" => done(mock.add(arguments.first().unwrap_or(&Value::Null))),
            "llm_mock_calls" => Ok(mock.calls()),
            "llm_mock_clear" => {
                mock.clear();
                Ok(Value::Null)
            }
            "llm_mock_push_scope" => {
                mock.push_scope();
                Ok(Value::Null)
            }
            "llm_mock_pop_scope" => match mock.pop_scope() {
                Ok(()) => Ok(Value::Null),
                Err(text) => Err(Thrown::Plain(text)),
            },
            _ => return None,
        })
    }

    fn about_money(&self, builtin: &str, arguments: &[Value]) -> Option<Answer> {
        let state = &mut *self.state();
        Some(match builtin {
            "llm_budget" => match arguments.first().and_then(Value::as_f64) {
                Some(dollars) => {
                    state.spending.cap_usd = Some(dollars);
                    Ok(Value::Null)
                }
                None => plain("llm_budget: requires a numeric argument"),
            },
            "llm_budget_remaining" => Ok(json!(state.spending.remaining_usd())),
            "llm_session_cost" => Ok(state.trace.session_cost(state.spending.spent_usd)),
            "llm_usage" => Ok(state.trace.usage()),
            "llm_cost" => {
                let tokens = |at: usize| arguments.get(at).and_then(Value::as_i64).unwrap_or(0);
                let model = text(arguments, 0);
                let dollars = price::cost(&state.config, None, &model, tokens(1), tokens(2));
                Ok(json!(dollars))
            }
            "llm_rate_limit" => {
                let provider = text(arguments, 0);
                let configured = state.config.rpm(&self.environment, &provider);
                rate_limit(&mut state.rates, &provider, arguments.get(1), configured)
            }
            "agent_trace" => Ok(state.trace.events()),
            "agent_trace_summary" => Ok(state.trace.summary()),
            _ => return None,
        })
    }

    fn about_capabilities(&self, builtin: &str, arguments: &[Value]) -> Option<Answer> {
        let state = &mut *self.state();
        Some(match builtin {
            "provider_register" => {
                state.config.register(&text(arguments, 0));
                Ok(json!(true))
            }
            "provider_capabilities" => {
                let (provider, model) = (text(arguments, 0), text(arguments, 1));
                Ok(state.capabilities.describe(&provider, &model))
            }
            "provider_capabilities_install" => match arguments.first() {
                Some(Value::String(source)) => match state.capabilities.install(source) {
                    Ok(()) => Ok(json!(true)),
                    Err(invalid) => plain(invalid.to_string()),
                },
                _ => plain("provider_capabilities_install: TOML source string required"),
            },
            "provider_capabilities_clear" => {
                state.capabilities.clear();
                Ok(json!(true))
            }
            _ => return None,
        })
    }

    fn about_models(&self, builtin: &str, arguments: &[Value]) -> Option<Value> {
        let state = self.state();
        let catalog = self.catalog(&state);
        let name = text(arguments, 0);
        Some(match builtin {
            "llm_providers" => catalog.providers(),
            "llm_config" => match arguments.first() {
                None | Some(Value::Null) => catalog.all_providers(),
                Some(_) => catalog.provider(&name),
            },
            "llm_infer_provider" => catalog.infer_provider(&name),
            "llm_model_tier" => catalog.model_tier(&name),
            "llm_resolve_model" => catalog.resolve_model(&name),
            "llm_model_info" => catalog.model_info(&name),
            "llm_known_models" => catalog.known_models(),
            "llm_available_providers" => catalog.available_providers(),
            "llm_qc_default_model" => catalog.qc_default_model(&name),
            "llm_provider_catalog" => catalog.provider_catalog(),
            "llm_pick_model" => {
                let provider = arguments.get(1).and_then(|options| options.get("provider"));
                let provider = provider.filter(|provider| !provider.is_null()).map(display);
                catalog.pick_model(&name, provider.as_deref())
            }
            "llm_info" => catalog.info(),
            _ => return None,
        })
    }

    /// Turns the counting of calls on or off.
    pub fn count_calls(&self, on: bool) {
        self.state().trace.count(on);
    }
}

fn rate_limit(
    rates: &mut crate::rate::RateLimits,
    provider: &str,
    options: Option<&Value>,
    configured: Option<u64>,
) -> Answer {
    if provider.is_empty() {
        return plain("llm_rate_limit: provider name is required");
    }
    rates.set_first(provider, configured.and_then(|rpm| u32::try_from(rpm).ok()));
    match options {
        None | Some(Value::Null) => Ok(json!(rates.get(provider))),
        Some(options) => match options.get("rpm").and_then(Value::as_i64) {
            Some(rpm) => {
                let rpm = u32::try_from(rpm).ok().filter(|rpm| *rpm > 0);
                rates.set(provider, rpm);
                Ok(json!(true))
            }
            None => plain("llm_rate_limit: options must include 'rpm' (integer)"),
        },
    }
}

/// The text of an argument; nothing for one that is not there.
fn text(arguments: &[Value], at: usize) -> String {
    let given = arguments.get(at).filter(|value| !value.is_null());
    given.map(display).unwrap_or_default()
}

fn plain(text: impl Into<String>) -> Answer {
    Err(Thrown::Plain(text.into()))
}
