//! Journals that cannot be written, and journals that were altered.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::program::{Call, program};

const SCENARIO: &str = "[[turn]]\ntext = \"The word is amber.\"\n";

/// A home with a folder of somebody's in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a scratch folder");
        fs::create_dir(home.path().join("work")).expect("the folder is ours");
        fs::write(home.path().join("work/s.toml"), SCENARIO).expect("the folder is ours");
        Self(home)
    }

    fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    fn harn(&self, arguments: &[&str]) -> Command {
        let mut harn = program();
        harn.args(arguments).current_dir(self.work());
        harn.env("HOME", self.0.path());
        harn
    }

    /// A chat of one prompt.
    fn chat(&self, options: &[&str]) -> Call {
        let mut harn = self.harn(&["chat", "--scenario", "s.toml"]);
        harn.args(options).stdin(Stdio::piped());
        harn.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut chat = harn.spawn().expect("the program was built with the tests");
        let mut input = chat.stdin.take().expect("it is piped");
        // One that refuses to begin does not read it.
        let _unread = input.write_all(b"What is the word?\n");
        drop(input);
        Call::of(chat.wait_with_output().expect("it ends"))
    }

    /// Changes in the file of the log what was said, as whoever may write it can.
    fn forge(&self, from: &str, to: &str) {
        let log = rusqlite::Connection::open(self.work().join(".harn/events.sqlite"));
        let log = log.expect("the chat has made it");
        let changed = log.execute(
            "UPDATE events SET payload = replace(payload, ?1, ?2)
             WHERE topic LIKE 'agent_sessions.%' AND payload LIKE '%' || ?1 || '%'",
            [from, to],
        );
        assert!(changed.expect("it is a log") > 0, "no record holds {from}");
    }
}

#[test]
fn asi06_altered_journal_refused() {
    let home = Home::new();
    home.chat(&[]).exits_with(0).prints("The word is amber.");
    home.chat(&["--continue"]).exits_with(0);
    home.forge("amber", "ember");
    let refused = home.chat(&["--continue"]);
    let told = "was changed by somebody else at record ";
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(refused.stderr.contains(told), "{refused:?}");
    assert!(
        refused.stderr.contains("--accept-changed goes on"),
        "{refused:?}"
    );
    let id = refused.stderr.split("session '").nth(1);
    let id = id.and_then(|rest| rest.split('\'').next());
    let id = id.expect("it is named").to_owned();

    let shown = Call::of(
        home.harn(&["sessions", "show", &id])
            .output()
            .expect("it runs"),
    );
    assert!(shown.stderr.contains(told), "{shown:?}");
    assert!(shown.stdout.contains("ember"), "what is there is shown");

    // A person goes on with it as it is, and from then on it must not change either.
    home.chat(&["--continue", "--accept-changed"]).exits_with(0);
    home.chat(&["--continue"]).exits_with(0);
    home.forge("ember", "umber");
    let refused = home.chat(&["--continue"]);
    assert!(refused.stderr.contains(told), "{refused:?}");
}

#[test]
fn a_record_that_somebody_adds_is_found_and_one_of_ours_is_believed() {
    let home = Home::new();
    home.chat(&[]).exits_with(0);
    let log = rusqlite::Connection::open(home.work().join(".harn/events.sqlite"));
    // Without its code the record looks like one of a program that had no key.
    let removed = log.expect("the chat has made it").execute(
        "UPDATE events SET payload = replace(payload, '~mac', '~nac')
         WHERE topic LIKE 'agent_sessions.%' AND place = (
           SELECT max(place) FROM events WHERE topic LIKE 'agent_sessions.%')",
        [],
    );
    assert_eq!(removed.expect("it is a log"), 1);
    let refused = home.chat(&["--continue"]);
    assert!(
        refused
            .stderr
            .contains("was changed by somebody else at record "),
        "{refused:?}"
    );
}

#[test]
fn a_session_of_another_machine_is_shown_without_a_judgement() {
    let home = Home::new();
    home.chat(&[]).exits_with(0);
    fs::remove_dir_all(home.0.path().join(".local")).expect("the key is there");
    let list = Call::of(home.harn(&["sessions", "list"]).output().expect("it runs"));
    let list = list.exits_with(0);
    assert!(!list.stderr.contains("changed"), "{list:?}");
}
