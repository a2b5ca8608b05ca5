//! Reads one frame as a JSON-RPC message, or says what is wrong with it.
//!
//! The rules, in the order in which they are applied: UTF-8; not too deep; one JSON value and
//! nothing after it; an object and no batch; `jsonrpc` is `"2.0"`; an id is a string or an
//! integer. What looks like a notification is never answered, however broken it is. A broken
//! answer to a question of ours still ends the question: the asker gets an error, because one
//! that waits for ever would be worse.

use serde_json::{Map, Value, json};

/// One message.
#[derive(Debug, PartialEq)]
pub(crate) enum Envelope {
    /// Wants an answer.
    Request {
        /// Names the request in its answer.
        id: Id,
        /// What is wanted.
        method: String,
        /// An object, a list or nothing.
        params: Value,
    },
    /// Wants none.
    Notification {
        /// What is said.
        method: String,
        /// An object, a list or nothing.
        params: Value,
    },
    /// Answers a request of ours.
    Response {
        /// The request.
        id: Id,
        /// The result, or the error as it came.
        outcome: Result<Value, WireError>,
    },
}

/// The id of a request, which keeps its type: `1` and `"1"` are different.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// An integer.
    Number(i64),
    /// A string.
    Text(String),
}

/// An error that the peer answered with.
#[derive(Debug, PartialEq)]
pub(crate) struct WireError {
    /// Its number.
    pub(crate) code: i32,
    /// What it says to people.
    pub(crate) message: String,
    /// What it says to programs.
    pub(crate) data: Option<Value>,
}

/// Why a frame is no message.
#[derive(Debug, PartialEq)]
pub(crate) enum Refusal {
    /// The peer is told.
    Answer {
        /// The request, if one can be made out.
        id: Option<Id>,
        /// What is wrong.
        fault: Fault,
    },
    /// A notification that is none.
    BrokenNotification,
    /// An answer that says not what it answers.
    BrokenResponse,
}

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Not UTF-8.
    NotUtf8,
    /// Not JSON, or more than one value.
    NotJson,
    /// Nests deeper than the limit.
    TooDeep,
    /// A list of messages.
    Batch,
    /// A value that is no object.
    NotAnObject,
    /// Neither `method` nor `result` nor `error`.
    NotAMessage,
    /// `jsonrpc` is missing or not `"2.0"`.
    NotVersion2,
    /// The id is `null`.
    NullId,
    /// The id is neither a string nor an integer.
    BadId,
    /// The method is no string.
    BadMethod,
    /// The parameters are neither an object nor a list.
    BadParams,
    /// A request with a result or an error.
    RequestAndResponse,
}

impl Fault {
    /// The code of JSON-RPC.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::NotUtf8 | Self::NotJson => PARSE_ERROR,
            _ => INVALID_REQUEST,
        }
    }

    /// Says it to a person. Nothing of the frame is repeated: it may hold a secret.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::NotUtf8 => "the frame is not UTF-8",
            Self::NotJson => "the frame is not one JSON value",
            Self::TooDeep => "the frame nests too deep",
            Self::Batch => "batches are not supported",
            Self::NotAnObject => "a message is an object",
            Self::NotAMessage => "a message has a `method`, a `result` or an `error`",
            Self::NotVersion2 => "`jsonrpc` must be \"2.0\"",
            Self::NullId => "the `id` of a request must not be null",
            Self::BadId => "an `id` is a string or an integer of 64 bits",
            Self::BadMethod => "`method` must be a string",
            Self::BadParams => "`params` must be an object or a list",
            Self::RequestAndResponse => "a message is a request or a response, not both",
        }
    }
}

/// The frame is no JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The frame is no message.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// It is our fault, or we are too busy.
pub(crate) const INTERNAL_ERROR: i32 = -32603;

/// Reads a frame.
pub(crate) fn read(frame: &[u8], depth_max: usize) -> Result<Envelope, Refusal> {
    let text = std::str::from_utf8(frame).map_err(|_| told(None, Fault::NotUtf8))?;
    if is_deeper(frame, depth_max) {
        return Err(told(None, Fault::TooDeep));
    }
    match serde_json::from_str(text) {
        Err(_) => Err(told(None, Fault::NotJson)),
        Ok(Value::Object(message)) => read_object(message),
        Ok(Value::Array(_)) => Err(told(None, Fault::Batch)),
        Ok(_) => Err(told(None, Fault::NotAnObject)),
    }
}

/// An error answer. Without an id it is about a frame nobody can name.
pub(crate) fn error_answer(
    id: Option<&Id>,
    code: i32,
    message: &str,
    data: Option<Value>,
) -> String {
    let id = match id {
        None => Value::Null,
        Some(Id::Number(number)) => json!(number),
        Some(Id::Text(text)) => json!(text),
    };
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

fn told(id: Option<Id>, fault: Fault) -> Refusal {
    Refusal::Answer { id, fault }
}

/// Whether objects and lists nest deeper than `max`. Text that is no JSON may be miscounted;
/// it is refused a moment later in any case.
fn is_deeper(text: &[u8], max: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > max {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

fn read_object(mut message: Map<String, Value>) -> Result<Envelope, Refusal> {
    let has_outcome = message.contains_key("result") || message.contains_key("error");
    match (message.contains_key("method"), message.remove("id")) {
        (true, None) => read_notification(message, has_outcome),
        (true, Some(id)) => read_request(message, id, has_outcome),
        (false, id) if has_outcome => read_response(message, id),
        (false, id) => {
            let id = id.and_then(|id| read_id(id).ok());
            Err(told(id, Fault::NotAMessage))
        }
    }
}

fn read_id(id: Value) -> Result<Id, Fault> {
    match id {
        Value::Null => Err(Fault::NullId),
        Value::String(text) => Ok(Id::Text(text)),
        Value::Number(number) => number.as_i64().map(Id::Number).ok_or(Fault::BadId),
        _ => Err(Fault::BadId),
    }
}

fn read_notification(
    mut message: Map<String, Value>,
    has_outcome: bool,
) -> Result<Envelope, Refusal> {
    let (method, params) = (message.remove("method"), message.remove("params"));
    match (method, read_params(params)) {
        (Some(Value::String(method)), Ok(params)) if is_version_2(&message) && !has_outcome => {
            Ok(Envelope::Notification { method, params })
        }
        _ => Err(Refusal::BrokenNotification),
    }
}

fn read_request(
    mut message: Map<String, Value>,
    id: Value,
    has_outcome: bool,
) -> Result<Envelope, Refusal> {
    let id = read_id(id).map_err(|fault| told(None, fault))?;
    let fault = |fault| told(Some(id.clone()), fault);
    if !is_version_2(&message) {
        return Err(fault(Fault::NotVersion2));
    }
    if has_outcome {
        return Err(fault(Fault::RequestAndResponse));
    }
    let Some(Value::String(method)) = message.remove("method") else {
        return Err(fault(Fault::BadMethod));
    };
    let params = read_params(message.remove("params")).map_err(fault)?;
    Ok(Envelope::Request { id, method, params })
}

/// An answer of which at least the id can be read. What it answers must not wait for ever.
fn read_response(mut message: Map<String, Value>, id: Option<Value>) -> Result<Envelope, Refusal> {
    let id = id.ok_or(Refusal::BrokenResponse)?;
    let id = read_id(id).map_err(|_| Refusal::BrokenResponse)?;
    let is_version_2 = is_version_2(&message);
    let outcome = match (message.remove("result"), message.remove("error")) {
        (Some(result), None) if is_version_2 => Ok(result),
        (None, Some(error)) if is_version_2 => {
            Err(read_error(error).unwrap_or_else(WireError::broken))
        }
        _ => Err(WireError::broken()),
    };
    Ok(Envelope::Response { id, outcome })
}

fn read_error(error: Value) -> Option<WireError> {
    let Value::Object(mut error) = error else {
        return None;
    };
    let code = i32::try_from(error.get("code")?.as_i64()?).ok()?;
    let Some(Value::String(message)) = error.remove("message") else {
        return None;
    };
    Some(WireError {
        code,
        message,
        data: error.remove("data"),
    })
}

impl WireError {
    fn broken() -> Self {
        Self {
            code: INVALID_REQUEST,
            message: "the peer's answer is no JSON-RPC response".to_owned(),
            data: None,
        }
    }
}

/// Some write `null` where there are no parameters.
fn read_params(params: Option<Value>) -> Result<Value, Fault> {
    match params {
        None => Ok(Value::Null),
        Some(params @ (Value::Null | Value::Object(_) | Value::Array(_))) => Ok(params),
        Some(_) => Err(Fault::BadParams),
    }
}

fn is_version_2(message: &Map<String, Value>) -> bool {
    message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
}
