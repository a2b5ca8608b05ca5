//! Skills that a host lends, and keys that come over the network.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use harn_agent::{BoxFuture, HostBridge, HostError, Seam};
use harn_check::modules::{Disk, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{AgentOptions, Outcome, Program, RunOptions, Sink, WorldOptions};
use serde_json::{Value, json};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<String>>);

impl Sink for Written {
    fn write(&mut self, _: Stream, text: &str) {
        let mut written = self.0.lock().expect("nobody has panicked");
        written.push_str(text);
    }

    fn flush(&mut self) {}
}

/// What a program writes that runs in a folder.
#[track_caller]
fn run(folder: &Path, text: &str, world: WorldOptions) -> String {
    let file = folder.join("main.harn");
    fs::write(&file, text).expect("the folder is ours");
    let options = RunOptions {
        world,
        timeout: Some(Duration::from_secs(60)),
        ..RunOptions::default()
    };
    let written = Written::default();
    let mut workspace = Workspace::new(Box::new(Disk));
    let ended = Program::new(&mut workspace, &file)
        .run(&options, Box::new(written.clone()))
        .expect("it compiles");
    let text = written.0.lock().expect("nobody has panicked").clone();
    assert!(matches!(ended, Outcome::Ended(Ok(_))), "{ended:?} {text}");
    text
}

/// A host that has the body of one skill.
struct Host;

impl HostBridge for Host {
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, HostError>> {
        let answer = match (method, parameters["id"].as_str()) {
            ("skills/fetch", Some("h1")) => Ok(json!({"name": "lent", "body": "Of the host: $1."})),
            ("skills/fetch", Some("h2")) => Ok(json!({"name": "empty"})),
            (method, _) => Err(format!("the host does not know {method}").into()),
        };
        Box::pin(std::future::ready(answer))
    }

    fn notify(&self, _: &str, _: Value) {}

    fn take_messages(&self, _: &str, _: Seam) -> Vec<String> {
        Vec::new()
    }

    fn take_resume(&self, _: &str) -> bool {
        false
    }
}

const LENT: &str = r#"
println(skills.skills.map({ card -> "${card.name} ${card.source} ${card.short}" }))
for name in ["lent", "empty"] {
  try {
    println(load_skill(name))
  } catch (e) {
    println(e)
  }
}
try {
  println(skill_render(skill_find(skills, "lent"), ["one"]))
} catch (e) {
  println(e)
}
"#;

#[test]
fn a_host_lends_skills_and_reads_them_out() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let host_skills = vec![
        json!({"id": "h1", "name": "lent", "description": "Lent by the editor"}),
        json!({"id": "h2", "name": "empty", "description": "Has no body"}),
    ];
    let world = |bridge: Option<Arc<dyn HostBridge>>| WorldOptions {
        agents: AgentOptions {
            bridge,
            host_skills: host_skills.clone(),
            ..AgentOptions::default()
        },
        ..WorldOptions::default()
    };
    assert_eq!(
        run(folder.path(), LENT, world(Some(Arc::new(Host)))),
        "[lent host Lent by the editor, empty host Has no body]\nOf the host: $1.\n\
         the host has no body of skill 'h2'\nOf the host: one.\n"
    );
    let gone =
        |name: &str| format!("load_skill: skill '{name}' is not lazily loadable in this scope\n");
    assert_eq!(
        run(folder.path(), LENT, world(None)),
        format!(
            "[lent host Lent by the editor, empty host Has no body]\n{}{}{}",
            gone("lent"),
            gone("empty"),
            gone("lent")
        )
    );
}

/// The folder of a skill that somebody has signed, and of the key.
fn signed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/skill-discovery/signed")
}

/// Answers one request with a text, and gives the address and what was asked for.
fn serve(status: &'static str, text: String) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody asks");
        let mut lines = BufReader::new(stream.try_clone().expect("it is open")).lines();
        let asked = lines.next().expect("a request").expect("it is text");
        while lines
            .next()
            .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
        {}
        let length = text.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it is read");
        stream.write_all(text.as_bytes()).expect("it is read");
        asked
    });
    (format!("http://{address}/keys"), serving)
}

#[cfg(feature = "net")]
#[test]
fn keys_of_signers_come_over_the_network() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let skill = folder.path().join(".harn/skills/trusted");
    fs::create_dir_all(&skill).expect("the folder is ours");
    for name in ["SKILL.md", "SKILL.md.sig"] {
        let from = signed().join(".harn/skills/trusted").join(name);
        fs::copy(from, skill.join(name)).expect("the folder is ours");
    }
    let signature = fs::read_to_string(skill.join("SKILL.md.sig")).expect("it was copied");
    let signature: Value = serde_json::from_str(&signature).expect("it is JSON");
    let fingerprint = signature["signer_fingerprint"].as_str().expect("a text");
    let key = fs::read_to_string(signed().join(format!("signers/{fingerprint}.pub")));
    let key = key.expect("the key is there");
    let program = "println(skills.skills[0].provenance.trusted)\n";
    for (status, text, expected) in [
        ("200 OK", key.clone(), "true\n"),
        ("200 OK", "no key".to_owned(), "false\n"),
        ("404 Not Found", key, "false\n"),
    ] {
        let (url, serving) = serve(status, text);
        let variable = ("HARN_SKILL_SIGNER_REGISTRY_URL".to_owned(), url);
        let world = WorldOptions {
            environment: BTreeMap::from([variable]),
            ..WorldOptions::default()
        };
        assert_eq!(run(folder.path(), program, world), expected);
        let asked = serving.join().expect("it has answered");
        assert_eq!(asked, format!("GET /keys/{fingerprint}.pub HTTP/1.1"));
    }
}
