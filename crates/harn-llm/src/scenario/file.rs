//! Reads a script and says on which line it is wrong.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use crate::{Category, Error};

/// How long a model takes to begin, unless the script says otherwise.
const FIRST_PAUSE_MS: u64 = 300;
/// How long it takes for a piece.
const PAUSE_MS: u64 = 20;

/// A mistake in a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistake {
    /// The script.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} line {}: {}",
            self.file, self.line, self.reason
        )
    }
}

/// What a script says, checked.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) model: Option<String>,
    pub(super) seed: u64,
    pub(super) turns: Vec<Turn>,
}

/// One answer.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// Where it begins in the file.
    pub(super) line: usize,
    pub(super) when: Option<String>,
    pub(super) repeat: bool,
    pub(super) thinking: Option<String>,
    pub(super) thinking_summary: Option<String>,
    pub(super) text: Option<String>,
    pub(super) refusal: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: UsageKeys,
    pub(super) stop: Option<String>,
    /// Instead of an answer.
    pub(super) error: Option<Error>,
    /// After how many pieces the connection is lost.
    pub(super) disconnect_after: Option<usize>,
    pub(super) pace: Pace,
}

/// A call in an answer.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: Option<String>,
    pub(super) tool: String,
    /// As the model writes them.
    pub(super) arguments: String,
}

/// How fast a model speaks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) first_pause_ms: u64,
    pub(super) pause_ms: u64,
    pub(super) piece_chars: Option<usize>,
}

/// Token counts; what is absent is estimated.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UsageKeys {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    pub(super) reasoning: u64,
}

/// The keys of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileKeys {
    model: Option<String>,
    #[serde(default)]
    seed: u64,
    first_pause_ms: Option<u64>,
    pause_ms: Option<u64>,
    piece_chars: Option<Spanned<usize>>,
    #[serde(default)]
    turn: Vec<Spanned<TurnKeys>>,
}

/// The keys of a turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnKeys {
    when: Option<String>,
    #[serde(default)]
    repeat: bool,
    thinking: Option<String>,
    thinking_summary: Option<String>,
    text: Option<String>,
    refusal: Option<String>,
    #[serde(default)]
    call: Vec<CallKeys>,
    #[serde(default)]
    usage: UsageKeys,
    stop: Option<String>,
    error: Option<ErrorKeys>,
    disconnect_after: Option<Spanned<usize>>,
    first_pause_ms: Option<u64>,
    pause_ms: Option<u64>,
    piece_chars: Option<Spanned<usize>>,
}

/// The keys of a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallKeys {
    tool: Spanned<String>,
    arguments: Option<Spanned<toml::Value>>,
    id: Option<String>,
}

/// The keys of an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorKeys {
    category: Spanned<String>,
    message: Option<String>,
    retry_after_ms: Option<u64>,
    status: Option<u16>,
}

/// A reason and where it is in the text.
type Fault = (Range<usize>, String);

impl Script {
    pub(super) fn read(file: &str, text: &str) -> Result<Self, Mistake> {
        let mistake = |(span, reason): Fault| Mistake {
            file: file.to_owned(),
            line: line_at(text, span.start),
            reason,
        };
        let keys: FileKeys = toml::from_str(text).map_err(|error: toml::de::Error| {
            let span = error.span().unwrap_or_default();
            mistake((span, error.message().to_owned()))
        })?;
        script(keys, text).map_err(mistake)
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    let before = text.bytes().take(offset);
    before.filter(|byte| *byte == b'\n').count() + 1
}

fn script(keys: FileKeys, text: &str) -> Result<Script, Fault> {
    if keys.turn.is_empty() {
        let reason = "there is no [[turn]], so the model has nothing to say";
        return Err((0..0, reason.to_owned()));
    }
    let pace = Pace {
        first_pause_ms: keys.first_pause_ms.unwrap_or(FIRST_PAUSE_MS),
        pause_ms: keys.pause_ms.unwrap_or(PAUSE_MS),
        piece_chars: piece_chars(keys.piece_chars)?,
    };
    let (mut line, mut counted) = (1, 0);
    let read = |keys: Spanned<TurnKeys>| {
        let span = keys.span();
        // Turns come in their order, so that no line is counted twice.
        line += line_at(&text[counted..], span.start - counted) - 1;
        counted = span.start;
        turn(keys.into_inner(), span, line, pace)
    };
    let turns: Result<Vec<Turn>, Fault> = keys.turn.into_iter().map(read).collect();
    Ok(Script {
        model: keys.model,
        seed: keys.seed,
        turns: turns?,
    })
}

fn turn(keys: TurnKeys, span: Range<usize>, line: usize, pace: Pace) -> Result<Turn, Fault> {
    let says_text = [
        &keys.thinking,
        &keys.thinking_summary,
        &keys.text,
        &keys.refusal,
    ];
    let says = says_text.iter().any(|text| text.is_some()) || !keys.call.is_empty();
    let reason = match (&keys.error, says) {
        (None, false) => Some(
            "this turn says nothing; give it a `text`, `thinking`, `call`, `refusal` or `error`",
        ),
        (Some(_), true) => Some(
            "a turn with an `error` says nothing; to fail within an answer use `disconnect_after`",
        ),
        (None, true) | (Some(_), false) => None,
    };
    if let Some(reason) = reason {
        return Err((span, reason.to_owned()));
    }
    let pace = Pace {
        first_pause_ms: keys.first_pause_ms.unwrap_or(pace.first_pause_ms),
        pause_ms: keys.pause_ms.unwrap_or(pace.pause_ms),
        piece_chars: piece_chars(keys.piece_chars)?.or(pace.piece_chars),
    };
    let calls: Result<Vec<Call>, Fault> = keys.call.into_iter().map(call).collect();
    Ok(Turn {
        line,
        when: keys.when,
        repeat: keys.repeat,
        thinking: keys.thinking,
        thinking_summary: keys.thinking_summary,
        text: keys.text,
        refusal: keys.refusal,
        calls: calls?,
        usage: keys.usage,
        stop: keys.stop,
        error: keys.error.map(error).transpose()?,
        disconnect_after: keys.disconnect_after.map(Spanned::into_inner),
        pace,
    })
}

fn piece_chars(count: Option<Spanned<usize>>) -> Result<Option<usize>, Fault> {
    match count {
        Some(count) if *count.get_ref() == 0 => {
            let reason = "a piece has at least one character";
            Err((count.span(), reason.to_owned()))
        }
        count => Ok(count.map(Spanned::into_inner)),
    }
}

fn call(keys: CallKeys) -> Result<Call, Fault> {
    if keys.tool.get_ref().is_empty() {
        return Err((keys.tool.span(), "`tool` is the name of a tool".to_owned()));
    }
    let arguments = match keys.arguments {
        None => "{}".to_owned(),
        Some(arguments) => {
            let span = arguments.span();
            match arguments.into_inner() {
                // To the letter, so that a script can also make mistakes.
                toml::Value::String(text) => text,
                toml::Value::Table(table) => to_json(toml::Value::Table(table)).to_string(),
                _ => return Err((span, "`arguments` are a table or a text".to_owned())),
            }
        }
    };
    Ok(Call {
        id: keys.id,
        tool: keys.tool.into_inner(),
        arguments,
    })
}

fn error(keys: ErrorKeys) -> Result<Error, Fault> {
    let span = keys.category.span();
    let word = keys.category.into_inner();
    let Some(category) = Category::from_word(&word) else {
        return Err((span, format!("there is no error category `{word}`")));
    };
    let message = keys
        .message
        .unwrap_or_else(|| format!("the script says {word}"));
    Ok(Error {
        status: keys.status,
        retry_after: keys.retry_after_ms.map(Duration::from_millis),
        ..Error::new(category, message)
    })
}

fn to_json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text),
        toml::Value::Integer(int) => Value::from(int),
        toml::Value::Float(float) => Value::from(float),
        toml::Value::Boolean(truth) => Value::from(truth),
        toml::Value::Datetime(time) => Value::from(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(to_json).collect(),
        toml::Value::Table(fields) => {
            let fields = fields.into_iter();
            let fields: Map<String, Value> =
                fields.map(|(key, field)| (key, to_json(field))).collect();
            Value::Object(fields)
        }
    }
}
