//! Secrets of every kind, planted in every channel and in pieces of every size, are found by nobody.

use std::sync::Arc;

use harn_events::{
    AgentEvent, AgentEventSink, BusConfig, Completeness, EventBus, JsonlDirectory, KnownSecret,
    RedactionPolicy, StreamRedactor,
};
use serde_json::{Value, json};

use crate::support::{Recording, event, tool_call_with};

/// How secrets look, in the text that they are in. The secret stands between `<<` and `>>`; `#`
/// stands for a capital or digit, `@` for a letter or digit, `$` for a digit in hexadecimal and `^`
/// for the sign `@`.
const KINDS: &[(&str, &str)] = &[
    ("AWS id", "id <<AKIA################>> x"),
    (
        "AWS secret beside an id",
        "AKIA################ <<@@@@@@@@@@/@@@@@@@@@+@@@@@@@@@@@@@@@@@@@>> x",
    ),
    (
        "AWS secret by name",
        "aws_secret_access_key = <<@@@@@@@@@@/@@@@@@@@@+@@@@@@@@@@@@@@@@@@@>>",
    ),
    (
        "AWS session token",
        "AWS_SESSION_TOKEN=<<@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    (
        "Azure account key",
        "AccountName=a;AccountKey=<<@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@==>>;x",
    ),
    (
        "Azure signature",
        "https://a.example.org/b?sv=1&sig=<<@@@@@@@@@@@@@@@@@@@@@@@@%3D>> x",
    ),
    (
        "Google key",
        "key <<AIza@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    (
        "Google client",
        "c <<GOCSPX-@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    ("Google access", "c <<ya29.@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    (
        "Google refresh",
        "c <<1//0@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    (
        "GitHub classic",
        "c <<ghp_@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    (
        "GitHub app",
        "c <<ghs_@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    (
        "GitHub fine",
        "c <<github_pat_@@@@@@@@@@@@@@@@@@@@@@_@@@@@@@@@@@@>> x",
    ),
    ("GitLab", "c <<glpat-@@@@@@@@@@@@@@@@@@@@>> x"),
    ("npm", "c <<npm_@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    ("PyPI", "c <<pypi-@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    ("Docker Hub", "c <<dckr_pat_@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    (
        "docker auth",
        "{\"auths\": {\"h\": {\"auth\": \"<<@@@@@@@@@@@@@@@@@@@=>>\"}}}",
    ),
    ("OpenAI", "c <<sk-proj-@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    ("Anthropic", "c <<sk-ant-api03-@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    ("Groq", "c <<gsk_@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    (
        "Hugging Face",
        "c <<hf_@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    ("xAI", "c <<xai-@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    ("Perplexity", "c <<pplx-@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    ("Replicate", "c <<r8_@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    ("Databricks", "c <<dapi$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$>> x"),
    (
        "DigitalOcean",
        "c <<dop_v1_$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$>> x",
    ),
    (
        "Discord bot",
        "c <<M@@@@@@@@@@@@@@@@@@@@@@@.@@@@@@.@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    (
        "Discord hook",
        "https://discord.com/api/webhooks/123456789/<<@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    (
        "Telegram",
        "c <<123456789:AA@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    ("Slack bot", "c <<xoxb-123456789012-@@@@@@@@@@@@@@@@>> x"),
    ("Slack app", "c <<xapp-1-@@@@@@@@@@-@@@@@@@@@@@@@@@@>> x"),
    (
        "Slack hook",
        "https://hooks.slack.com/services/<<T@@@@@@@@/B@@@@@@@@/@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    ("Stripe", "c <<sk_live_@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    ("Stripe hook", "c <<whsec_@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    ("Square", "c <<sq0atp-@@@@@@@@@@@@@@@@@@@@@@>> x"),
    (
        "Square long",
        "c <<EAAA@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    ("Shopify", "c <<shpat_$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$>> x"),
    (
        "SendGrid",
        "c <<SG.@@@@@@@@@@@@@@@@@@@@@@.@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    (
        "Linear",
        "c <<lin_api_@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    ("Notion", "c <<ntn_@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    (
        "Notion of before",
        "c <<secret_@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>> x",
    ),
    ("Vault", "c <<hvs.@@@@@@@@@@@@@@@@@@@@@@@@>> x"),
    (
        "age",
        "c <<AGE-SECRET-KEY-1##################################################>> x",
    ),
    (
        "JWT",
        "c <<eyJ@@@@@@@@@@@@@@@.eyJ@@@@@@@@@@@@@@@@@@.@@@@@@@@@@@@@@@@@>> x",
    ),
    ("Mailgun", "c <<key-$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$>> x"),
    (
        "bearer",
        "Authorization: Bearer <<@@@@@@@@@@@@@@@@@@@@>>\nx",
    ),
    ("basic", "Authorization: Basic <<@@@@@@@@@@@@@@@@@@@=>>\nx"),
    ("cookie", "Cookie: <<sid=@@@@@@@@@@@@@@@@@@@>>\nx"),
    (
        "password in a URL",
        "postgres://<<u:@@@@@@@@@@@@>>^host/db x",
    ),
    ("password by name", "password=<<@@@@@@@@@@@@1>> x"),
    (
        "password in JSON",
        "{\"password\": \"<<@@@@@@ @@@@ @@@@>>\"}",
    ),
    (
        "password in XML",
        "<db><password><<@@@@ @@@@@@@@>></password></db>",
    ),
    (
        "password in YAML",
        "db:\n  password: <<horse @@@@ staple>>\nhost: h\n",
    ),
    ("pass in capitals", "SMTP_PASS=<<@@@@@@@@1>> x"),
    (
        "key base",
        "SECRET_KEY_BASE=<<$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$>> x",
    ),
    ("encryption key", "ENCRYPTION_KEY=<<@@@@@@@@@@@@@@@@>> x"),
    ("some key", "PAYMENT_KEY=<<@@@@@@@@@@@@@@@@1a@@@@@@@>> x"),
    ("option", "deploy --password <<@@@@@@@@@@1>> now"),
    ("curl", "curl -s -u admin:<<@@@@@@@@@@1>> https://h/"),
    ("sshpass", "sshpass -p <<@@@@@@@@@@1>> ssh h"),
    ("mysql", "mysql -u root -p<<@@@@@@@@@@1>> db"),
    ("netrc", "machine h login n password <<@@@@@@@@@@1>>\n"),
    (
        "private key",
        "-----BEGIN PRIVATE KEY-----\n<<@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>>\n-----END PRIVATE KEY-----\n",
    ),
    (
        "private key from its second line",
        "<<@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>>\n-----END PRIVATE KEY-----\n",
    ),
    (
        "line of a private key",
        "x\n<<Aa1@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@>>\ny\n",
    ),
    ("known", "the word is <<correct horse battery>> x"),
    (
        "known in base64",
        "the word is <<Y29ycmVjdCBob3JzZSBiYXR0ZXJ5>> x",
    ),
    (
        "known in a URL",
        "the word is <<correct%20horse%20battery>> x",
    ),
    (
        "known in hexadecimal",
        "the word is <<636f727265637420686f7273652062617474657279>> x",
    ),
];

/// Text in the pieces of an alphabet, always the same.
fn filled(pattern: &str) -> (String, String) {
    const LETTERS: &[u8] = b"q7Zr2PLm9XwK4tVbN8dHs3FyGc5Jk6Ae";
    const DIGITS: &[u8] = b"Q7ZR2PLM9XWK4TVBN8DHS3FYGC5JH6AE";
    const HEX: &[u8] = b"3f9a0c7be15d8246";
    let mut text = String::new();
    for (at, character) in pattern.chars().enumerate() {
        let of = |letters: &[u8]| char::from(letters[at * 7 % letters.len()]);
        text.push(match character {
            '@' => of(LETTERS),
            '#' => of(DIGITS),
            '$' => of(HEX),
            '^' => '@',
            other => other,
        });
    }
    let (before, rest) = text.split_once("<<").unwrap();
    let (secret, after) = rest.split_once(">>").unwrap();
    (secret.to_owned(), format!("{before}{secret}{after}"))
}

fn policy() -> RedactionPolicy {
    let policy = RedactionPolicy::new();
    policy.learn(KnownSecret::declared("k", "correct horse battery"));
    policy
}

/// What was found that must not be: the secret, or half of it.
fn finds(kind: &str, channel: &str, secret: &str, seen: &str) -> Option<String> {
    let half = &secret[secret.floor_char_boundary(secret.len() / 2)..];
    let written = json!(half).to_string();
    let written = &written[1..written.len() - 1];
    let is_found = seen.contains(half) || seen.contains(written);
    is_found.then(|| format!("{kind} in {channel}: {seen}"))
}

fn update(status: &str, fields: Value) -> AgentEvent {
    let mut object = json!({
        "type": "tool_call_update", "session_id": "s", "tool_call_id": "1", "tool_name": "http",
        "status": status, "raw_output": null, "error": null,
    });
    object
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().cloned().unwrap());
    event(object)
}

/// The events that carry a text, by the name of the channel.
fn channels(text: &str) -> Vec<(&'static str, AgentEvent)> {
    let of = |value: Value| event(value);
    vec![
        (
            "arguments",
            tool_call_with("s", "1", json!({"command": text})),
        ),
        (
            "nested arguments",
            tool_call_with("s", "1", json!({"a": [{"b": text}]})),
        ),
        (
            "arguments that are a text",
            tool_call_with("s", "1", json!(text)),
        ),
        (
            "result",
            update("completed", json!({"raw_output": {"text": text}})),
        ),
        (
            "JSON in a result",
            update(
                "completed",
                json!({"raw_output": json!({"t": text}).to_string()}),
            ),
        ),
        ("error", update("failed", json!({"error": text}))),
        (
            "unfinished arguments",
            update("pending", json!({"raw_input_partial": text})),
        ),
        (
            "answer",
            of(json!({"type": "agent_message_chunk", "session_id": "s", "content": text})),
        ),
        (
            "thought",
            of(json!({"type": "agent_thought_chunk", "session_id": "s", "content": text})),
        ),
        (
            "question of a user",
            of(
                json!({"type": "user_message", "session_id": "s", "message_id": "m",
            "content": [{"type": "text", "text": text}]}),
            ),
        ),
        (
            "plan",
            of(json!({"type": "plan", "session_id": "s", "plan": {"steps": [text]}})),
        ),
        (
            "progress",
            of(
                json!({"type": "progress_reported", "session_id": "s", "message": text,
            "entries": [{"content": text}], "replace": false, "metadata": {}}),
            ),
        ),
        (
            "end of a session",
            of(
                json!({"type": "session_closed", "session_id": "s", "reason": text,
            "status": "closed", "metadata": {"why": text}}),
            ),
        ),
    ]
}

#[test]
fn no_planted_secret_reaches_a_reader_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = BusConfig {
        redaction: policy(),
        durable: Some(Arc::new(JsonlDirectory::new(folder.path()))),
        ..BusConfig::default()
    };
    let bus = EventBus::new(config);
    bus.open_session("s").unwrap();
    let reader = Recording::new();
    bus.register_wildcard_sink(Arc::clone(&reader) as Arc<dyn AgentEventSink>);
    assert!(KINDS.len() >= 56 && channels("").len() >= 13);
    let mut found = Vec::new();
    for (kind, pattern) in KINDS {
        let (secret, text) = filled(pattern);
        for (channel, event) in channels(&text) {
            bus.emit(&event);
            let seen = reader.events();
            let seen = serde_json::to_string(seen.last().unwrap()).unwrap();
            found.extend(finds(kind, channel, &secret, &seen));
        }
    }
    drop(bus);
    let files = std::fs::read_dir(folder.path()).unwrap();
    for file in files {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for (kind, pattern) in KINDS {
            let written = json!(filled(pattern).0).to_string();
            if text.contains(&written[1..written.len() - 1]) {
                found.push(format!("{kind} in a file"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_planted_secret_is_in_what_streams_however_it_is_cut() {
    let policy = policy();
    let mut found = Vec::new();
    for (kind, pattern) in KINDS {
        let (secret, text) = filled(pattern);
        let characters: Vec<char> = text.chars().collect();
        for length in 1..=16 {
            let mut stream = StreamRedactor::new(policy.clone());
            let mut shown = String::new();
            for piece in characters.chunks(length) {
                shown += &stream.push(&piece.iter().collect::<String>());
            }
            shown += &stream.finish();
            found.extend(finds(kind, &format!("pieces of {length}"), &secret, &shown));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_planted_secret_shows_while_arguments_grow() {
    let policy = policy();
    let mut found = Vec::new();
    // Lines of keys without a word around them are recognised when they are whole.
    let kinds = KINDS.iter().filter(|(kind, _)| !kind.contains("line"));
    for (kind, pattern) in kinds {
        let (secret, text) = filled(pattern);
        let whole = json!({"command": text}).to_string();
        for (end, _) in whole.char_indices().step_by(5) {
            let seen = policy.redact_text(&whole[..end], Completeness::Partial);
            found.extend(finds(kind, "growing arguments", &secret, &seen));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn source_code_and_prose_stay_readable() {
    let policy = RedactionPolicy::new();
    let mut wrong = Vec::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in [
        "crates/harn-log/src",
        "crates/harn-syntax/src",
        "crates/harn-machine/src",
        "docs/src/language",
        "docs/src/agents",
    ] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        for entry in entries {
            let path = entry.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            for line in text.lines() {
                if policy.redact_text(line, Completeness::Whole) != line {
                    wrong.push(format!("{}: {line}", path.display()));
                }
            }
        }
    }
    assert!(wrong.len() <= 5, "{wrong:#?}");
}
