//! The builtins that ask a model, all of them one call in different clothes.

use serde_json::{Map, Value, json};

use super::structured::Attempted;
use super::{Desk, Thrown};
use crate::Category;
use crate::classify::classify;
use crate::exchange::Listener;
use crate::grammar::extract::extract;
use crate::options::{CallOptions, ReplyListener, known};

/// What a program passes to one of them.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// What to ask.
    pub prompt: String,
    /// The system prompt.
    pub system: Option<String>,
    /// The options, as JSON.
    pub options: Map<String, Value>,
    /// Told of each whole answer before anything is made of it.
    pub replies: Option<ReplyListener>,
}

/// The extra calls that `llm_call_structured` makes by itself.
const STRUCTURED_RETRIES: u64 = 3;

impl Desk {
    /// `llm_call`
    ///
    /// # Errors
    /// What the program catches.
    pub async fn call(&self, question: &Question) -> Result<Value, Thrown> {
        self.refuse_unknown("llm_call", question)?;
        self.call_known(question).await
    }

    /// The same, of a question whose options were looked at.
    async fn call_known(&self, question: &Question) -> Result<Value, Thrown> {
        let call = self.read(question)?;
        let attempted = self.attempt(&call, &mut silent()).await?;
        self.settle(&call, &attempted)?;
        Ok(self.result(&call, &attempted, false))
    }

    /// `llm_call_safe`
    pub async fn call_safe(&self, question: &Question) -> Value {
        let known = self.refuse_unknown("llm_call_safe", question);
        let response = match known {
            Ok(()) => self.call_known(question).await,
            Err(thrown) => Err(thrown),
        };
        match response {
            Ok(response) => json!({"ok": true, "response": response, "error": null}),
            Err(thrown) => json!({"ok": false, "response": null, "error": thrown.as_dict()}),
        }
    }

    /// `llm_call_structured`: the data of the answer.
    ///
    /// # Errors
    /// What the program catches.
    pub async fn call_structured(
        &self,
        question: &Question,
        schema: &Value,
    ) -> Result<Value, Thrown> {
        self.refuse_unknown("llm_call_structured", question)?;
        self.data_of(question, schema).await
    }

    async fn data_of(&self, question: &Question, schema: &Value) -> Result<Value, Thrown> {
        let question = structured(question, schema);
        let result = self.call_known(&question).await?;
        Ok(result.get("data").cloned().unwrap_or_default())
    }

    /// `llm_call_structured_safe`
    pub async fn call_structured_safe(&self, question: &Question, schema: &Value) -> Value {
        let known = self.refuse_unknown("llm_call_structured_safe", question);
        let data = match known {
            Ok(()) => self.data_of(question, schema).await,
            Err(thrown) => Err(thrown),
        };
        match data {
            Ok(data) => json!({"ok": true, "data": data, "error": null}),
            Err(thrown) => json!({"ok": false, "data": null, "error": thrown.as_dict()}),
        }
    }

    /// `llm_call_structured_result`
    pub async fn call_structured_result(&self, question: &Question, schema: &Value) -> Value {
        if let Err(thrown) = self.refuse_unknown("llm_call_structured_result", question) {
            return argument_envelope(&thrown.to_string());
        }
        let repair = repair(&question.options);
        let mut question = structured(question, schema);
        question.options.remove("repair");
        let envelope = self.envelope(&question).await;
        let Some(overrides) = repair.filter(|_| envelope.is_repairable) else {
            return envelope.dict;
        };
        let again = repair_question(&question, &envelope.dict, overrides);
        let mut repaired = self.envelope(&again).await.dict;
        if repaired["ok"] == true {
            repaired["repaired"] = json!(true);
            return repaired;
        }
        let mut failed = envelope.dict;
        failed["error_category"] = json!("repair_failed");
        failed
    }

    async fn envelope(&self, question: &Question) -> Envelope {
        let call = match self.read(question) {
            Ok(call) => call,
            Err(thrown) => return Envelope::of_failure(&thrown.as_dict(), "generic", "", ""),
        };
        match self.attempt(&call, &mut silent()).await {
            Ok(attempted) => self.envelope_of(&call, attempted),
            Err(thrown) => {
                let dict = thrown.as_dict();
                let category = dict["category"].as_str().unwrap_or("generic").to_owned();
                Envelope::of_failure(&dict, &category, &call.request.model, &call.provider)
            }
        }
    }

    fn envelope_of(&self, call: &CallOptions, attempted: Attempted) -> Envelope {
        let data = attempted.interpreted.data.clone();
        let is_ok = data.is_some() && attempted.errors.is_empty();
        let text = &attempted.answered.reply.text;
        let error = match attempted.errors.as_slice() {
            [] if is_ok => String::new(),
            [] => "structured call failed without specific errors".to_owned(),
            errors => errors.join("; "),
        };
        let category = match &data {
            _ if is_ok => Value::Null,
            None => json!("missing_json"),
            Some(_) => json!("schema_validation"),
        };
        let result = self.result(call, &attempted, true);
        let dict = json!({
            "ok": is_ok,
            "data": if is_ok { data.clone() } else { None },
            "raw_text": text,
            "error": error,
            "error_category": category,
            "attempts": attempted.attempts,
            "repaired": false,
            "extracted_json": data.is_some() && was_extracted(text),
            "usage": result["usage"],
            "model": attempted.answered.model,
            "provider": attempted.answered.provider,
        });
        Envelope {
            dict,
            is_repairable: !is_ok,
        }
    }

    /// Refuses options that nobody reads. Loops have more of them, and look themselves.
    pub(super) fn refuse_unknown(&self, builtin: &str, question: &Question) -> Result<(), Thrown> {
        let Some(place) = harn_options::place_of(builtin) else {
            return Ok(());
        };
        let is_provider = |name: &str| self.knows_provider(name);
        let known = known::refuse_unknown(builtin, place.dict, &question.options, &is_provider);
        known.map_err(|invalid| Thrown::Plain(invalid.to_string()))
    }

    /// Whether there is a provider of that name.
    pub fn knows_provider(&self, name: &str) -> bool {
        self.catalog(&self.state()).config.knows(name)
    }

    /// Reads the options of a question.
    pub(super) fn read(&self, question: &Question) -> Result<CallOptions, Thrown> {
        let Question {
            prompt,
            system,
            options,
            replies,
        } = question;
        let mut call = self.parse(prompt, system.as_deref(), options)?;
        call.replies.clone_from(replies);
        Ok(call)
    }
}

/// What `llm_call_structured_result` gives.
struct Envelope {
    dict: Value,
    /// Whether a model answered, and not well.
    is_repairable: bool,
}

impl Envelope {
    fn of_failure(thrown: &Value, category: &str, model: &str, provider: &str) -> Self {
        let dict = json!({
            "ok": false,
            "data": null,
            "raw_text": "",
            "error": thrown["message"],
            "error_category": category,
            "attempts": 0,
            "repaired": false,
            "extracted_json": false,
            "usage": {
                "input_tokens": 0,
                "output_tokens": 0,
                "cache_read_tokens": 0,
                "cache_write_tokens": 0,
                "cache_creation_input_tokens": 0,
                "cache_hit_ratio": 0.0,
                "cache_savings_usd": 0.0,
            },
            "model": model,
            "provider": provider,
        });
        Self {
            dict,
            is_repairable: false,
        }
    }
}

/// What `llm_call_structured_result` gives for arguments that make no question.
pub fn argument_envelope(message: &str) -> Value {
    Envelope::of_failure(&json!({"message": message}), "generic", "", "").dict
}

impl Thrown {
    /// What a program finds in `error` where others throw.
    pub fn as_dict(&self) -> Value {
        let (category, message) = match self {
            Thrown::Dict(dict) => return dict.clone(),
            Thrown::Plain(text) | Thrown::Runtime(text) => (Category::Generic, text),
            Thrown::Categorised(category, text) => (*category, text),
        };
        let reason = classify(category, message);
        json!({
            "category": category.word(),
            "kind": reason.kind().word(),
            "reason": reason.word(),
            "message": message,
        })
    }
}

/// Nobody listens.
pub(super) fn silent() -> Box<Listener<'static>> {
    Box::new(|_| {})
}

/// A question whose answer must fit a schema.
fn structured(question: &Question, schema: &Value) -> Question {
    let mut options = question.options.clone();
    let system = options.remove("system").filter(|system| !system.is_null());
    let system = system.map(|system| crate::options::value::display(&system));
    let retries = options.remove("retries");
    let format = json!({"kind": "json_schema", "schema": schema, "strict": true});
    let defaults = [
        (
            "schema_retries",
            retries
                .filter(|retries| !retries.is_null())
                .unwrap_or(json!(STRUCTURED_RETRIES)),
        ),
        ("output_schema", schema.clone()),
        ("json_schema", schema.clone()),
        ("output_format", format),
        ("response_format", json!("json")),
        ("output_validation", json!("error")),
    ];
    for (key, value) in defaults {
        if options.get(key).is_none_or(Value::is_null) {
            options.insert(key.to_owned(), value);
        }
    }
    Question {
        prompt: question.prompt.clone(),
        system: system.or_else(|| question.system.clone()),
        options,
        replies: question.replies.clone(),
    }
}

/// What to change for the call that repairs; `None` if there is none.
fn repair(options: &Map<String, Value>) -> Option<Map<String, Value>> {
    match options.get("repair")? {
        Value::Object(repair) => {
            let is_enabled = repair.get("enabled");
            let is_enabled = is_enabled.is_none_or(crate::options::value::truthy);
            let mut overrides = repair.clone();
            overrides.remove("enabled");
            is_enabled.then_some(overrides)
        }
        Value::Bool(true) => Some(Map::new()),
        _ => None,
    }
}

fn repair_question(main: &Question, envelope: &Value, overrides: Map<String, Value>) -> Question {
    let errors = envelope["error"].as_str().unwrap_or_default();
    let raw = envelope["raw_text"].as_str().unwrap_or_default();
    let mut options = main.options.clone();
    options.extend(overrides);
    options.insert("schema_retries".to_owned(), json!(0));
    options.remove("messages");
    Question {
        prompt: format!(
            "The following text was meant to be JSON for a schema, but is not.\n\
             Validation errors: {errors}\n\nText:\n{raw}\n\nReply with valid JSON only."
        ),
        system: None,
        options,
        replies: main.replies.clone(),
    }
}

/// Whether JSON had to be looked for in the text.
fn was_extracted(text: &str) -> bool {
    let is_json = serde_json::from_str::<Value>(text.trim()).is_ok();
    !is_json && extract(text).is_some()
}
