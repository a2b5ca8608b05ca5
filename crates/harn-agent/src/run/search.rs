//! What can be searched for in a loop, put in order once.

use std::collections::HashMap;
use std::sync::OnceLock;

use harn_llm::options::tools::Declared;
use harn_llm::tool_search::{Corpus, Plan};

use super::Run;

/// What can be searched for. Made when it is first needed.
#[derive(Default)]
pub(super) struct Searched {
    corpus: OnceLock<Corpus>,
    by_name: OnceLock<HashMap<String, usize>>,
}

impl Run<'_> {
    /// What a search goes through.
    pub(super) fn corpus(&self, plan: &Plan) -> &Corpus {
        self.search
            .corpus
            .get_or_init(|| Corpus::new(&plan.deferred))
    }

    /// A tool that is held back until it is found.
    pub(super) fn deferred(&self, name: &str) -> Option<&Declared> {
        let plan = self.call.search.as_ref()?;
        let by_name = self.search.by_name.get_or_init(|| {
            let tools = plan.deferred.iter().enumerate().rev();
            tools
                .map(|(at, tool)| (tool.spec.name.clone(), at))
                .collect()
        });
        by_name.get(name).map(|at| &plan.deferred[*at])
    }

    /// Whether such a tool may be found in this turn.
    pub(super) fn deferred_in_view(&self, name: &str) -> bool {
        let namespace = |tool: &Declared| tool.spec.namespace.clone();
        let namespace = self.deferred(name).and_then(namespace);
        self.is_in_view(name, namespace.as_deref())
    }
}
