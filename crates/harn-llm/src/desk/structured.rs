//! Asks until the answer fits what was asked for.

use serde_json::{Value, json};

use super::asking::Answered;
use super::result::{Interpreted, interpret};
use super::{Desk, Thrown};
use crate::classify::thrown;
use crate::exchange::Listener;
use crate::nudge;
use crate::options::CallOptions;
use crate::options::output::Validation;
use crate::{Category, Error, Reply};

/// How a call ended.
pub(super) struct Attempted {
    pub(super) interpreted: Interpreted,
    pub(super) answered: Answered,
    /// How often a model was asked.
    pub(super) attempts: u64,
    /// What is still wrong with the answer.
    pub(super) errors: Vec<String>,
}

impl Desk {
    /// Asks until the answer fits, or all attempts are used up.
    pub(super) async fn attempt(
        &self,
        call: &CallOptions,
        listener: &mut Listener<'_>,
    ) -> Result<Attempted, Thrown> {
        let mut asked = call.clone();
        let mut attempts = 0;
        loop {
            let answered = self.ask(&asked, listener).await?;
            attempts += 1;
            let interpreted = interpret(&answered.reply, call);
            self.log_interpreted(call, &answered, &interpreted);
            let errors = match call.expects_structure() {
                true => self.errors(call, &interpreted, &answered.reply),
                false => Vec::new(),
            };
            if errors.is_empty() || attempts > call.structured.retries {
                return Ok(Attempted {
                    interpreted,
                    answered,
                    attempts,
                    errors,
                });
            }
            let schema = call.structured.schema.as_ref();
            let correction = nudge::text(&call.structured.nudge, schema, &errors);
            self.state().trace.push(json!({
                "type": "schema_retry",
                "attempt": attempts,
                "errors": errors,
                "nudge_used": correction.is_some(),
                "correction_prompt": correction,
            }));
            // The bad answer is never replayed: the model starts from the question again.
            asked.request.messages.clone_from(&call.request.messages);
            if let Some(correction) = correction {
                let message = json!({"role": "user", "content": correction});
                asked.request.messages.push(message);
            }
        }
    }

    /// What is wrong with an answer.
    pub(super) fn errors(
        &self,
        call: &CallOptions,
        read: &Interpreted,
        reply: &Reply,
    ) -> Vec<String> {
        if let Some(data) = &read.data {
            let schema = call.structured.schema.as_ref();
            return schema.map_or_else(Vec::new, |schema| (self.ports.schema_errors)(schema, data));
        }
        let mut errors = vec!["response did not contain parseable JSON".to_owned()];
        if !read.parsed.violations.is_empty() {
            let violations = read.parsed.violations.join("; ");
            errors.push(format!("protocol violations: {violations}"));
        }
        if matches!(stop_word(reply), Some("length" | "max_tokens")) {
            let text = "response hit the token limit before producing complete JSON";
            errors.push(text.to_owned());
        }
        errors
    }

    /// What becomes of an answer that does not fit.
    pub(super) fn settle(&self, call: &CallOptions, attempted: &Attempted) -> Result<(), Thrown> {
        self.settle_errors(call, &attempted.errors)
    }

    /// The same for what is wrong with an answer.
    pub(super) fn settle_errors(
        &self,
        call: &CallOptions,
        errors: &[String],
    ) -> Result<(), Thrown> {
        if errors.is_empty() {
            return Ok(());
        }
        let errors = errors.join("; ");
        match call.structured.validation {
            Validation::Off => Ok(()),
            Validation::Warn => {
                (self.ports.warn)(&format!("LLM output failed schema validation: {errors}"));
                Ok(())
            }
            Validation::Error => {
                let hint = hint(call.structured.retries);
                let text = format!("LLM output failed schema validation: {errors}{hint}");
                let error = Error::new(Category::SchemaValidation, text);
                let (provider, model) = (&call.provider, &call.request.model);
                Err(Thrown::Dict(thrown(&error, provider, model, self.now())))
            }
        }
    }
}

fn hint(retries: u64) -> &'static str {
    match retries {
        0 => {
            " (hint: set `schema_retries: N` in the llm_call options to automatically re-prompt \
             the model with a corrective nudge)"
        }
        _ => {
            " (hint: schema_retries budget exhausted — the model did not produce conforming \
             output after the configured retries; consider raising `schema_retries` or relaxing \
             the schema)"
        }
    }
}

pub(super) fn stop_word(reply: &Reply) -> Option<&str> {
    reply.stop.as_ref()?.word.as_deref()
}

/// The value of a key that is only there sometimes.
pub(super) fn set_if<T: Into<Value>>(dict: &mut Value, key: &str, value: Option<T>) {
    if let Some(value) = value {
        dict[key] = value.into();
    }
}
