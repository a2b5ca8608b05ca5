//! Names that become more.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::lock::Recover;

/// Names that become more and never fewer, such as those of the tools that a session has called.
///
/// A clone is the list as it was then and shares its names with the one it was made of, however
/// many come later.
#[derive(Clone, Debug, Default)]
pub struct NameList {
    /// The names of all who share them; the first `len` are those of this list.
    names: Arc<Mutex<Vec<Arc<str>>>>,
    len: usize,
}

impl NameList {
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a name. Only where another list that shares the names has others from here on, they
    /// are copied.
    pub fn push(&mut self, name: impl Into<Arc<str>>) {
        let mut names = self.names.recover();
        if names.len() == self.len {
            names.push(name.into());
        } else {
            let mut own = names[..self.len].to_vec();
            drop(names);
            own.push(name.into());
            self.names = Arc::new(Mutex::new(own));
        }
        self.len += 1;
    }

    /// The first names only.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        Self {
            names: Arc::clone(&self.names),
            len: self.len.min(count),
        }
    }

    /// The names from one on.
    pub fn from(&self, first: usize) -> Vec<Arc<str>> {
        let names = self.names.recover();
        names[..self.len].get(first..).unwrap_or_default().to_vec()
    }

    /// The names as texts of their own.
    pub fn to_strings(&self) -> Vec<String> {
        let names = self.from(0);
        names.iter().map(|name| name.as_ref().to_owned()).collect()
    }

    /// Whether a name is among them.
    pub fn contains(&self, name: &str) -> bool {
        let names = self.names.recover();
        names[..self.len].iter().any(|known| **known == *name)
    }

    /// With how many names both lists begin because they share them. Lists that say the same by
    /// chance are not compared.
    pub(crate) fn shared_with(&self, other: &Self) -> usize {
        match Arc::ptr_eq(&self.names, &other.names) {
            true => self.len.min(other.len),
            false => 0,
        }
    }
}

impl PartialEq for NameList {
    fn eq(&self, other: &Self) -> bool {
        let is_shared = self.shared_with(other) == self.len;
        self.len == other.len && (is_shared || self.from(0) == other.from(0))
    }
}

impl<N: Into<Arc<str>>> FromIterator<N> for NameList {
    fn from_iter<I: IntoIterator<Item = N>>(names: I) -> Self {
        let names: Vec<Arc<str>> = names.into_iter().map(Into::into).collect();
        Self {
            len: names.len(),
            names: Arc::new(Mutex::new(names)),
        }
    }
}

impl Serialize for NameList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.from(0).iter().map(|name| &**name))
    }
}

impl<'de> Deserialize<'de> for NameList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Ok(names.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_stays_as_it_was_when_it_was_cloned() {
        let mut names = NameList::default();
        names.push("a");
        let earlier = names.clone();
        names.push("b");
        let mut other = earlier.clone();
        other.push("c");
        assert_eq!(earlier.to_strings(), ["a"]);
        assert_eq!(names.to_strings(), ["a", "b"]);
        assert_eq!(other.to_strings(), ["a", "c"]);
        assert_eq!(names.first(1), earlier);
        assert_eq!(
            (names.shared_with(&earlier), names.shared_with(&other)),
            (1, 0)
        );
        assert!(names.contains("b") && !earlier.contains("b"));
        assert_eq!(names.from(1), [Arc::from("b")]);
        assert_eq!(names.from(9), []);
    }

    #[test]
    fn it_is_written_as_a_list() {
        let names: NameList = ["a", "a", "b"].into_iter().collect();
        let text = serde_json::to_string(&names).unwrap();
        assert_eq!(text, r#"["a","a","b"]"#);
        assert_eq!(serde_json::from_str::<NameList>(&text).unwrap(), names);
    }
}
