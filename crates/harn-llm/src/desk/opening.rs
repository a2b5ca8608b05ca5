//! The two desks that a Rust program wants most: one with real providers, one with a script.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Desk, KnownModels, Ports, Recording, Setup, Staged};
use crate::catalog::{Capabilities, Config, ProjectTrust};
use crate::mock::Mock;
use crate::scenario::Scenario;
use crate::transport::{Http, HttpAnswer, HttpOptions, Later, TimeLimits, Transport};
use crate::wire::HttpRequest;
use crate::{Category, Error};

impl Desk {
    /// A desk that asks providers over the network. Keys, and the provider file if there is
    /// one, come from the environment: `Desk::online(std::env::vars().collect())`.
    ///
    /// # Errors
    /// The provider file cannot be read or understood; says which, and where the mistake is.
    pub fn online(environment: BTreeMap<String, String>) -> Result<Self, String> {
        let known = KnownModels::read(None, ProjectTrust::Trusted, &environment)?;
        let redaction = known.redaction(&environment);
        Ok(Self::new(Setup {
            transport: Arc::new(Http::new(HttpOptions::of(&environment))),
            environment,
            config: known.config,
            capabilities: known.capabilities,
            mock: Mock::default(),
            ports: Ports::of_machine(),
            recording: Recording {
                redaction,
                ..Recording::default()
            },
            staged: None,
        }))
    }

    /// A desk where a scenario answers, at once and without a key. There is no network.
    ///
    /// ```
    /// use harn_llm::desk::Desk;
    /// use harn_llm::scenario::Scenario;
    ///
    /// let script = "[[turn]]\ntext = \"Milk, I think.\"";
    /// let desk = Desk::staged(Scenario::parse("shop", script)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn staged(scenario: Scenario) -> Self {
        Self::new(Setup {
            environment: BTreeMap::new(),
            config: Config::built_in(),
            capabilities: Capabilities::default(),
            mock: Mock::default(),
            transport: Arc::new(NoNetwork),
            ports: Ports::of_machine(),
            recording: Recording::default(),
            staged: Some(Staged {
                scenario,
                in_real_time: false,
            }),
        })
    }
}

/// Carries nothing.
struct NoNetwork;

impl Transport for NoNetwork {
    fn send<'a>(
        &'a self,
        request: &'a HttpRequest,
        _limits: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>> {
        let message = format!("there is no network here to reach {}", request.url);
        let error = Error::new(Category::TransientNetwork, message);
        Box::pin(std::future::ready(Err(error)))
    }
}
