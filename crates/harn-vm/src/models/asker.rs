//! Models, for those who can wait for them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc;

use harn_agent::llm::desk::{Desk, Probed, Thrown};
use serde_json::{Map, Value, json};

use super::options::ModelOptions;
use super::runtime::Runtime;
use super::set_up::set_up;
use crate::policy::Policy;

/// Asks models and waits for what they say.
pub struct ModelAsker {
    desk: Arc<Desk>,
    runtime: Runtime,
}

impl ModelAsker {
    /// Somebody who asks as a program with these options would.
    ///
    /// # Errors
    /// A file cannot be read or understood, or the system has no thread left.
    pub fn new(
        options: &ModelOptions,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let desk = set_up(options, environment, &Policy::default())?;
        let runtime = Runtime::start().map_err(|error| error.to_string())?;
        Ok(Self { desk, runtime })
    }

    /// Whether a provider answers, as `llm_healthcheck` tells it.
    pub fn healthcheck(&self, provider: &str) -> Value {
        let (desk, provider) = (Arc::clone(&self.desk), json!(provider));
        let health = self.wait(async move { desk.healthcheck(&provider, &Map::new()).await });
        health.unwrap_or_default()
    }

    /// Really asks a model one small question.
    ///
    /// # Errors
    /// What a program would catch, as a dict.
    pub fn probe(&self, provider: &str, model: &str) -> Result<Probed, Value> {
        let desk = Arc::clone(&self.desk);
        let (provider, model) = (provider.to_owned(), model.to_owned());
        let probed = self.wait(async move { desk.probe(&provider, &model).await });
        let gone = || {
            Err(Thrown::Runtime(
                "nobody waits for models any more".to_owned(),
            ))
        };
        probed
            .unwrap_or_else(gone)
            .map_err(|thrown| thrown.as_dict())
    }

    /// `None` if the thread that waits has ended.
    fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (sender, receiver) = mpsc::channel();
        self.runtime.begin(async move {
            let _nobody_may_wait_any_more = sender.send(work.await);
        });
        receiver.recv().ok()
    }
}
