//! Lists of a server, with all their pages.

use std::collections::HashSet;

use harn_agent::tool_servers::{Listed, ServerConfig, ServerError};
use rmcp::model::PaginatedRequestParams;
use rmcp::service::ServiceError;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failures;
use crate::link::Link;

/// How many pages a list may have.
const PAGES_MAX: usize = 1_000;

/// A page: what is on it, and where the next one is.
type Page = (Vec<Value>, Option<String>);

/// The capability that a list belongs to, and what it is called in messages.
fn names(what: Listed) -> (&'static str, &'static str) {
    match what {
        Listed::Tools => ("tools", "tools/list"),
        Listed::Resources => ("resources", "resources/list"),
        Listed::ResourceTemplates => ("resources", "resources/templates/list"),
        Listed::Prompts => ("prompts", "prompts/list"),
    }
}

/// Everything of a kind. A server that does not have the kind has nothing of it.
pub(crate) async fn all(
    link: &Link,
    config: &ServerConfig,
    what: Listed,
) -> Result<Vec<Value>, ServerError> {
    let (capability, method) = names(what);
    if !link.can(capability) {
        return Ok(Vec::new());
    }
    let failures = Failures {
        config,
        fault: &link.fault,
    };
    let limit = std::time::Duration::from_millis(config.limits.idle_ms);
    let mut entries = Vec::new();
    let mut cursors = HashSet::new();
    let mut cursor = None;
    loop {
        let asked = tokio::time::timeout(limit, page(link, what, cursor)).await;
        let asked = asked.unwrap_or(Err(ServiceError::Timeout { timeout: limit }));
        let (more, next) = asked.map_err(|error| failures.of_request(method, &error))?;
        entries.extend(more);
        if entries.len() > config.limits.entries_max {
            let max = config.limits.entries_max;
            return Err(failures.broken(format!("lists more than {max} entries in '{method}'")));
        }
        let Some(next) = next else {
            return Ok(entries);
        };
        if !cursors.insert(next.clone()) || cursors.len() > PAGES_MAX {
            return Err(failures.broken(format!("never comes to an end of '{method}'")));
        }
        cursor = Some(next);
    }
}

async fn page(link: &Link, what: Listed, cursor: Option<String>) -> Result<Page, ServiceError> {
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    let (peer, params) = (link.peer(), Some(params));
    Ok(match what {
        Listed::Tools => {
            let page = peer.list_tools(params).await?;
            (values(&page.tools), page.next_cursor)
        }
        Listed::Resources => {
            let page = peer.list_resources(params).await?;
            (values(&page.resources), page.next_cursor)
        }
        Listed::ResourceTemplates => {
            let page = peer.list_resource_templates(params).await?;
            (values(&page.resource_templates), page.next_cursor)
        }
        Listed::Prompts => {
            let page = peer.list_prompts(params).await?;
            (values(&page.prompts), page.next_cursor)
        }
    })
}

fn values(entries: &[impl Serialize]) -> Vec<Value> {
    let values = entries.iter().map(serde_json::to_value);
    values.filter_map(Result::ok).collect()
}
