//! Asks until somebody answers: the provider asked for, again if that may help, then those
//! that stand in for it.

use std::time::Duration;

use serde_json::json;

use super::{ByHash, Desk, State, Thrown};
use crate::budget::{Projection, input_tokens, messages_tokens};
use crate::catalog::{price, rank, resolve, route};
use crate::classify::{is_empty_completion, thrown};
use crate::exchange::{Exchange, Listener, ask};
use crate::mock::{self, by_hash};
use crate::options::CallOptions;
use crate::options::limits::Limits;
use crate::retry::Retry;
use crate::transport::{NOT_REACHED, TimeLimits};
use crate::{Category, Error, Reply, Request, Usage};

/// An answer and who gave it.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) reply: Reply,
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) took_ms: i64,
    /// What was charged for it; completions are free.
    pub(super) cost_usd: f64,
    /// What the log of calls knows the call by, if there is one.
    pub(super) call_id: Option<String>,
}

/// Why nobody was asked, or nobody answered.
pub(super) enum Refusal {
    /// Nobody answered.
    Failed(Error),
    /// It would cost too much, or may not be asked at all.
    Forbidden(Thrown),
}

impl Desk {
    /// Asks until somebody answers.
    pub(super) async fn ask(
        &self,
        call: &CallOptions,
        listener: &mut Listener<'_>,
    ) -> Result<Answered, Thrown> {
        let mut provider = call.provider.clone();
        let mut standing_in: Option<std::vec::IntoIter<String>> = None;
        loop {
            let failed = match self.ask_provider(&provider, call, listener).await {
                Ok(answered) => return Ok(answered),
                Err(Refusal::Forbidden(thrown)) => return Err(thrown),
                Err(Refusal::Failed(error)) => error,
            };
            let others = standing_in.get_or_insert_with(|| self.fallbacks(call).into_iter());
            match others.next() {
                Some(next) => provider = next,
                None => {
                    let model = &call.request.model;
                    return Err(Thrown::Dict(thrown(&failed, &provider, model, self.now())));
                }
            }
        }
    }

    /// Asks that provider and nobody else.
    pub(super) async fn ask_only(
        &self,
        call: &CallOptions,
        listener: &mut Listener<'_>,
    ) -> Result<Answered, Thrown> {
        let (provider, model) = (&call.provider, &call.request.model);
        let answered = self.ask_provider(provider, call, listener).await;
        answered.map_err(|refusal| match refusal {
            Refusal::Forbidden(forbidden) => forbidden,
            Refusal::Failed(error) => Thrown::Dict(thrown(&error, provider, model, self.now())),
        })
    }

    fn fallbacks(&self, call: &CallOptions) -> Vec<String> {
        let state = self.state();
        rank::fallbacks(
            &state.config,
            &self.environment,
            state.mock.is_scripted() || state.recording.replays(),
            &call.provider,
            &call.fallback_chain,
        )
    }

    /// Asks one provider, again if that may help.
    async fn ask_provider(
        &self,
        provider: &str,
        call: &CallOptions,
        listener: &mut Listener<'_>,
    ) -> Result<Answered, Refusal> {
        let retry = Retry {
            retries: u32::try_from(call.retries).unwrap_or(u32::MAX),
            backoff_ms: call.backoff_ms,
        };
        let mut attempt = 0;
        loop {
            let error = match self.ask_once(provider, call, listener).await {
                Err(Refusal::Failed(error)) => error,
                outcome => return outcome,
            };
            let chance = (self.ports.chance)();
            let Some(pause) = retry.pause(attempt, &error, self.now(), chance) else {
                return Err(Refusal::Failed(error));
            };
            attempt += 1;
            if is_empty_completion(&error.message) {
                let model = &call.request.model;
                let event = json!({
                    "type": "empty_completion_retry",
                    "attempt": attempt,
                    "provider": provider,
                    "model": model,
                    "error": error.message,
                });
                self.state().trace.push(event.clone());
                self.log(call.transcript.as_ref(), vec![event]);
            }
            self.pause(provider, pause).await;
        }
    }

    /// The mock is in no hurry to be asked again, and tests are.
    async fn pause(&self, provider: &str, pause: Duration) {
        let is_patient = self.state().is_patient(provider);
        if is_patient && !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }

    async fn ask_once(
        &self,
        provider: &str,
        call: &CallOptions,
        listener: &mut Listener<'_>,
    ) -> Result<Answered, Refusal> {
        self.check_budget(provider, call)?;
        let call_id = self.log_request(provider, call);
        let started = self.now();
        let answer = self.answer_of(provider, call, listener).await?;
        let took_ms = self.now() - started;
        let reply = answer.as_ref().map(|answer| &answer.reply);
        self.log_response(call, call_id.as_deref(), took_ms, reply);
        self.record(provider, &call.request, &answer);
        let mock::Answer { reply, provider } = answer.map_err(Refusal::Failed)?;
        let model = reply
            .model
            .clone()
            .unwrap_or_else(|| call.request.model.clone());
        if let Some(replies) = &call.replies {
            replies.hear(&reply, &provider, &model);
        }
        let cost_usd = self.charge(&provider, &model, &reply.usage, took_ms)?;
        Ok(Answered {
            reply,
            provider,
            model,
            took_ms,
            cost_usd,
            call_id,
        })
    }

    /// What whoever stands in says, or else the provider.
    async fn answer_of(
        &self,
        provider: &str,
        call: &CallOptions,
        listener: &mut Listener<'_>,
    ) -> Result<Result<mock::Answer, Error>, Refusal> {
        if let Some(answer) = self.answer_from_script(provider, call) {
            return Ok(answer);
        }
        let reply = match self.play(call, listener).await {
            Some(reply) => reply,
            None => self.exchange(provider, call, listener).await?,
        };
        let provider = provider.to_owned();
        Ok(reply.map(|reply| mock::Answer { reply, provider }))
    }

    pub(super) fn check_budget(&self, provider: &str, call: &CallOptions) -> Result<(), Refusal> {
        if call.limits == Limits::default() && self.state().spending.cap_usd.is_none() {
            return Ok(());
        }
        let request = &call.request;
        let native_tools = call.native_tools.as_deref().unwrap_or_default();
        let output = request.sampling.max_tokens;
        let state = &mut *self.state();
        let asked = state.asked_tokens.get_or_insert_with(messages_tokens);
        let [messages] = asked.count(&request.messages);
        let input = input_tokens(request.system.as_deref(), messages, native_tools);
        let projection = Projection {
            input_tokens: input,
            output_tokens: output,
            cost_usd: cost(state, provider, &request.model, input, output),
        };
        let checked = state.spending.check(&call.limits, projection);
        checked
            .map_err(|over| Refusal::Forbidden(Thrown::Dict(over.thrown(provider, &request.model))))
    }

    /// What the mock or a recording says, if one of them answers.
    fn answer_from_script(
        &self,
        provider: &str,
        call: &CallOptions,
    ) -> Option<Result<mock::Answer, Error>> {
        let state = &mut *self.state();
        if state.is_mocked(provider) {
            let native_tools = call.native_tools.as_deref();
            return Some(state.mock.answer(&call.request, native_tools));
        }
        match &state.recording.by_hash {
            Some(ByHash::Replay(store)) => Some(by_hash::replay(&**store, &call.request)),
            _ => None,
        }
    }

    /// Asks over the network, when the rate allows.
    async fn exchange(
        &self,
        provider: &str,
        call: &CallOptions,
        listener: &mut Listener<'_>,
    ) -> Result<Result<Reply, Error>, Refusal> {
        let forbidden = |text: String| Refusal::Forbidden(Thrown::Plain(text));
        let enabled = resolve::check_enabled(&self.environment, provider);
        enabled.map_err(|invalid| forbidden(invalid.to_string()))?;
        let mut request = call.request.clone();
        let route = {
            let state = self.state();
            if provider != call.provider {
                request.extra = call.extra_for(provider, self.catalog(&state));
            }
            let model = &request.model;
            route::build(
                &state.config,
                &state.capabilities,
                &self.environment,
                provider,
                model,
            )
        };
        let route = route.map_err(|invalid| forbidden(invalid.to_string()))?;
        self.permit(provider).await;
        let exchange = Exchange {
            wire: route.wire,
            target: &route.target,
            request: &request,
            limits: time_limits(call),
        };
        let reply = ask(&*self.transport, exchange, listener).await;
        let reply = reply.map_err(|error| match &call.missing_key {
            Some(variable) if provider == call.provider && is_unreached(&error) => {
                nobody_to_ask(variable, &route.target.url)
            }
            _ => error,
        });
        Ok(reply.map_err(|error| self.without_secrets(error)))
    }

    /// Waits until the provider may be asked.
    pub async fn permit(&self, provider: &str) {
        loop {
            let now = self.now();
            let acquired = {
                let state = &mut *self.state();
                if state.rates.get(provider).is_none() {
                    let configured = state.config.rpm(&self.environment, provider);
                    let configured = configured.and_then(|rpm| u32::try_from(rpm).ok());
                    state.rates.set_first(provider, configured);
                }
                state.rates.acquire(provider, now)
            };
            match acquired {
                Ok(()) => return,
                Err(wait) => tokio::time::sleep(Duration::from_millis(wait)).await,
            }
        }
    }

    /// Writes down what was said, if somebody wants that.
    pub(super) fn record(
        &self,
        provider: &str,
        request: &Request,
        answer: &Result<mock::Answer, Error>,
    ) {
        let recording = &mut self.state().recording;
        let provider = answer.as_ref().map_or(provider, |answer| &answer.provider);
        if let Some(lines) = &mut recording.lines {
            let line = mock::fixtures::line(provider, answer.as_ref().map(|answer| &answer.reply));
            lines(&recording.redaction.json_line(line.trim_end()));
        }
        if let (Some(ByHash::Record(store)), Ok(answer)) = (&mut recording.by_hash, answer) {
            let recorded = by_hash::record(&mut **store, request, answer, &recording.redaction);
            if let Err(error) = recorded {
                (self.ports.warn)(&error.message);
            }
        }
    }

    /// Counts what an answer cost, and says it.
    fn charge(
        &self,
        provider: &str,
        model: &str,
        usage: &Usage,
        took_ms: i64,
    ) -> Result<f64, Refusal> {
        let state = &mut *self.state();
        let dollars = cost(state, provider, model, usage.input, usage.output);
        state.trace.call(provider, model, usage, took_ms);
        let charged = state.spending.charge(dollars);
        charged.map_err(|text| Refusal::Forbidden(Thrown::Plain(text)))?;
        Ok(dollars)
    }
}

fn cost(state: &State, provider: &str, model: &str, input: u64, output: u64) -> f64 {
    let whole = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    price::cost(
        &state.config,
        Some(provider),
        model,
        whole(input),
        whole(output),
    )
}

fn time_limits(call: &CallOptions) -> TimeLimits {
    let usual = TimeLimits::default();
    TimeLimits {
        whole: Duration::from_secs(call.timeout_s),
        idle: call.idle_timeout_s.map_or(usual.idle, Duration::from_secs),
    }
}

fn is_unreached(error: &Error) -> bool {
    error.message.starts_with(NOT_REACHED)
}

/// What is said where nothing was named, no key is set and no server runs here: that will not pass
/// by asking again, and what to do is more help than what the network says.
fn nobody_to_ask(variable: &str, url: &str) -> Error {
    let address: Vec<&str> = url.splitn(4, '/').take(3).collect();
    let address = address.join("/");
    Error::new(
        Category::Auth,
        format!(
            "there is no model to ask: no provider is named, {variable} is not set, and nothing \
             listens at {address}, where Ollama would be. Set {variable}, name a provider with the \
             option `provider` or with HARN_LLM_PROVIDER, or start Ollama; \
             HARN_LLM_PROVIDER=mock is for offline use"
        ),
    )
}
