//! `llm_completion`: what stands between two texts.
//!
//! Providers with an endpoint of their own for this are asked there; others are asked in
//! words, which every model understands.

use std::time::Duration;

use serde_json::{Value, json};

use super::asking::Answered;
use super::result::interpret;
use super::structured::Attempted;
use super::variants::{Question, silent};
use super::{Desk, Thrown};
use crate::catalog::{resolve, route};
use crate::classify::thrown;
use crate::exchange::ask_json;
use crate::mock::{self, Mock, stop_of_word};
use crate::options::CallOptions;
use crate::transport::TimeLimits;
use crate::wire::{HttpRequest, Wire};
use crate::{Reply, Usage};

impl Desk {
    /// `llm_completion`
    ///
    /// # Errors
    /// What the program catches.
    pub async fn completion(
        &self,
        question: &Question,
        suffix: Option<&str>,
    ) -> Result<Value, Thrown> {
        self.refuse_unknown("llm_completion", question)?;
        let call = self.read(question)?;
        let prefix = &question.prompt;
        let is_mocked = self.state().is_mocked(&call.provider);
        let mut worded = call.clone();
        let prompt = in_words(prefix, suffix);
        worded.request.messages = vec![json!({"role": "user", "content": prompt})].into();
        let answered = match is_mocked {
            true => {
                let answer = Mock::completion(&call.request.model, prefix, suffix);
                self.mocked(&call, answer)
            }
            false => match self.endpoint(&call)? {
                Some(endpoint) => self.complete(&worded, endpoint, prefix, suffix).await?,
                None => self.ask(&worded, &mut silent()).await?,
            },
        };
        let attempted = Attempted {
            interpreted: interpret(&answered.reply, &call),
            answered,
            attempts: 1,
            errors: Vec::new(),
        };
        Ok(self.result(&call, &attempted, true))
    }

    fn mocked(&self, call: &CallOptions, answer: mock::Answer) -> Answered {
        let model = answer.reply.model.clone();
        Answered {
            model: model.unwrap_or_else(|| call.request.model.clone()),
            reply: answer.reply,
            provider: answer.provider,
            took_ms: 0,
            cost_usd: 0.0,
            call_id: None,
        }
    }

    /// The provider's own endpoint for completions, if it has one and is asked at all.
    fn endpoint(&self, call: &CallOptions) -> Result<Option<(Wire, HttpRequest)>, Thrown> {
        if self.state().is_scripted() {
            return Ok(None);
        }
        let plain = |invalid: crate::catalog::Invalid| Thrown::Plain(invalid.to_string());
        resolve::check_enabled(&self.environment, &call.provider).map_err(plain)?;
        let state = self.state();
        let Some(entry) = state.config.providers.get(&call.provider) else {
            return Ok(None);
        };
        let Some(endpoint) = &entry.completion_endpoint else {
            return Ok(None);
        };
        let (provider, model) = (&call.provider, &call.request.model);
        let route = route::build(
            &state.config,
            &state.capabilities,
            &self.environment,
            provider,
            model,
        );
        let route = route.map_err(plain)?;
        let base = route::base_url(entry, &self.environment);
        let request = HttpRequest {
            url: format!("{}{endpoint}", base.trim_end_matches('/')),
            headers: route.target.headers,
            body: Value::Null,
        };
        Ok(Some((route.wire, request)))
    }

    async fn complete(
        &self,
        call: &CallOptions,
        (wire, mut request): (Wire, HttpRequest),
        prefix: &str,
        suffix: Option<&str>,
    ) -> Result<Answered, Thrown> {
        let model = &call.request.model;
        let sampling = &call.request.sampling;
        let mut body = json!({"model": model, "prompt": prefix, "stream": false});
        if let Some(suffix) = suffix {
            body["suffix"] = json!(suffix);
        }
        if let Some(system) = &call.request.system {
            body["system"] = json!(system);
        }
        match wire {
            Wire::Ollama => body["options"] = json!({"num_predict": sampling.max_tokens}),
            _ => body["max_tokens"] = json!(sampling.max_tokens),
        }
        if let Some(temperature) = sampling.temperature {
            body["temperature"] = json!(temperature);
        }
        request.body = body;
        let limits = TimeLimits {
            whole: Duration::from_secs(call.timeout_s),
            ..TimeLimits::default()
        };
        let started = self.now();
        self.permit(&call.provider).await;
        let call_id = self.log_request(&call.provider, call);
        let answer = ask_json(&*self.transport, &call.provider, &request, limits).await;
        let took_ms = self.now() - started;
        let answer = answer.map_err(|error| self.without_secrets(error));
        let answer = answer.map(|answer| mock::Answer {
            reply: read(&answer),
            provider: call.provider.clone(),
        });
        let reply = answer.as_ref().map(|answer| &answer.reply);
        self.log_response(call, call_id.as_deref(), took_ms, reply);
        self.record(&call.provider, &call.request, &answer);
        let answer = answer
            .map_err(|error| Thrown::Dict(thrown(&error, &call.provider, model, self.now())))?;
        Ok(Answered {
            reply: answer.reply,
            provider: answer.provider,
            model: model.clone(),
            took_ms,
            cost_usd: 0.0,
            call_id,
        })
    }
}

/// A completion asked for in words.
fn in_words(prefix: &str, suffix: Option<&str>) -> String {
    let after = suffix.map_or_else(String::new, |suffix| {
        format!("\n\nThe text goes on after your part with:\n<suffix>{suffix}</suffix>")
    });
    format!(
        "Continue the text below. Reply with the continuation only: no comment, no fence, \
         nothing repeated.\n\n<prefix>{prefix}</prefix>{after}"
    )
}

/// What OpenAI's `/completions` and Ollama's `/api/generate` say.
fn read(answer: &Value) -> Reply {
    let choice = &answer["choices"][0];
    let text = choice["text"].as_str().or(answer["response"].as_str());
    let text = text.unwrap_or_default().to_owned();
    let word = choice["finish_reason"]
        .as_str()
        .or(answer["done_reason"].as_str());
    let count = |pointer: &str, other: &str| {
        let count = answer.pointer(pointer).or_else(|| answer.pointer(other));
        count.and_then(Value::as_u64).unwrap_or(0)
    };
    let block = json!({"type": "output_text", "text": text, "visibility": "public"});
    Reply {
        blocks: vec![block],
        text,
        usage: Usage {
            input: count("/usage/prompt_tokens", "/prompt_eval_count"),
            output: count("/usage/completion_tokens", "/eval_count"),
            provider: answer["usage"].clone(),
            ..Usage::default()
        },
        stop: word.map(stop_of_word),
        ..Reply::default()
    }
}
