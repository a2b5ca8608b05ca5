//! Tools that were found and go out from the next turn on.

use crate::ToolSpec;
use crate::catalog::route::Style;
use crate::options::tools::native_projection;

/// How many bytes make a token, by estimate.
const BYTES_PER_TOKEN: usize = 4;

/// The tools a model has found, the oldest first. They are sent after all others, so that what
/// a provider remembers of the list stays valid.
#[derive(Clone, Debug, Default)]
pub struct Promoted {
    budget_tokens: Option<u64>,
    tools: Vec<(ToolSpec, u64)>,
}

impl Promoted {
    /// None yet, within a budget if there is one.
    pub fn new(budget_tokens: Option<u64>) -> Self {
        Self {
            budget_tokens,
            tools: Vec::new(),
        }
    }

    /// Takes in a tool, and lets the oldest go until it fits. Says whether it is new; one that
    /// does not fit alone is not taken in.
    pub fn promote(&mut self, tool: &ToolSpec, style: Style) -> bool {
        if self.tools.iter().any(|(known, _)| known.name == tool.name) {
            return false;
        }
        let cost = cost(tool, style);
        if let Some(budget) = self.budget_tokens {
            if cost > budget {
                return false;
            }
            while self.spent() + cost > budget {
                self.tools.remove(0);
            }
        }
        self.tools.push((tool.clone(), cost));
        true
    }

    /// What goes out.
    pub fn tools(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|(tool, _)| tool)
    }

    /// How many tokens all of them have.
    fn spent(&self) -> u64 {
        self.tools.iter().map(|(_, cost)| cost).sum()
    }
}

/// How many tokens the schema of a tool has, by estimate.
fn cost(tool: &ToolSpec, style: Style) -> u64 {
    let bytes = native_projection(tool, style).to_string().len();
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            ..ToolSpec::default()
        }
    }

    fn names(promoted: &Promoted) -> Vec<&str> {
        promoted.tools().map(|tool| &*tool.name).collect()
    }

    /// `{"description":"","input_schema":{"additionalProperties":false,"properties":{},
    /// "required":[],"type":"object"},"name":"a"}` has 121 bytes, which are 31 tokens.
    const EACH: u64 = 31;

    #[test]
    fn the_oldest_go_first_when_the_budget_is_full() {
        let mut promoted = Promoted::new(Some(2 * EACH));
        assert!(promoted.promote(&tool("a"), Style::Anthropic));
        assert!(promoted.promote(&tool("b"), Style::Anthropic));
        assert!(!promoted.promote(&tool("a"), Style::Anthropic));
        assert_eq!(names(&promoted), ["a", "b"]);
        assert!(promoted.promote(&tool("c"), Style::Anthropic));
        assert_eq!(names(&promoted), ["b", "c"]);
    }

    #[test]
    fn a_schema_larger_than_the_budget_is_not_taken_in() {
        let mut promoted = Promoted::new(Some(EACH));
        assert!(promoted.promote(&tool("a"), Style::Anthropic));
        let long = tool(&"x".repeat(100));
        assert!(!promoted.promote(&long, Style::Anthropic));
        assert_eq!(names(&promoted), ["a"]);
        let mut none = Promoted::new(Some(EACH - 1));
        assert!(!none.promote(&tool("a"), Style::Anthropic));
        assert!(names(&none).is_empty());
    }

    #[test]
    fn without_a_budget_everything_stays() {
        let mut promoted = Promoted::new(None);
        for name in ["a", "b", "c"] {
            assert!(promoted.promote(&tool(name), Style::OpenAi));
        }
        assert_eq!(names(&promoted), ["a", "b", "c"]);
    }
}
