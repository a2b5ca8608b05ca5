//! Text read as YAML.

use std::collections::HashMap;

use harn_machine::Value;
use harn_machine::value::{Dict, Text};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::scalar;

/// How many values aliases may repeat. Repeated values are shared and cost nothing, but
/// whoever goes through them visits each as often as it is repeated.
const REPEATED_MAX: usize = 10_000_000;

/// The value of the one document in a text, or what is wrong with it.
pub(in crate::formats) fn read(text: &str) -> Result<Value, String> {
    let mut parser = Parser::new_from_str(text);
    let mut reader = Reader::default();
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(unreadable)?;
        reader.event(event).map_err(|problem| problem.at(span))?;
    }
    Ok(reader.document.unwrap_or_default())
}

fn unreadable(error: ScanError) -> String {
    let (line, column) = (error.marker().line(), error.marker().col() + 1);
    let reason = error.info();
    format!("YAML parse error: {reason} at line {line} column {column}")
}

/// What is wrong.
enum Problem {
    /// The text.
    Text(String),
    /// What it says cannot be said in JSON.
    Form(String),
}

impl Problem {
    fn at(self, span: Span) -> String {
        let (line, column) = (span.start.line(), span.start.col() + 1);
        match self {
            Self::Text(reason) => {
                format!("YAML parse error: {reason} at line {line} column {column}")
            }
            Self::Form(reason) => format!("yaml_parse: {reason} at line {line} column {column}"),
        }
    }
}

#[derive(Default)]
struct Reader {
    document: Option<Value>,
    /// What has not ended, the innermost last.
    open: Vec<Open>,
    /// What aliases stand for.
    anchors: HashMap<usize, Node>,
    /// How many values were repeated.
    repeated: usize,
}

/// A list or mapping that has not ended.
struct Open {
    anchor: usize,
    content: Content,
    /// How many values it holds, those of aliases included.
    size: usize,
}

enum Content {
    List(Vec<Value>),
    /// With the key whose value comes next.
    Dict(Dict, Option<Text>),
}

/// A value that is complete, and of how many values it consists.
#[derive(Clone)]
struct Node {
    value: Value,
    size: usize,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) -> Result<(), Problem> {
        match event {
            Event::Scalar(word, style, anchor, tag) => {
                let value = scalar(&word, style, tag.as_deref())?;
                self.complete(anchor, Node { value, size: 1 })
            }
            Event::SequenceStart(anchor, tag) => {
                check_tag(tag.as_deref())?;
                self.begin(anchor, Content::List(Vec::new()));
                Ok(())
            }
            Event::MappingStart(anchor, tag) => {
                check_tag(tag.as_deref())?;
                self.begin(anchor, Content::Dict(Dict::default(), None));
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    let value = match open.content {
                        Content::List(items) => Value::list(items),
                        Content::Dict(dict, _) => dict.into(),
                    };
                    let size = open.size;
                    self.complete(open.anchor, Node { value, size })
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => self.alias(anchor),
            Event::DocumentStart(_) if self.document.is_some() => {
                Err(Problem::Text("more than one document".to_owned()))
            }
            Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::StreamStart
            | Event::StreamEnd
            | Event::Nothing => Ok(()),
        }
    }

    fn begin(&mut self, anchor: usize, content: Content) {
        self.open.push(Open {
            anchor,
            content,
            size: 1,
        });
    }

    /// The value of an anchor again.
    fn alias(&mut self, anchor: usize) -> Result<(), Problem> {
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            let problem = "an alias stands for what it is in";
            return Err(Problem::Text(problem.to_owned()));
        };
        self.repeated = self.repeated.saturating_add(node.size);
        if self.repeated > REPEATED_MAX {
            return Err(Problem::Text("aliases repeat too much".to_owned()));
        }
        self.complete(0, node)
    }

    /// Puts a value where it belongs.
    fn complete(&mut self, anchor: usize, node: Node) -> Result<(), Problem> {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.document = Some(node.value);
            return Ok(());
        };
        open.size += node.size;
        match &mut open.content {
            Content::List(items) => items.push(node.value),
            Content::Dict(dict, key) => match key.take() {
                Some(key) => {
                    dict.insert(key, node.value);
                }
                None => {
                    let name = key_text(node.value)?;
                    if dict.get_text(&name).is_some() {
                        return Err(Problem::Text(format!("duplicate key \"{name}\"")));
                    }
                    *key = Some(name);
                }
            },
        }
        Ok(())
    }
}

fn key_text(key: Value) -> Result<Text, Problem> {
    match key {
        Value::Text(key) => Ok(key),
        Value::Int(_) | Value::Bool(_) => Ok(key.to_text()),
        other => Err(Problem::Form(format!(
            "keys must be strings, ints or bools, got {}",
            other.type_name()
        ))),
    }
}

fn scalar(word: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, Problem> {
    let Some(tag) = check_tag(tag)? else {
        return Ok(match style {
            ScalarStyle::Plain => scalar::resolve(word),
            _ => word.into(),
        });
    };
    let resolved = scalar::resolve(word);
    let fits = match (tag.as_str(), &resolved) {
        ("null", Value::Nil) | ("bool", Value::Bool(_)) | ("int", Value::Int(_)) => true,
        ("float", Value::Float(_)) => true,
        ("float", Value::Int(number)) => return Ok(Value::Float(*number as f64)),
        ("null" | "bool" | "int" | "float", _) => false,
        _ => return Ok(word.into()),
    };
    match fits {
        true => Ok(resolved),
        false => Err(Problem::Text(format!("\"{word}\" is no {tag}"))),
    }
}

/// The name of a tag of YAML itself. A lone `!` says that something is a text. What any other
/// tag means, only whoever wrote it knows.
fn check_tag(tag: Option<&Tag>) -> Result<Option<String>, Problem> {
    let Some(tag) = tag else {
        return Ok(None);
    };
    let full = format!("{}{}", tag.handle, tag.suffix);
    if full == "!" {
        return Ok(Some("str".to_owned()));
    }
    match full.strip_prefix("tag:yaml.org,2002:") {
        Some(name) => Ok(Some(name.to_owned())),
        None => Err(Problem::Form(format!("the tag {full} has no form in JSON"))),
    }
}
