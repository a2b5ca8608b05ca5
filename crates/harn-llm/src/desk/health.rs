//! `llm_healthcheck`: whether a provider answers.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Desk;
use crate::Secret;
use crate::catalog::{resolve, route};
use crate::exchange::{ask_json, is_up};
use crate::options::value::{display, truthy};
use crate::tape::Redaction;
use crate::transport::TimeLimits;
use crate::wire::HttpRequest;

/// How long a provider may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long a model may take to be loaded.
const WARM_UP_TIME_MAX: Duration = Duration::from_secs(300);

impl Desk {
    /// `llm_healthcheck`
    pub async fn healthcheck(&self, provider: &Value, options: &Map<String, Value>) -> Value {
        let mut options = options.clone();
        let name = match provider {
            Value::Object(fields) => {
                options.extend(fields.clone());
                fields.get("provider").map(display).unwrap_or_default()
            }
            other => display(other),
        };
        if !self.state().config.knows(&name) {
            return json!({
                "provider": name,
                "valid": false,
                "message": format!("Unknown provider: {name}"),
                "metadata": {"reason": "unknown_provider"},
            });
        }
        let wants_warmth = options.get("warm").is_some_and(truthy);
        let model = options
            .get("model")
            .filter(|model| !model.is_null())
            .map(display);
        if name == "mock" {
            return healthy(&name, "mock provider needs no connection", json!({}));
        }
        match (name.as_str(), wants_warmth, model) {
            ("ollama", true, None) => json!({
                "provider": name,
                "valid": false,
                "status": "invalid_request",
                "message": "Ollama warmup requires options.model",
                "metadata": {"reason": "invalid_request"},
            }),
            ("ollama", true, Some(model)) => self.warm_up(&name, &model).await,
            _ => self.knock(&name, options.get("api_key").map(display)).await,
        }
    }

    /// Asks the endpoint that providers have for this.
    async fn knock(&self, name: &str, key: Option<String>) -> Value {
        if key.is_none() {
            let state = self.state();
            if let Err(invalid) = resolve::check_key(&state.config, &self.environment, name) {
                return sick(name, "missing_key", &invalid.to_string());
            }
        }
        // A key that came as an option is one that only we know of.
        let given = key.iter().fold(Redaction::none(), |redaction, key| {
            redaction.with_secret(&Secret::new(key))
        });
        let request = match self.knocking(name, key) {
            Ok(request) => request,
            Err(text) => return sick(name, "invalid_request", &text),
        };
        let url = request.url.clone();
        let limits = TimeLimits {
            whole: PATIENCE,
            idle: PATIENCE,
        };
        match is_up(&*self.transport, name, &request, limits).await {
            Ok(status) => healthy(
                name,
                &format!("{name} is reachable"),
                json!({"status": status, "url": url}),
            ),
            Err(error) => {
                let error = self.without_secrets(error);
                sick(name, error.category.word(), &given.text(&error.message))
            }
        }
    }

    fn knocking(&self, name: &str, key: Option<String>) -> Result<HttpRequest, String> {
        let state = self.state();
        let mut environment = self.environment.clone();
        let entry = state.provider(name);
        if let (Some(key), Some(variable)) = (key, entry.auth_env.items().first()) {
            environment.insert(variable.clone(), key);
        }
        let route = route::build(&state.config, &state.capabilities, &environment, name, "");
        let route = route.map_err(|invalid| invalid.to_string())?;
        let base = route::base_url(&entry, &environment);
        let check = entry.healthcheck.unwrap_or_default();
        let url = match (check.url, check.path) {
            (Some(url), _) => url,
            (None, path) => {
                let path = path.unwrap_or_else(|| "/models".to_owned());
                format!(
                    "{}/{}",
                    base.trim_end_matches('/'),
                    path.trim_start_matches('/')
                )
            }
        };
        let body = check.body.and_then(|body| serde_json::from_str(&body).ok());
        Ok(HttpRequest {
            url,
            headers: route.target.headers,
            body: body.unwrap_or_default(),
        })
    }

    /// Has Ollama load a model.
    async fn warm_up(&self, name: &str, model: &str) -> Value {
        let base = {
            let state = self.state();
            let entry = state.provider(name);
            route::base_url(&entry, &self.environment)
        };
        let request = HttpRequest {
            url: format!("{}/api/generate", base.trim_end_matches('/')),
            headers: Vec::<(String, Secret)>::new(),
            body: json!({"model": model, "prompt": "", "stream": false}),
        };
        let limits = TimeLimits {
            whole: WARM_UP_TIME_MAX,
            idle: WARM_UP_TIME_MAX,
        };
        match ask_json(&*self.transport, name, &request, limits).await {
            Ok(_) => healthy(name, &format!("{model} is loaded"), json!({"model": model})),
            Err(error) => {
                let error = self.without_secrets(error);
                sick(name, error.category.word(), &error.message)
            }
        }
    }
}

fn healthy(provider: &str, message: &str, metadata: Value) -> Value {
    json!({
        "provider": provider,
        "valid": true,
        "status": "ok",
        "message": message,
        "metadata": metadata,
    })
}

fn sick(provider: &str, reason: &str, message: &str) -> Value {
    json!({
        "provider": provider,
        "valid": false,
        "status": reason,
        "message": message,
        "metadata": {"reason": reason},
    })
}
