//! Schemas in the form that values are checked against.
//!
//! ```text
//! dict ─► canonical dict ─► Compiled: a Node for every schema in it
//! ```
//!
//! Programs check many values against one schema, so what a schema says is looked up once and
//! kept as long as the program uses the same dict.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Value};
use hashbrown::HashMap;
use regex::Regex;

use super::canonical::{canonical, resolve};
use crate::regex::compile;

/// How many schemas are kept. Programs that use more of them in turn do not gain from it.
const KEPT_MAX: usize = 8;

/// A schema with all that is in it.
pub(super) struct Compiled {
    /// Where references lead: the schema as it was given, whose parts have the names that
    /// references use.
    root: Value,
    top: Rc<Node>,
    references: RefCell<HashMap<Text, Option<Rc<Node>>>>,
}

/// What one schema says about a value. Nothing stands for everything being good.
#[derive(Default)]
pub(super) struct Node {
    /// Then nothing else is said.
    pub(super) reference: Option<Text>,
    pub(super) is_nullable: bool,
    pub(super) constant: Option<Value>,
    pub(super) all_of: Vec<Node>,
    pub(super) union: Option<Vec<Node>>,
    pub(super) kind: Option<Text>,
    /// By name, sorted.
    pub(super) properties: Vec<(Text, Node)>,
    pub(super) required: Vec<Required>,
    pub(super) additional: Additional,
    pub(super) items: Option<Box<Node>>,
    pub(super) min_items: Option<Value>,
    pub(super) max_items: Option<Value>,
    pub(super) min_length: Option<Value>,
    pub(super) max_length: Option<Value>,
    pub(super) min: Option<Value>,
    pub(super) max: Option<Value>,
    pub(super) pattern: Option<Pattern>,
    pub(super) choices: Option<Value>,
    pub(super) default: Option<Value>,
}

/// A key that must be there, and where it is among the properties.
pub(super) struct Required {
    pub(super) key: Text,
    pub(super) property: Option<usize>,
}

/// What may be there besides the properties.
#[derive(Default)]
pub(super) enum Additional {
    #[default]
    Anything,
    Nothing,
    Checked(Box<Node>),
}

pub(super) struct Pattern {
    pub(super) text: Text,
    regex: OnceCell<Result<Regex, String>>,
}

impl Pattern {
    /// Whether a text matches, or what is wrong with the pattern.
    pub(super) fn is_match(&self, text: &str) -> Result<bool, &str> {
        let regex = self.regex.get_or_init(|| compile(&self.text, ""));
        match regex {
            Ok(regex) => Ok(regex.is_match(text)),
            Err(reason) => Err(reason),
        }
    }
}

impl Compiled {
    /// The schema that a value is, or what is wrong with it.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        Ok(Self {
            top: Rc::new(Node::new(&canonical(schema)?)),
            root: schema.clone(),
            references: RefCell::default(),
        })
    }

    pub(super) fn top(&self) -> &Rc<Node> {
        &self.top
    }

    /// The schema that a reference leads to. That can be a part of the root that nobody has
    /// read as a schema, such as a default, and then it is not bounded yet.
    pub(super) fn referred(&self, reference: &Text) -> Option<Rc<Node>> {
        let mut known = self.references.borrow_mut();
        let node = known.entry(reference.clone()).or_insert_with(|| {
            let schema = resolve(&self.root, reference)?;
            let schema = canonical(schema).ok()?;
            Some(Rc::new(Node::new(&schema)))
        });
        node.clone()
    }
}

impl Node {
    /// What a canonical schema says. Canonical schemas are bounded in depth.
    fn new(schema: &Dict) -> Self {
        let get = |key: &str| schema.get(key).cloned();
        let node = |schema: &Value| match schema {
            Value::Dict(schema) => Node::new(schema),
            _ => Node::default(),
        };
        let nodes = |key: &str| match schema.get(key) {
            Some(Value::List(branches)) => Some(branches.iter().map(node).collect::<Vec<_>>()),
            _ => None,
        };
        let properties: Vec<(Text, Node)> = match schema.get("properties") {
            Some(Value::Dict(properties)) => properties
                .iter()
                .map(|(name, schema)| (name.clone(), node(schema)))
                .collect(),
            _ => Vec::new(),
        };
        Self {
            reference: schema.get("$ref").map(Value::to_text),
            is_nullable: matches!(schema.get("nullable"), Some(Value::Bool(true))),
            constant: get("const"),
            all_of: nodes("all_of").unwrap_or_default(),
            union: nodes("union"),
            kind: schema.get("type").map(Value::to_text),
            required: required(schema, &properties),
            properties,
            additional: match schema.get("additional_properties") {
                Some(Value::Bool(false)) => Additional::Nothing,
                Some(schema @ Value::Dict(_)) => Additional::Checked(Box::new(node(schema))),
                _ => Additional::Anything,
            },
            items: schema.get("items").map(|items| Box::new(node(items))),
            min_items: get("min_items"),
            max_items: get("max_items"),
            min_length: get("min_length"),
            max_length: get("max_length"),
            min: get("min"),
            max: get("max"),
            pattern: schema.get("pattern").map(|pattern| Pattern {
                text: pattern.to_text(),
                regex: OnceCell::new(),
            }),
            choices: get("enum").filter(|choices| matches!(choices, Value::List(_))),
            default: get("default"),
        }
    }
}

fn required(schema: &Dict, properties: &[(Text, Node)]) -> Vec<Required> {
    let Some(Value::List(required)) = schema.get("required") else {
        return Vec::new();
    };
    let keys = required.iter().map(Value::to_text);
    keys.map(|key| {
        let property = properties.binary_search_by(|(name, _)| name.cmp(&key));
        Required {
            property: property.ok(),
            key,
        }
    })
    .collect()
}

/// The schemas that were used last, each with the dict that it was made of. As long as we have
/// the dict, nobody can change it.
#[derive(Default)]
struct Kept(Vec<(Dict, Rc<Compiled>)>);

/// The schema that a value is, or what is wrong with it.
pub(super) fn compiled(context: &mut Context<'_>, schema: &Value) -> Result<Rc<Compiled>, String> {
    let Value::Dict(dict) = schema else {
        return Compiled::new(schema).map(Rc::new);
    };
    let kept = &mut context.state::<Kept>().0;
    if let Some((_, compiled)) = kept.iter().find(|(kept, _)| kept.is_same(dict)) {
        return Ok(Rc::clone(compiled));
    }
    let compiled = Rc::new(Compiled::new(schema)?);
    if kept.len() == KEPT_MAX {
        kept.remove(0);
    }
    kept.push((dict.clone(), Rc::clone(&compiled)));
    Ok(compiled)
}
