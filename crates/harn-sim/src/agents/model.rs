//! A model that does as the seed says.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use harn_agent::llm::transport::{Body, HttpAnswer, Later, TimeLimits, Transport};
use harn_agent::llm::wire::HttpRequest;
use harn_agent::llm::{Category, Error};
use serde_json::Value;

use super::answer::{self, Ending, Reaction};
use super::demands;
use super::speech::Language;
use super::world::{World, lock};

/// How long a model is silent that will say no more.
const SILENCE: Duration = Duration::from_secs(120);

/// What the system prompt of each run begins with, so that the model knows whom it talks to:
/// `SIM <session> <run> <format>`.
const MARK: &str = "SIM ";

/// The first line of the system prompt of a run.
pub(super) fn mark(session_id: &str, run: &str, format: &str) -> String {
    format!("{MARK}{session_id} {run} {format}")
}

/// A model that does as the seed says.
pub(super) struct SimModel {
    world: Weak<World>,
    /// How often it was asked, by run.
    asked: Mutex<BTreeMap<String, u64>>,
}

impl SimModel {
    pub(super) fn new(world: Weak<World>) -> Self {
        Self {
            world,
            asked: Mutex::default(),
        }
    }

    fn react(&self, world: &World, body: &Value) -> Reaction {
        let marked = mark_of(body).unwrap_or_default();
        let format = marked.rsplit(' ').next().unwrap_or_default().to_owned();
        let before = {
            let mut asked = lock(&self.asked);
            let count = asked.entry(marked).or_default();
            *count += 1;
            *count - 1
        };
        match world.is_calm() {
            true => answer::good(&format, before),
            false => {
                let sequence = lock(&self.asked).values().sum();
                world.choose(|random| answer::wild(&format, sequence, random))
            }
        }
    }
}

/// The line that says who asks; a question for a summary has none.
fn mark_of(body: &Value) -> Option<String> {
    let texts = [&body["system"], &body["messages"][0]["content"]];
    let system = texts.into_iter().find_map(|text| match text {
        Value::String(text) => Some(text.as_str()),
        other => other[0]["text"].as_str(),
    })?;
    let rest = system.strip_prefix(MARK)?;
    rest.lines().next().map(str::to_owned)
}

impl Transport for SimModel {
    fn send<'a>(
        &'a self,
        request: &'a HttpRequest,
        _: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>> {
        Box::pin(async move {
            let world = self.world.upgrade().expect("the world outlives its model");
            let language = Language::at(&request.url);
            for complaint in demands::complaints(language, &request.body) {
                world.complain(format!("the provider refuses the request: {complaint}"));
                world.tell(|| format!("request {:#}", request.body["messages"]));
            }
            let reaction = self.react(&world, &request.body);
            let who = mark_of(&request.body).unwrap_or_else(|| "a summary".to_owned());
            world.tell(|| format!("model for {who}: {reaction:?}"));
            world.pause().await;
            match reaction {
                Reaction::Refusal(status) => {
                    world.count(format!("model refused {status}"));
                    Ok(refusal(status))
                }
                Reaction::Unreachable(category) => {
                    world.count("model unreachable");
                    Err(Error::new(category, "nobody there"))
                }
                Reaction::Answer(blocks, ending) => {
                    let frames = language.frames(&blocks);
                    Ok(HttpAnswer {
                        status: 200,
                        headers: vec![(
                            "content-type".to_owned(),
                            language.content_type().to_owned(),
                        )],
                        body: Box::new(self.speak(&world, language, frames, ending)),
                    })
                }
            }
        })
    }
}

fn refusal(status: u16) -> HttpAnswer {
    let body = "{\"error\": {\"type\": \"error\", \"message\": \"no\"}}";
    HttpAnswer {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Box::new(Speech {
            world: Weak::new(),
            pieces: VecDeque::from([Piece::Bytes(Bytes::from(body))]),
        }),
    }
}

impl SimModel {
    fn speak(
        &self,
        world: &World,
        language: Language,
        frames: Vec<String>,
        ending: Ending,
    ) -> Speech {
        let part = |percent: u64| {
            let count = frames.len() as u64 * percent / 100;
            usize::try_from(count).unwrap_or(0)
        };
        let (kept, last) = match ending {
            Ending::Whole => (frames.len(), None),
            Ending::Cut(percent) => (part(percent), None),
            Ending::Error(percent) => {
                let failure = Bytes::from(language.failure());
                (part(percent), Some(Piece::Bytes(failure)))
            }
            Ending::Silence(percent) => (part(percent), Some(Piece::Silence)),
        };
        if ending != Ending::Whole {
            let word = match ending {
                Ending::Cut(_) => "cut",
                Ending::Error(_) => "error",
                _ => "silence",
            };
            world.count(format!("model {word} in the middle"));
        }
        let said: String = frames[..kept].concat();
        let mut pieces = cut(world, said.as_bytes());
        pieces.extend(last);
        Speech {
            world: self.world.clone(),
            pieces,
        }
    }
}

/// Cuts bytes anywhere, as networks do, and waits here and there.
fn cut(world: &World, mut bytes: &[u8]) -> VecDeque<Piece> {
    let mut pieces = VecDeque::new();
    while !bytes.is_empty() {
        let (length, waits) = world.choose(|random| {
            let length = match random.percent(50) {
                true => random.between(1, 200),
                false => random.between(200, 4000),
            };
            (length, random.percent(40))
        });
        let length = usize::try_from(length).unwrap_or(1).min(bytes.len());
        if waits {
            pieces.push_back(Piece::Wait);
        }
        pieces.push_back(Piece::Bytes(Bytes::copy_from_slice(&bytes[..length])));
        bytes = &bytes[length..];
    }
    pieces
}

enum Piece {
    Bytes(Bytes),
    Wait,
    Silence,
}

/// An answer that arrives.
struct Speech {
    world: Weak<World>,
    pieces: VecDeque<Piece>,
}

impl Body for Speech {
    fn chunk(&mut self) -> Later<'_, Result<Option<Bytes>, Error>> {
        Box::pin(async move {
            loop {
                match self.pieces.pop_front() {
                    None => return Ok(None),
                    Some(Piece::Bytes(bytes)) => return Ok(Some(bytes)),
                    Some(Piece::Wait) => {
                        if let Some(world) = self.world.upgrade() {
                            world.pause().await;
                        }
                    }
                    Some(Piece::Silence) => {
                        if let Some(world) = self.world.upgrade() {
                            world.pause().await;
                        }
                        tokio::time::sleep(SILENCE).await;
                        return Err(Error::new(Category::Timeout, "nothing came any more"));
                    }
                }
            }
        })
    }
}
