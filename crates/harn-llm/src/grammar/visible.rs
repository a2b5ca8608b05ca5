//! What people see of an answer: without thoughts, calls, markers and machine talk.

use serde_json::Value;

use super::extract::balanced;
use super::split::PATIENCE;

/// Blocks that are never shown, in the order they are taken out.
const HIDDEN: [(&str, &str); 3] = [
    ("<|tool_call|>", "</|tool_call|>"),
    ("<tool_call>", "</tool_call>"),
    ("<done>", "</done>"),
];
const RESULT: (&str, &str) = ("<tool_result", "</tool_result>");
const OBSERVATION: &str = "[result of ";
const RESPONSE: (&str, &str) = ("<user_response>", "</user_response>");
const PROSE: (&str, &str) = ("<assistant_prose>", "</assistant_prose>");
/// Lines that only say that something is over.
const MARKER_LINES: [&str; 3] = ["##DONE##", "DONE", "PLAN_READY"];
/// How plans of machines say what they are.
const MODES: [&str; 3] = ["fast_execute", "plan_then_execute", "ask_user"];
const PLAN_KEYS: [&str; 14] = [
    "plan",
    "steps",
    "tool_calls",
    "tool_name",
    "verification",
    "execution_mode",
    "required_outputs",
    "files_to_edit",
    "next_action",
    "reasoning",
    "direction",
    "targets",
    "tasks",
    "unknowns",
];
const JSON_FENCE: &str = "```json";

/// What people see of a whole answer.
pub fn sanitize(text: &str) -> String {
    sanitized(text, false)
}

/// What people see of an answer while it arrives.
#[derive(Clone, Debug, Default)]
pub struct VisibleStream {
    raw: String,
    shown: String,
    /// How much has come since the last look.
    unseen_bytes: usize,
}

/// A look costs as much as there is of the text, so there is one when this part of it is new.
const LOOK_AT_PART: usize = 128;

/// What one piece of an answer changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Everything visible so far.
    pub text: String,
    /// What came on top of what was visible before, or everything if that has changed.
    pub delta: String,
}

impl VisibleStream {
    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) -> Shown {
        self.raw.push_str(piece);
        let text = sanitized(&self.raw, true);
        self.show(text)
    }

    /// Takes the next piece and gives what has become visible. The longer the answer is, the
    /// more of it comes at once: looking at all of it for every piece would take for ever.
    pub fn feed(&mut self, piece: &str) -> String {
        self.raw.push_str(piece);
        self.unseen_bytes += piece.len();
        if self.unseen_bytes.saturating_mul(LOOK_AT_PART) < self.raw.len() {
            return String::new();
        }
        self.unseen_bytes = 0;
        let text = sanitized(&self.raw, true);
        let delta = text.strip_prefix(self.shown.as_str());
        let delta = delta.unwrap_or(&text).to_owned();
        self.shown = text;
        delta
    }

    /// The answer is over: nothing is held back any longer.
    pub fn finish(&mut self) -> Shown {
        let text = sanitize(&self.raw);
        self.show(text)
    }

    fn show(&mut self, text: String) -> Shown {
        let delta = text
            .strip_prefix(self.shown.as_str())
            .unwrap_or(&text)
            .to_owned();
        self.shown.clone_from(&text);
        Shown { text, delta }
    }
}

fn sanitized(raw: &str, is_partial: bool) -> String {
    plain_line(raw, is_partial).unwrap_or_else(|| looked_through(raw, is_partial))
}

/// What people see of a line in which nothing can be hidden, as most pieces of answers are.
fn plain_line(raw: &str, is_partial: bool) -> Option<String> {
    let may_hide = |byte| matches!(byte, b'<' | b'[' | b'{' | b'`' | b'\n');
    if raw.bytes().any(may_hide) {
        return None;
    }
    let line = raw.trim();
    let is_marker = MARKER_LINES.iter().any(|marker| match is_partial {
        true => !line.is_empty() && marker.starts_with(line),
        false => *marker == line,
    });
    Some(match is_marker {
        true => String::new(),
        false => line.to_owned(),
    })
}

fn looked_through(raw: &str, is_partial: bool) -> String {
    let mut text = without_blocks(raw, "<think>", "</think>");
    if let Some(at) = text.find("<think>") {
        text.truncate(at);
    }
    for (open, close) in HIDDEN {
        text = without_blocks(&text, open, close);
    }
    text = without_blocks(&text, RESULT.0, RESULT.1);
    text = without_observations(&text);
    if is_partial {
        cut_unclosed(&mut text);
    }
    text = without_marker_lines(&text);
    text = match responses(&text, is_partial) {
        Some(bodies) => bodies,
        None => unwrapped(&text, is_partial),
    };
    text = without_plan_fences(&text, is_partial);
    text = without_inline_plans(&text);
    let text = text.replace("\r\n", "\n").replace("\n\n\n", "\n\n");
    text.trim().to_owned()
}

/// Takes out everything from an opening mark to the next closing one.
fn without_blocks(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(open) {
        let Some(end) = rest[at..].find(close) else {
            break;
        };
        kept.push_str(&rest[..at]);
        rest = &rest[at + end + close.len()..];
    }
    kept.push_str(rest);
    kept
}

/// Takes out `[result of X]…[end of X…]`.
fn without_observations(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut patience = PATIENCE;
    while let Some(at) = rest.find(OBSERVATION).filter(|_| patience > 0) {
        let Some(end) = observation_end(&rest[at..]) else {
            patience -= 1;
            kept.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        kept.push_str(&rest[..at]);
        rest = &rest[at + end..];
    }
    kept.push_str(rest);
    kept
}

fn observation_end(text: &str) -> Option<usize> {
    let name_end = text.find(']')?;
    let closing = format!("[end of {}", &text[OBSERVATION.len()..name_end]);
    let close = name_end + text[name_end..].find(&closing)? + closing.len();
    Some(close + text[close..].find(']')? + 1)
}

/// Cuts off a block that is still being written, and what may become a tag.
fn cut_unclosed(text: &mut String) {
    let opens = HIDDEN.iter().map(|(open, _)| *open);
    for open in opens.chain([RESULT.0, OBSERVATION]) {
        if let Some(at) = text.find(open) {
            text.truncate(at);
        }
    }
    let markers = [
        "<think>",
        RESULT.0,
        OBSERVATION,
        RESPONSE.0,
        RESPONSE.1,
        PROSE.0,
        PROSE.1,
    ];
    let markers = markers
        .into_iter()
        .chain(HIDDEN.iter().map(|(open, _)| *open));
    let held = markers.filter_map(|marker| overlap(text, marker)).max();
    text.truncate(text.len() - held.unwrap_or(0));
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    let word = text[line..].trim();
    if !word.is_empty() && MARKER_LINES.iter().any(|marker| marker.starts_with(word)) {
        text.truncate(line);
    }
}

/// How much of the end of a text is the beginning of a marker.
fn overlap(text: &str, marker: &str) -> Option<usize> {
    (1..marker.len())
        .rev()
        .find(|length| text.ends_with(&marker[..*length]))
}

fn without_marker_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        if MARKER_LINES.contains(&line.trim()) {
            ""
        } else {
            line
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The bodies of what was said to the user; one that is still being written counts when the
/// text is still arriving.
fn responses(text: &str, is_partial: bool) -> Option<String> {
    let mut bodies = Vec::new();
    let mut found = false;
    let mut rest = text;
    while let Some(at) = rest.find(RESPONSE.0) {
        let body = &rest[at + RESPONSE.0.len()..];
        let (body, after) = match body.find(RESPONSE.1) {
            Some(end) => (&body[..end], &body[end + RESPONSE.1.len()..]),
            None if is_partial => (body, ""),
            None => break,
        };
        found = true;
        bodies.push(body.trim());
        rest = after;
    }
    bodies.retain(|body| !body.is_empty());
    found.then(|| bodies.join("\n\n"))
}

/// The text with the tags around prose taken off.
fn unwrapped(text: &str, is_partial: bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(PROSE.0) {
        let body = &rest[at + PROSE.0.len()..];
        let (body, after) = match body.find(PROSE.1) {
            Some(end) => (&body[..end], &body[end + PROSE.1.len()..]),
            None if is_partial => (body, ""),
            None => break,
        };
        kept.push_str(&rest[..at]);
        kept.push_str(body.trim());
        rest = after;
    }
    kept.push_str(rest);
    kept
}

fn without_plan_fences(text: &str, is_partial: bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(JSON_FENCE) {
        let body = &rest[at + JSON_FENCE.len()..];
        let Some(end) = body.find("```") else {
            if is_partial {
                // It may turn out to be a plan.
                kept.push_str(&rest[..at]);
                return kept;
            }
            break;
        };
        let after = at + JSON_FENCE.len() + end + 3;
        let is_plan = serde_json::from_str(body[..end].trim()).is_ok_and(|value| is_plan(&value));
        kept.push_str(&rest[..if is_plan { at } else { after }]);
        rest = &rest[after..];
    }
    kept.push_str(rest);
    kept
}

/// Whether JSON is talk between machines.
fn is_plan(value: &Value) -> bool {
    let mode = value.get("mode").and_then(Value::as_str);
    mode.is_some_and(|mode| MODES.contains(&mode)) || has_plan_key(value)
}

/// The depth of JSON that was parsed is bounded by its parser.
fn has_plan_key(value: &Value) -> bool {
    match value {
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| PLAN_KEYS.contains(&key.as_str()) || has_plan_key(value)),
        Value::Array(list) => list.iter().any(has_plan_key),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Takes out objects that begin with `"mode"` and one of the three.
fn without_inline_plans(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut patience = PATIENCE;
    while let Some(at) = rest.find('{').filter(|_| patience > 0) {
        let object = &rest[at..];
        let is_plan = begins_plan(object);
        let whole = is_plan.then(|| balanced(object, b'{', b'}')).flatten();
        let length = whole.map(str::len);
        let Some(length) = length else {
            patience -= usize::from(is_plan);
            kept.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        kept.push_str(&rest[..at]);
        rest = &object[length..];
    }
    kept.push_str(rest);
    kept
}

fn begins_plan(object: &str) -> bool {
    let key = object[1..].trim_start().strip_prefix("\"mode\"");
    let value = key.and_then(|rest| rest.trim_start().strip_prefix(':'));
    let mode = value.and_then(|rest| rest.trim_start().strip_prefix('"'));
    mode.is_some_and(|mode| {
        MODES.iter().any(|known| {
            mode.strip_prefix(known)
                .is_some_and(|rest| rest.starts_with('"'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_is_fed_shows_the_same_in_the_end() {
        let text = "<assistant_prose>Some prose.</assistant_prose>\n<tool_call>f({})</tool_call>\n"
            .repeat(50)
            + "<done>##DONE##</done>";
        for size in [1, 3, 7, 1000] {
            let mut stream = VisibleStream::default();
            let mut shown = String::new();
            for piece in text.as_bytes().chunks(size) {
                shown.push_str(&stream.feed(std::str::from_utf8(piece).unwrap()));
            }
            shown.push_str(&stream.finish().delta);
            assert_eq!(shown, sanitize(&text), "{size}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_plain_line_is_what_looking_through_it_gives(
            words in proptest::collection::vec("DONE|PLAN_|READY|#{1,2}|[ \\r]|[a-z.]{1,3}", 0..5),
            is_partial: bool,
        ) {
            let line = words.concat();
            let plain = plain_line(&line, is_partial).expect("nothing can be hidden in it");
            assert_eq!(plain, looked_through(&line, is_partial), "{line:?}");
        }
    }

    #[test]
    fn machine_talk_is_taken_out() {
        for (text, expected) in [
            ("a<think>b</think>c", "ac"),
            ("a<think>b", "a"),
            ("a<|tool_call|>b</|tool_call|>c", "ac"),
            ("a <tool_call>b</tool_call> c", "a  c"),
            ("ok\n<done>##DONE##</done>", "ok"),
            ("a<tool_result id=\"1\">b</tool_result>c", "ac"),
            (
                "a[result of read]\nx ]\n[end of read result]\n\nb",
                "a\n\nb",
            ),
            ("a[result of read]\nx", "a[result of read]\nx"),
            (
                "[result of a] b [result of c]d[end of c]",
                "[result of a] b",
            ),
            ("hi\n ##DONE## \n", "hi"),
            ("hi\nDONE\nPLAN_READY", "hi"),
            ("say ##DONE## when done", "say ##DONE## when done"),
            ("<assistant_prose>\n a\n</assistant_prose> b", "a b"),
            (
                "x<user_response> a </user_response>y<user_response></user_response><user_response>b</user_response>",
                "a\n\nb",
            ),
            ("a\n```json\n{\"x\": {\"steps\": []}}\n```\nb", "a\n\nb"),
            (
                "a\n```json\n{\"x\": 1}\n```\nb",
                "a\n```json\n{\"x\": 1}\n```\nb",
            ),
            (
                "a {\"mode\": \"ask_user\", \"q\": {\"z\": \"}\"}} b",
                "a  b",
            ),
            ("a {\"mode\": \"other\"} b", "a {\"mode\": \"other\"} b"),
            ("a\r\nb\n\n\n\nc", "a\nb\n\n\nc"),
            ("<tool_call>half", "<tool_call>half"),
        ] {
            assert_eq!(sanitize(text), expected, "{text:?}");
        }
    }

    #[test]
    fn half_written_tags_never_show() {
        let mut stream = VisibleStream::default();
        for (piece, text, delta) in [
            ("Hello", "Hello", "Hello"),
            (" wor", "Hello wor", " wor"),
            ("ld <to", "Hello world", "ld"),
            ("ol_call>read({})", "Hello world", ""),
            ("</tool_call>!", "Hello world !", " !"),
            ("\n##DO", "Hello world !", ""),
            ("NE##", "Hello world !", ""),
        ] {
            let shown = stream.push(piece);
            assert_eq!(
                (shown.text.as_str(), shown.delta.as_str()),
                (text, delta),
                "{piece}"
            );
        }
    }

    #[test]
    fn prose_shows_while_it_is_written() {
        let mut stream = VisibleStream::default();
        assert_eq!(stream.push("<assistant_prose>I lo").text, "I lo");
        assert_eq!(stream.push("ok</assist").text, "I look");
        assert_eq!(stream.push("ant_prose><user_response>Yes").delta, "Yes");
        assert_eq!(stream.push("!</user_response>").text, "Yes!");
        assert_eq!(stream.finish().delta, "");
    }

    #[test]
    fn what_was_held_back_shows_at_the_end() {
        let mut stream = VisibleStream::default();
        assert_eq!(stream.push("a <don").text, "a");
        assert_eq!(stream.finish().text, "a <don");
    }
}
