//! The variables of the process, as somebody else has read them.

use std::collections::{BTreeMap, HashMap};

/// Where settings and keys are looked up. The process environment is read once, outside.
pub trait Environment {
    /// The value of a variable, if it is set.
    fn get(&self, name: &str) -> Option<&str>;

    /// The value of a variable that says something: an empty one counts as not set.
    fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.trim().is_empty())
    }
}

impl Environment for BTreeMap<String, String> {
    fn get(&self, name: &str) -> Option<&str> {
        BTreeMap::get(self, name).map(String::as_str)
    }
}

impl Environment for HashMap<String, String> {
    fn get(&self, name: &str) -> Option<&str> {
        HashMap::get(self, name).map(String::as_str)
    }
}

/// An environment for tests, written as rows.
impl Environment for [(&str, &str)] {
    fn get(&self, name: &str) -> Option<&str> {
        let row = self.iter().find(|(key, _)| *key == name);
        row.map(|(_, value)| *value)
    }
}

impl<const N: usize> Environment for [(&str, &str); N] {
    fn get(&self, name: &str) -> Option<&str> {
        Environment::get(self.as_slice(), name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        let environment = [("A", "1"), ("B", " ")];
        assert_eq!(environment.filled("A"), Some("1"));
        assert_eq!(environment.filled("B"), None);
        assert_eq!(environment.filled("C"), None);
    }
}
