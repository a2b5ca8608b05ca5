use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;
use crate::file::RealDisk;

fn owners(folder: &Path) -> Arc<Owners> {
    let disk = Arc::new(RealDisk);
    Owners::in_folder(OwnerFolder::new(disk, folder.join("owners")))
}

fn is_in_use(claimed: Result<Claim, ClaimError>) -> Owner {
    match claimed {
        Err(ClaimError::InUse(owner)) => *owner,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_name_has_one_owner_until_it_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (owners(folder.path()), owners(folder.path()));
    let (mine, theirs) = (one.scope(), other.scope());
    let claim = one.claim(mine, "talk").unwrap();
    let owner = is_in_use(other.claim(theirs, "talk"));
    assert_eq!(owner.process, std::process::id());
    assert_eq!(owner.names, ["talk"]);
    assert!(!owner.host.is_empty());
    let _another_name_is_free = other.claim(theirs, "walk").unwrap();
    drop(claim);
    other.claim(theirs, "talk").unwrap();
}

#[test]
fn scopes_of_one_log_exclude_each_other_and_share_what_is_theirs() {
    for owners in [Owners::here(), owners(tempfile::tempdir().unwrap().path())] {
        let (one, other) = (owners.scope(), owners.scope());
        let first = owners.claim(one, "talk").unwrap();
        let second = owners.claim(one, "talk").unwrap();
        is_in_use(owners.claim(other, "talk"));
        drop(first);
        is_in_use(owners.claim(other, "talk"));
        drop(second);
        owners.claim(other, "talk").unwrap();
    }
}

#[test]
fn a_new_name_is_seen_by_those_who_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (owners(folder.path()), owners(folder.path()));
    let claim = one.claim_new(one.scope(), "made").unwrap();
    is_in_use(other.claim(other.scope(), "made"));
    assert_eq!(other.owner_of("made").unwrap().unwrap().id, {
        let own = one.all().unwrap();
        own[0].id.clone()
    });
    drop(claim);
    assert_eq!(other.owner_of("made").unwrap(), None);
}

#[test]
fn an_owner_that_has_ended_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let one = owners(folder.path());
    drop(one.claim(one.scope(), "talk").unwrap());
    let files = || {
        let files = std::fs::read_dir(folder.path().join("owners")).unwrap();
        let names = files.map(|file| file.unwrap().file_name());
        // A folder that is made for its owner alone tells so to Git.
        names.filter(|name| name != ".gitignore").count()
    };
    assert_eq!(files(), 2);
    drop(one);
    assert_eq!(files(), 1, "the opening lock stays");
}

#[test]
fn a_file_with_many_claims_is_written_anew_and_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (owners(folder.path()), owners(folder.path()));
    let scope = one.scope();
    let kept = one.claim(scope, "kept").unwrap();
    for number in 0..4000 {
        drop(one.claim_new(scope, &format!("session-{number}")).unwrap());
    }
    let all = other.all().unwrap();
    assert_eq!(all[0].names, ["kept"]);
    let file = format!("{}.1.lock", all[0].id);
    let file = folder.path().join("owners").join(file);
    let length = std::fs::metadata(file).unwrap().len();
    assert!(length < 2 * 64 * 1024, "{length}");
    drop(kept);
    assert_eq!(other.all().unwrap(), []);
}

/// A process that claims a name, says so, and holds it until it is killed or told to end.
fn claiming_process(folder: &Path, name: &str) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "owner::tests::claims_for_another_process"])
        .args(["--nocapture", "--test-threads=1"])
        .env("HARN_TEST_CLAIM", format!("{}\n{name}", folder.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    // The test runner may have begun the line with something of its own.
    let said = lines.find_map(|line| Some(line.split_once("claim: ")?.1.to_owned()));
    (child, said.unwrap())
}

/// What [`claiming_process`] runs; by itself it does nothing.
#[test]
fn claims_for_another_process() {
    #[expect(
        clippy::disallowed_methods,
        reason = "how the test above tells the process"
    )]
    let Ok(asked) = std::env::var("HARN_TEST_CLAIM") else {
        return;
    };
    let (folder, name) = asked.split_once('\n').unwrap();
    let owners = owners(Path::new(folder));
    let claim = owners.claim(owners.scope(), name);
    let said = match &claim {
        Ok(_) => "mine".to_owned(),
        Err(ClaimError::InUse(owner)) => format!("process {}", owner.process),
        Err(error) => error.to_string(),
    };
    println!("claim: {said}");
    std::io::stdout().flush().unwrap();
    let mut until_told = String::new();
    std::io::stdin().read_line(&mut until_told).unwrap();
}

#[test]
fn the_second_process_is_told_who_was_first_and_a_kill_frees_the_name_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        let (mut first, said) = claiming_process(folder.path(), "talk");
        assert_eq!(said, "mine");
        let (mut second, said) = claiming_process(folder.path(), "talk");
        assert_eq!(said, format!("process {}", first.id()));
        first.kill().unwrap();
        first.wait().unwrap();
        let (mut third, said) = claiming_process(folder.path(), "talk");
        assert_eq!(said, "mine");
        for child in [&mut second, &mut third] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn of_processes_that_begin_at_once_one_gets_the_name() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..5 {
        let mut said = Vec::new();
        std::thread::scope(|scope| {
            let begin = || claiming_process(folder.path(), "talk");
            let all: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
            let mut children = Vec::new();
            for one in all {
                let (child, heard) = one.join().unwrap();
                children.push(child);
                said.push(heard);
            }
            for mut child in children {
                child.kill().unwrap();
                child.wait().unwrap();
            }
        });
        let winners = said.iter().filter(|heard| *heard == "mine").count();
        assert_eq!(winners, 1, "{said:?}");
    }
}
