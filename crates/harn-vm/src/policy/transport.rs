//! Models behind the rules about hosts.
//!
//! Which host a model is asked at is known only when the request is ready, so this is where it
//! is checked. Answers that are scripted, staged or come from a tape never get here.

use std::sync::Arc;

use harn_agent::llm::transport::{HttpAnswer, Later, TimeLimits, Transport};
use harn_agent::llm::wire::HttpRequest;
use harn_agent::llm::{Category, Error};

use super::Policy;

/// A transport that reaches allowed hosts only.
pub(crate) fn guarded(transport: Arc<dyn Transport>, policy: &Policy) -> Arc<dyn Transport> {
    match policy.is_permissive() {
        true => transport,
        false => Arc::new(Guarded {
            transport,
            policy: policy.clone(),
        }),
    }
}

struct Guarded {
    transport: Arc<dyn Transport>,
    policy: Policy,
}

impl Transport for Guarded {
    fn send<'a>(
        &'a self,
        request: &'a HttpRequest,
        limits: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>> {
        match self.policy.check_url(&request.url) {
            Ok(()) => self.transport.send(request, limits),
            Err(refusal) => {
                let message = format!("sandbox violation: a model call {refusal}");
                let error = Error::new(Category::EgressBlocked, message);
                Box::pin(std::future::ready(Err(error)))
            }
        }
    }
}
