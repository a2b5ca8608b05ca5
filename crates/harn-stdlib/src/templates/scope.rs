//! What names are bound to while a template is rendered.

use harn_machine::Value;
use harn_machine::value::{Dict, List, Range, Set, Text};
use harn_syntax::template::LoopVariables;
use smol_str::SmolStr;

/// Bindings inside bindings; the innermost one of a name counts.
#[derive(Debug)]
pub(super) struct Scopes {
    /// What the program gave.
    given: Dict,
    inner: Vec<Scope>,
}

#[derive(Debug)]
enum Scope {
    /// What stands after `with`.
    With(Vec<(SmolStr, Value)>),
    Loop(Turn),
}

impl Scopes {
    pub(super) fn new(given: Dict) -> Self {
        let inner = Vec::new();
        Self { given, inner }
    }

    /// What a name is bound to.
    pub(super) fn get(&self, name: &str) -> Option<Value> {
        let inner = self.inner.iter().rev().find_map(|scope| scope.get(name));
        inner.or_else(|| self.given.get(name).cloned())
    }

    /// A fact of the innermost loop, if `loop` means that here. To make all of them for one
    /// would take longer than the rest of a turn.
    pub(super) fn loop_fact(&self, name: &str) -> Option<Value> {
        for scope in self.inner.iter().rev() {
            match scope {
                Scope::Loop(turn) if turn.own("loop").is_none() => return turn.fact(name),
                Scope::With(bindings) if bindings.iter().all(|(key, _)| key != "loop") => {}
                Scope::Loop(_) | Scope::With(_) => return None,
            }
        }
        None
    }

    pub(super) fn depth(&self) -> usize {
        self.inner.len()
    }

    /// Leaves what was entered beyond a depth.
    pub(super) fn leave_to(&mut self, depth: usize) {
        self.inner.truncate(depth);
    }

    pub(super) fn enter_with(&mut self, bindings: Vec<(SmolStr, Value)>) {
        self.inner.push(Scope::With(bindings));
    }

    /// Begins the first turn of a loop that has one.
    pub(super) fn enter_loop(&mut self, variables: LoopVariables, items: Items) {
        let at = 0;
        self.inner.push(Scope::Loop(Turn {
            variables,
            items,
            at,
        }));
    }

    /// Begins the next turn of the innermost loop; leaves it if that was the last.
    pub(super) fn next_turn(&mut self) -> bool {
        if let Some(Scope::Loop(turn)) = self.inner.last_mut()
            && turn.at + 1 < turn.items.len()
        {
            turn.at += 1;
            return true;
        }
        self.inner.pop();
        false
    }

    /// The item of the innermost loop.
    pub(super) fn item(&self) -> Value {
        match self.inner.last() {
            Some(Scope::Loop(turn)) => turn.items.get(turn.at).1,
            _ => Value::Nil,
        }
    }
}

impl Scope {
    fn get(&self, name: &str) -> Option<Value> {
        match self {
            Self::With(bindings) => {
                let binding = bindings.iter().rev().find(|(key, _)| key == name);
                binding.map(|(_, value)| value.clone())
            }
            Self::Loop(turn) => turn.get(name),
        }
    }
}

/// A turn of a loop.
#[derive(Debug)]
struct Turn {
    variables: LoopVariables,
    items: Items,
    at: i64,
}

impl Turn {
    fn get(&self, name: &str) -> Option<Value> {
        let own = self.own(name);
        own.or_else(|| (name == "loop").then(|| self.describe()))
    }

    /// What a variable of the loop is bound to.
    fn own(&self, name: &str) -> Option<Value> {
        match &self.variables {
            LoopVariables::Item(item) | LoopVariables::KeyAndItem(_, item) if item == name => {
                Some(self.items.get(self.at).1)
            }
            LoopVariables::KeyAndItem(key, _) if key == name => Some(self.items.get(self.at).0),
            _ => None,
        }
    }

    /// `loop`
    fn describe(&self) -> Value {
        let facts = ["first", "index", "index0", "last", "length"];
        let known = facts.map(|name| (name, self.fact(name).unwrap_or_default()));
        Value::dict(known)
    }

    /// A field of `loop`.
    fn fact(&self, name: &str) -> Option<Value> {
        let length = self.items.len();
        Some(match name {
            "first" => (self.at == 0).into(),
            "index" => (self.at + 1).into(),
            "index0" => self.at.into(),
            "last" => (self.at + 1 == length).into(),
            "length" => length.into(),
            _ => return None,
        })
    }
}

/// What a loop goes through.
#[derive(Debug)]
pub(super) enum Items {
    List(List),
    Set(Set),
    Dict(Dict),
    Range(Range),
}

impl Items {
    /// The items of a value; `None` if it has none to go through.
    pub(super) fn of(value: Value) -> Option<Self> {
        Some(match value {
            Value::Nil => Self::List(List::default()),
            Value::List(items) => Self::List(items),
            Value::Set(set) => Self::Set(set),
            Value::Dict(dict) => Self::Dict(dict),
            Value::Range(range) => Self::Range(*range),
            _ => return None,
        })
    }

    pub(super) fn len(&self) -> i64 {
        let length = match self {
            Self::List(items) => items.len(),
            Self::Set(set) => set.len(),
            Self::Dict(dict) => dict.len(),
            Self::Range(range) => return range.len(),
        };
        i64::try_from(length).unwrap_or(i64::MAX)
    }

    /// The key and the item at a position.
    fn get(&self, at: i64) -> (Value, Value) {
        let place = usize::try_from(at).unwrap_or(usize::MAX);
        let item = match self {
            Self::List(items) => items.get(place).cloned(),
            Self::Set(set) => set.items().get(place).cloned(),
            Self::Range(range) => range.at(at).map(Value::Int),
            Self::Dict(dict) => {
                let entry = dict.entry(place);
                let entry = entry.map(|(key, value)| (key.clone(), value.clone()));
                let (key, value) = entry.unwrap_or((Text::new(""), Value::Nil));
                return (key.into(), value);
            }
        };
        (at.into(), item.unwrap_or_default())
    }
}
