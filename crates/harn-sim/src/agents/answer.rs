//! What a model can come up with.

use harn_agent::llm::Category;
use serde_json::json;

use crate::random::Random;

/// How a model reacts to a question.
#[derive(Clone, Debug)]
pub(super) enum Reaction {
    /// It refuses with a status.
    Refusal(u16),
    /// It cannot be reached.
    Unreachable(Category),
    /// It answers.
    Answer(Vec<Block>, Ending),
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Thought(String),
    Text(String),
    /// A call over the provider's channel, with arguments as they were written.
    Call {
        id: Option<String>,
        /// For providers whose ids are never the same.
        number: u64,
        name: String,
        arguments: String,
    },
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// As it should.
    Whole,
    /// The connection ends after that part of it, in percent.
    Cut(u64),
    /// The provider says in the middle that something went wrong.
    Error(u64),
    /// Nothing comes any more, until somebody has had enough.
    Silence(u64),
}

/// The tools a model calls, known or not.
const NAMES: [&str; 9] = [
    "look", "look", "peek", "change", "run", "steady", "launch", "ledger", "",
];

const WORDS: [&str; 6] = [
    "I will look first.",
    "Grüße aus Köln, 東京 and 🦀.",
    "The answer is 42.",
    "next_phase: rest",
    "```rust\nfn main() {}\n```",
    "look({ path: \"a\" })",
];

/// Something that nobody expects.
pub(super) fn wild(format: &str, sequence: u64, random: &mut Random) -> Reaction {
    match random.below(100) {
        0..=3 => return Reaction::Refusal(*random.pick(&[400, 401, 404, 429, 500, 529])),
        4..=5 => {
            let categories = [Category::TransientNetwork, Category::Timeout];
            return Reaction::Unreachable(*random.pick(&categories));
        }
        6..=8 => return Reaction::Answer(Vec::new(), Ending::Whole),
        _ => {}
    }
    let mut blocks = Vec::new();
    if random.percent(25) {
        blocks.push(Block::Thought("Hm, let me think. ".repeat(2)));
    }
    let parts = random.between(0, 3);
    for part in 0..parts {
        blocks.extend(block(format, sequence * 10 + part, random));
    }
    if random.percent(25) {
        blocks.push(Block::Text(done(format)));
    }
    if random.percent(2) {
        blocks.push(Block::Text("so much to say ".repeat(1500)));
    }
    let ending = match random.below(100) {
        0..=5 => Ending::Cut(random.below(100)),
        6..=9 => Ending::Error(random.below(100)),
        10..=12 => Ending::Silence(random.below(100)),
        _ => Ending::Whole,
    };
    Reaction::Answer(blocks, ending)
}

/// What a good model says: it looks once, then it answers.
pub(super) fn good(format: &str, asked_before: u64) -> Reaction {
    let blocks = match asked_before {
        0 => vec![well_formed_call(
            format,
            ("good", u64::MAX),
            "steady",
            "{\"path\": \"a\"}",
        )],
        _ => vec![Block::Text(match format {
            "text" => "<user_response>All is well.</user_response>".to_owned(),
            _ => "All is well.".to_owned(),
        })],
    };
    Reaction::Answer(blocks, Ending::Whole)
}

fn done(format: &str) -> String {
    match format {
        "text" => "\n<done>##DONE##</done>\n".to_owned(),
        _ => "\n##DONE##\n".to_owned(),
    }
}

/// Prose, one call, or several.
fn block(format: &str, number: u64, random: &mut Random) -> Vec<Block> {
    if random.percent(30) {
        let words = *random.pick(&WORDS);
        let text = match (format, random.percent(50)) {
            ("text", true) => format!("<assistant_prose>\n{words}\n</assistant_prose>\n"),
            _ => format!("{words}\n"),
        };
        return vec![Block::Text(text)];
    }
    let count = match random.percent(20) {
        true => 3,
        false => 1,
    };
    let call = |at: u64| call(format, number * 10 + at, random);
    (0..count).map(call).collect()
}

fn call(format: &str, number: u64, random: &mut Random) -> Block {
    let name = *random.pick(&NAMES);
    let arguments = arguments(name, random);
    // Some models send calls over a channel that nobody has opened, and the other way round.
    let channel = match random.percent(6) {
        true => *random.pick(&["native", "text", "json"]),
        false => format,
    };
    if channel != "native" && random.percent(12) {
        return Block::Text(malformed(channel, name, random));
    }
    let id = match random.below(12) {
        0 => "again".to_owned(),
        1 => String::new(),
        _ => format!("c{number}"),
    };
    well_formed_call(channel, (&id, number), name, &arguments)
}

fn well_formed_call(format: &str, (id, number): (&str, u64), name: &str, arguments: &str) -> Block {
    match format {
        "native" => Block::Call {
            id: (!id.is_empty()).then(|| id.to_owned()),
            number,
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        },
        "json" => Block::Text(format!(
            "```tool\n{{\"name\": \"{name}\", \"args\": {arguments}}}\n```\n"
        )),
        _ => Block::Text(format!("<tool_call>\n{name}({arguments})\n</tool_call>\n")),
    }
}

fn arguments(name: &str, random: &mut Random) -> String {
    if name == "ledger" {
        let marked = json!({"action": "mark", "id": "deliverable-1", "status": "done"});
        return marked.to_string();
    }
    let path = *random.pick(&["a", "b", "a"]);
    match random.below(14) {
        0 => "{}".to_owned(),
        1 => "{\"path\": ".to_owned(),
        2 => "[1, 2]".to_owned(),
        3 => "{\"path\": 7, \"extra\": null}".to_owned(),
        4 => String::new(),
        _ => json!({ "path": path }).to_string(),
    }
}

fn malformed(format: &str, name: &str, random: &mut Random) -> String {
    let texts = match format {
        "json" => [
            format!("```tool\n{{\"name\": \"{name}\", \"args\": \n```\n"),
            format!("```tool\n{{\"name\": \"{name}\""),
            "```tool\n```\n".to_owned(),
            format!("```tool\n[{{\"tool\": \"{name}\"}}]\n```\n"),
        ],
        _ => [
            format!("<tool_call>\n{name}({{ path: \"a\"\n</tool_call>\n"),
            format!("<tool_call>\n{name}({{ path: \"a\" }})\n"),
            "<tool_call>\n</tool_call>\n".to_owned(),
            format!("<tool_call>{{\"name\": \"{name}\", \"arguments\": {{}}}}</tool_call></done>"),
        ],
    };
    random.pick(&texts).clone()
}
