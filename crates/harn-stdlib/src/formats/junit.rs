//! What tests came to, as JUnit and everybody after it writes it down.
//!
//! ```text
//! <testsuites> ─► <testsuite> ─► <testcase> ─► <failure> <error> <skipped>
//!                                              <system-out> <system-err>
//! ```
//!
//! Reports come from tools of every age, so what is unusual is read as well as it goes. What
//! is not XML holds no test cases.

use harn_machine::{Context, Failure, Registry, Value, argument, thrown};
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("parse_junit_xml", parse_junit_xml)]);
}

fn parse_junit_xml(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let cases = match argument(arguments, 0) {
        Value::Nil => Vec::new(),
        Value::Text(text) => cases(text),
        Value::Bytes(bytes) => cases(&String::from_utf8_lossy(bytes)),
        other => {
            return thrown(format!(
                "parse_junit_xml: expected string or bytes, got {}",
                other.type_name()
            ));
        }
    };
    Ok(Value::list(cases))
}

/// The test cases of a report; none if it is not well-formed.
pub(super) fn cases(report: &str) -> Vec<Value> {
    let mut reader = Reader::from_str(report);
    let mut report = Report::default();
    loop {
        let is_well_formed = match reader.read_event() {
            Ok(Event::Start(tag)) => {
                report.start(&tag);
                true
            }
            Ok(Event::Empty(tag)) => {
                report.start(&tag);
                report.end();
                true
            }
            Ok(Event::End(_)) => {
                report.end();
                true
            }
            Ok(Event::Text(text)) => report.text(&text.xml10_content()),
            Ok(Event::CData(text)) => report.text(&text.xml10_content()),
            Ok(Event::GeneralRef(reference)) => report.text(&meaning(&reference)),
            Ok(Event::Eof) if report.depth == 0 => return report.cases,
            Ok(Event::Eof) | Err(_) => false,
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => true,
        };
        if !is_well_formed {
            return Vec::new();
        }
    }
}

/// What was read of a report.
#[derive(Default)]
struct Report {
    cases: Vec<Value>,
    /// How many elements are open.
    depth: usize,
    /// The test case that is open, and how deep it is.
    case: Option<(usize, Case)>,
    /// The part of it whose text is being read, and how deep that is.
    part: Option<(usize, Part)>,
}

#[derive(Default)]
struct Case {
    name: String,
    duration_ms: Option<i64>,
    outcome: Option<Outcome>,
    stdout: Option<String>,
    stderr: Option<String>,
}

/// What became of a test that did not pass.
struct Outcome {
    status: &'static str,
    message: Option<String>,
}

/// An element in a test case.
struct Part {
    kind: PartKind,
    message: Option<String>,
    text: String,
}

#[derive(Clone, Copy)]
enum PartKind {
    Outcome(&'static str),
    Output,
    Errors,
}

impl Report {
    fn start(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        if self.case.is_none() {
            if local_name(tag) == "testcase" {
                self.case = Some((self.depth, Case::new(tag)));
            }
            return;
        }
        if self.part.is_some() {
            return;
        }
        let kind = match local_name(tag).as_str() {
            "failure" => PartKind::Outcome("failed"),
            "error" => PartKind::Outcome("errored"),
            "skipped" => PartKind::Outcome("skipped"),
            "system-out" => PartKind::Output,
            "system-err" => PartKind::Errors,
            _ => return,
        };
        let part = Part {
            kind,
            message: attribute(tag, "message"),
            text: String::new(),
        };
        self.part = Some((self.depth, part));
    }

    /// Text outside of all parts says nothing.
    fn text(&mut self, text: &str) -> bool {
        if let Some((_, part)) = &mut self.part {
            part.text.push_str(text);
        }
        true
    }

    fn end(&mut self) {
        if let Some((_, part)) = self.part.take_if(|(depth, _)| *depth == self.depth)
            && let Some((_, case)) = &mut self.case
        {
            case.add(part);
        }
        if let Some((_, case)) = self.case.take_if(|(depth, _)| *depth == self.depth) {
            self.cases.push(case.finish());
        }
        self.depth = self.depth.saturating_sub(1);
    }
}

impl Case {
    fn new(tag: &BytesStart<'_>) -> Self {
        let name = attribute(tag, "name").unwrap_or_default();
        let class = attribute(tag, "classname").filter(|class| !class.is_empty());
        let seconds = attribute(tag, "time").and_then(|time| time.trim().parse::<f64>().ok());
        Self {
            name: match class {
                Some(class) => format!("{class}::{name}"),
                None => name,
            },
            duration_ms: seconds.map(|seconds| (seconds * 1000.0) as i64),
            ..Self::default()
        }
    }

    /// Of several parts of a kind the first one counts.
    fn add(&mut self, part: Part) {
        let text = part.text.trim();
        match part.kind {
            PartKind::Outcome(status) => {
                let message = match part.message {
                    Some(message) if text.is_empty() => Some(message),
                    Some(message) => Some(format!("{message}\n{text}")),
                    None if text.is_empty() => None,
                    None => Some(text.to_owned()),
                };
                self.outcome.get_or_insert(Outcome { status, message });
            }
            PartKind::Output => drop(self.stdout.get_or_insert_with(|| text.to_owned())),
            PartKind::Errors => drop(self.stderr.get_or_insert_with(|| text.to_owned())),
        }
    }

    fn finish(self) -> Value {
        let (status, message) = match self.outcome {
            Some(outcome) => (outcome.status, outcome.message),
            None => ("passed", None),
        };
        Value::dict([
            ("name", self.name.into()),
            ("status", status.into()),
            ("duration_ms", self.duration_ms.into()),
            ("message", message.into()),
            ("stdout", self.stdout.into()),
            ("stderr", self.stderr.into()),
        ])
    }
}

fn local_name(tag: &BytesStart<'_>) -> String {
    tag.local_name().as_ref().to_owned()
}

/// The value of an attribute, as it is written if nobody knows what its entities mean.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    // Comparing each with each is not worth it.
    let attributes = attributes.with_checks(false);
    let found = attributes.flatten().find(|one| one.key.as_ref() == name)?;
    Some(match unescape(&found.value) {
        Ok(value) => value.into_owned(),
        Err(_) => found.value.into_owned(),
    })
}

/// What a reference such as `&lt;` stands for; itself if nobody knows.
fn meaning(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(letter)) = reference.resolve_char_ref() {
        return letter.to_string();
    }
    let name = reference.xml10_content();
    match resolve_predefined_entity(&name) {
        Some(meaning) => meaning.to_owned(),
        None => format!("&{name};"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(report: &str) -> String {
        let mut out = String::new();
        crate::json::write(&Value::list(cases(report)), &mut out);
        out
    }

    #[test]
    fn cases_are_read_in_order() {
        let report = r#"<?xml version="1.0"?>
            <testsuites><testsuite name="s">
              <testcase classname="pkg.Mod" name="one" time="0.1239"/>
              <testcase name="two" classname="">
                <failure message="a &lt; b">
                  at &quot;line&quot; <![CDATA[<1>]]>&#33;
                </failure>
                <system-out> out </system-out><system-err/>
              </testcase>
              <testcase name="three"><error>boom</error></testcase>
              <testcase name="four"><skipped/></testcase>
              <testcase name="five"><properties><error/></properties></testcase>
            </testsuite></testsuites>"#;
        assert_eq!(
            shown(report),
            concat!(
                r#"[{"duration_ms":123,"message":null,"name":"pkg.Mod::one","status":"passed","#,
                r#""stderr":null,"stdout":null},"#,
                r#"{"duration_ms":null,"message":"a < b\nat \"line\" <1>!","name":"two","#,
                r#""status":"failed","stderr":"","stdout":"out"},"#,
                r#"{"duration_ms":null,"message":"boom","name":"three","status":"errored","#,
                r#""stderr":null,"stdout":null},"#,
                r#"{"duration_ms":null,"message":null,"name":"four","status":"skipped","#,
                r#""stderr":null,"stdout":null},"#,
                r#"{"duration_ms":null,"message":null,"name":"five","status":"errored","#,
                r#""stderr":null,"stdout":null}]"#,
            )
        );
    }

    #[test]
    fn what_is_not_well_formed_holds_nothing() {
        for report in [
            "",
            "not xml",
            "<testsuite><testcase name='a'/>",
            "<testsuite><testcase name='a'/></testsuites>",
            "<testcase name='a'",
            "<a></a></b>",
        ] {
            assert_eq!(shown(report), "[]", "{report}");
        }
    }

    #[test]
    fn depth_and_size_do_no_harm() {
        let deep = "<a>".repeat(200_000);
        assert_eq!(shown(&deep), "[]");
        let attributes: String = (0..100_000).map(|at| format!(" a{at}='1'")).collect();
        let wide = format!("<testcase{attributes} name='x'/>");
        assert!(shown(&wide).contains("\"name\":\"x\""));
    }
}
