//! The system prompt of a turn: what the program says, how calls are made, when to stop.

use std::sync::{Mutex, PoisonError};

use harn_llm::ToolSpec;
use harn_llm::grammar::contract::{Contract, Mode, Offer};

use super::skills::View;
use super::{Run, archive, texts};

/// The prompt that was made last, for as long as what it depends on stays the same.
#[derive(Default)]
pub(super) struct Cache(Mutex<Option<(Key, Option<String>)>>);

/// What the prompt depends on, apart from what never changes in a loop.
#[derive(Clone, PartialEq)]
struct Key {
    ledger: String,
    promoted: Vec<String>,
    has_archive: bool,
    skills: View,
}

impl Run<'_> {
    /// The tools on offer from the beginning, as far as this turn has them in view.
    fn usual_tools(&self) -> impl Iterator<Item = &ToolSpec> {
        let usual = self.call.request.tools.iter();
        usual.filter(|tool| self.is_in_view(&tool.name, tool.namespace.as_deref()))
    }

    /// The tools on offer in this turn besides the usual ones: the one that reads what was
    /// compacted, and those that were searched for and found, in the order they were found.
    /// What is found later comes last, so that what a provider remembers of the list stays
    /// valid.
    pub(super) fn added_tools(&self) -> Vec<ToolSpec> {
        let (promoted, archive) = self.session.read(|state| {
            let archive = self.has_tools && state.run.compactions > 0;
            (state.run.promoted.clone(), archive)
        });
        let found = promoted.iter().filter_map(|name| self.deferred(name));
        let found = found.map(|tool| &tool.spec);
        let found = found.filter(|tool| self.is_in_view(&tool.name, tool.namespace.as_deref()));
        archive
            .then(archive::spec)
            .into_iter()
            .chain(found.cloned())
            .collect()
    }

    /// The names of all tools on offer in this turn.
    pub(super) fn offered_names(&self) -> impl Iterator<Item = String> {
        let usual = self.usual_tools().map(|tool| tool.name.clone());
        let added = self.added_tools().into_iter().map(|tool| tool.name);
        usual.chain(added)
    }

    /// The system prompt.
    pub(super) fn system_prompt(&self) -> Option<String> {
        let key = self.session.read(|state| Key {
            ledger: match state.run.ledger.is_empty() {
                true => String::new(),
                false => state.run.ledger.render(),
            },
            promoted: state.run.promoted.clone(),
            has_archive: state.run.compactions > 0,
            skills: View::clone(&self.skills.view()),
        });
        let mut cache = self
            .contract
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((known, prompt)) = &*cache
            && *known == key
        {
            return prompt.clone();
        }
        let prompt = self.render(&key);
        *cache = Some((key, prompt.clone()));
        prompt
    }

    /// The system prompt of a call that has no tools and need not go on.
    pub(super) fn prompt_without_tools(&self) -> Option<String> {
        joined([self.system.clone(), self.skills.view().block.clone()])
    }

    fn render(&self, key: &Key) -> Option<String> {
        let contract = self.has_tools.then(|| self.render_contract(key));
        let persistent = self
            .options
            .persistent
            .then(|| texts::persistent(&self.options, self.mode, self.has_tools));
        let skills = key.skills.block.clone();
        joined([self.system.clone(), skills, contract, persistent])
    }

    fn render_contract(&self, key: &Key) -> String {
        let added = self.added_tools();
        let offered = self.usual_tools().chain(&added);
        let is_compact = |name: &str| {
            let entry = self.tools.get(name);
            entry.is_some_and(crate::registry::Entry::is_compact)
        };
        let ledger = Some(&*key.ledger).filter(|ledger| !ledger.is_empty());
        Contract {
            mode: self.mode,
            tools: offered
                .map(|tool| Offer {
                    tool,
                    is_compact: is_compact(&tool.name),
                })
                .collect(),
            tool_examples: self.options.tool_examples.as_deref(),
            ledger,
            sentinel: Some(&self.options.done_sentinel),
            require_action_or_yield: self.options.turn_policy.require_action_or_yield,
        }
        .render()
    }

    /// Whether calls travel in the text.
    pub(super) fn rides_on_text(&self) -> bool {
        self.mode != Mode::Native
    }
}

/// The parts of a prompt that say something, with a blank line between them.
fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let parts = parts.iter().flatten().map(|part| part.trim());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}
