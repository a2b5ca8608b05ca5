use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use harn_machine::{
    Answer, EffectId, Effects, FileRequest, ProcessRequest, Request, Stream, inbox,
};

use super::{Host, Policy, Rule, Rules};
use crate::world::{Sink, World, WorldOptions};

struct Silent;

impl Sink for Silent {
    fn write(&mut self, _stream: Stream, _text: &str) {}

    fn flush(&mut self) {}
}

/// A folder with an allowed part and another one beside it.
struct Scene {
    _scratch: tempfile::TempDir,
    folder: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(scratch.path()).unwrap();
        fs::create_dir(folder.join("in")).unwrap();
        fs::create_dir(folder.join("out")).unwrap();
        fs::write(folder.join("in/file"), "inside").unwrap();
        fs::write(folder.join("out/file"), "outside").unwrap();
        Self {
            _scratch: scratch,
            folder,
        }
    }

    fn inside(&self) -> PathBuf {
        self.folder.join("in")
    }

    fn world(&self, rules: Rules) -> World {
        let policy = Policy::default().narrowed(rules).unwrap();
        let options = WorldOptions {
            policy,
            environment: [
                ("HOME", "/home/x"),
                ("KEY", "secret"),
                ("PATH", "/usr/bin:/bin"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            ..WorldOptions::default()
        };
        let (outside, _inbox) = inbox();
        World::new(options, Box::new(Silent), outside).in_folder(self.inside())
    }

    /// A world where only the inside may be read and written.
    fn confined(&self) -> World {
        self.world(Rules {
            read: Rule::Only(vec![self.inside()]),
            write: Rule::Only(vec![self.inside()]),
            ..Rules::default()
        })
    }
}

fn file(world: &mut World, request: FileRequest) -> Answer {
    world.perform(&Request::File(request))
}

#[track_caller]
fn assert_refused(answer: &Answer, expected: &str) {
    match answer {
        Answer::Refused(reason) => assert_eq!(reason, expected),
        other => panic!("{other:?}"),
    }
}

/// What is done with a path outside is refused, whatever it is.
#[track_caller]
fn assert_out_of_reach(world: &mut World, path: &Path) {
    let path = || path.to_owned();
    let inside = || PathBuf::from("file");
    for request in [
        FileRequest::Read(path()),
        FileRequest::Write(path(), b"x".to_vec()),
        FileRequest::Append(path(), b"x".to_vec()),
        FileRequest::Status(path()),
        FileRequest::List(path()),
        FileRequest::MakeFolder(path()),
        FileRequest::Copy(path(), inside()),
        FileRequest::Copy(inside(), path()),
        FileRequest::Canonical(path()),
    ] {
        let answer = file(world, request.clone());
        assert!(
            matches!(answer, Answer::Refused(_)),
            "{request:?}: {answer:?}"
        );
    }
}

#[test]
fn without_rules_everything_is_allowed() {
    let scene = Scene::new();
    let mut world = scene.world(Rules::default());
    let read = file(&mut world, FileRequest::Read("../out/file".into()));
    assert_eq!(read, Answer::Octets(b"outside".to_vec()));
    let home = world.perform(&Request::Environment("HOME".to_owned()));
    assert_eq!(home, Answer::Text(Some("/home/x".to_owned())));
}

#[test]
fn no_path_leads_out_of_an_allowed_folder() {
    let scene = Scene::new();
    let out = scene.folder.join("out");
    symlink(&out, scene.folder.join("in/link")).unwrap();
    symlink("link", scene.folder.join("in/twice")).unwrap();
    symlink(out.join("file"), scene.folder.join("in/file-link")).unwrap();
    symlink(out.join("new"), scene.folder.join("in/dangling")).unwrap();
    fs::create_dir(scene.folder.join("in-beside")).unwrap();
    let mut world = scene.confined();
    for path in [
        "../out/file",
        "../out/new",
        "..",
        "/",
        "/etc/passwd",
        "link/file",
        "twice/file",
        "file-link",
        "dangling",
        "missing/../../out/file",
        "link/../out/file",
        "../in-beside/x",
        "../IN/file",
        "../i\u{301}n/file",
    ] {
        assert_out_of_reach(&mut world, Path::new(path));
    }
    assert_eq!(fs::read(out.join("file")).unwrap(), b"outside");
    assert!(!out.join("new").exists());
}

#[test]
fn everything_works_in_an_allowed_folder() {
    let scene = Scene::new();
    let mut world = scene.confined();
    let mut perform = |request| file(&mut world, request);
    let inside = scene.inside();
    symlink("file", inside.join("link")).unwrap();
    let read = |path: &str| FileRequest::Read(path.into());
    assert_eq!(perform(read("link")), Answer::Octets(b"inside".to_vec()));
    assert_eq!(
        perform(read("a/../file")),
        Answer::Octets(b"inside".to_vec())
    );
    assert_eq!(perform(FileRequest::MakeFolder("a/b".into())), Answer::Done);
    let write = FileRequest::Write("a/b/new".into(), b"1".to_vec());
    assert_eq!(perform(write), Answer::Done);
    let append = FileRequest::Append("a/b/new".into(), b"2".to_vec());
    assert_eq!(perform(append), Answer::Done);
    assert_eq!(
        perform(FileRequest::Copy("a/b/new".into(), "a/copy".into())),
        Answer::Done
    );
    assert_eq!(
        perform(FileRequest::Move("a/copy".into(), "moved".into())),
        Answer::Done
    );
    assert_eq!(fs::read(inside.join("moved")).unwrap(), b"12");
    let Answer::Pairs(entries) = perform(FileRequest::List(".".into())) else {
        panic!("no list");
    };
    let entries: Vec<_> = entries
        .iter()
        .map(|(name, kind)| (&**name, &**kind))
        .collect();
    assert_eq!(
        entries,
        [
            ("a", "folder"),
            ("file", "file"),
            ("link", "link"),
            ("moved", "file")
        ]
    );
    let Answer::Status(Some(facts)) = perform(FileRequest::Status("moved".into())) else {
        panic!("no facts");
    };
    let plain = fs::metadata(inside.join("moved")).unwrap();
    assert_eq!(facts, crate::files::described(&plain));
    assert_eq!(
        perform(FileRequest::Status("none".into())),
        Answer::Status(None)
    );
    assert_eq!(perform(FileRequest::Delete("link".into())), Answer::Done);
    assert_eq!(perform(FileRequest::Delete("a".into())), Answer::Done);
    assert!(inside.join("file").exists() && !inside.join("a").exists());
    let here = Answer::Text(Some(inside.to_string_lossy().into_owned()));
    assert_eq!(perform(FileRequest::Canonical(".".into())), here);
}

#[test]
fn a_link_is_removed_and_moved_as_such() {
    let scene = Scene::new();
    symlink(scene.folder.join("out"), scene.folder.join("in/link")).unwrap();
    let mut world = scene.confined();
    let moved = FileRequest::Move("link".into(), "other".into());
    assert_eq!(file(&mut world, moved), Answer::Done);
    let deleted = file(&mut world, FileRequest::Delete("other".into()));
    assert_eq!(deleted, Answer::Done);
    assert_eq!(fs::read(scene.folder.join("out/file")).unwrap(), b"outside");
    for (from, to) in [("file", "../out/x"), ("../out/file", "x")] {
        let answer = file(&mut world, FileRequest::Move(from.into(), to.into()));
        assert!(matches!(answer, Answer::Refused(_)), "{from} {to}");
    }
}

#[test]
fn refusals_name_the_rule() {
    let scene = Scene::new();
    let (inside, out) = (scene.inside(), scene.folder.join("out"));
    let mut world = scene.world(Rules {
        workspace_roots: vec![scene.folder.clone()],
        read: Rule::Only(vec![inside.clone(), "/usr".into()]),
        write: Rule::Nothing,
        ..Rules::default()
    });
    let (shown, root) = (inside.display(), scene.folder.display());
    let mut refused = |request, expected: String| {
        assert_refused(&file(&mut world, request), &expected);
    };
    refused(
        FileRequest::Read("/etc/passwd".into()),
        format!("attempted to read '/etc/passwd' outside workspace_roots [{root}]"),
    );
    refused(
        FileRequest::Read(out.clone()),
        format!(
            "attempted to read '{}' against the rule 'allow read [{shown}, /usr]'",
            out.display()
        ),
    );
    refused(
        FileRequest::Write("a".into(), Vec::new()),
        "attempted to write 'a' against the rule 'deny write'".to_owned(),
    );
    refused(
        FileRequest::Delete("a".into()),
        "attempted to delete 'a' against the rule 'deny write'".to_owned(),
    );
}

#[test]
fn one_file_or_a_folder_that_is_not_there_yet_can_be_allowed() {
    let scene = Scene::new();
    let mut world = scene.world(Rules {
        read: Rule::Only(vec![scene.inside().join("file")]),
        write: Rule::Only(vec![scene.folder.join("new")]),
        ..Rules::default()
    });
    let read = file(&mut world, FileRequest::Read("file".into()));
    assert_eq!(read, Answer::Octets(b"inside".to_vec()));
    let listed = file(&mut world, FileRequest::List(".".into()));
    assert!(matches!(listed, Answer::Refused(_)));
    let made = file(&mut world, FileRequest::MakeFolder("../new/a".into()));
    assert_eq!(made, Answer::Done);
    let beside = file(&mut world, FileRequest::MakeFolder("../newer".into()));
    assert!(matches!(beside, Answer::Refused(_)));
}

#[test]
fn variables_are_hidden_by_name() {
    let scene = Scene::new();
    let mut world = scene.world(Rules {
        env: Rule::Only(vec!["HOME".to_owned()]),
        ..Rules::default()
    });
    let mut ask = |name: &str| world.perform(&Request::Environment(name.to_owned()));
    assert_eq!(ask("HOME"), Answer::Text(Some("/home/x".to_owned())));
    let expected = "attempted to read the variable 'KEY' against the rule 'allow env [HOME]'";
    assert_refused(&ask("KEY"), expected);
    assert_refused(&ask("NONE"), &expected.replace("KEY", "NONE"));
    for path in [
        "/proc/self/environ",
        "/proc/thread-self/environ",
        "/proc/1/environ",
    ] {
        let read = file(&mut world, FileRequest::Read(path.into()));
        let expected = format!("attempted to read '{path}' against the rule 'allow env [HOME]'");
        assert_refused(&read, &expected);
    }
    let all = world.perform(&Request::AllEnvironment);
    let home = ("HOME".to_owned(), "/home/x".to_owned());
    assert_eq!(all, Answer::Pairs(vec![home]));
}

/// How a process that a world begins is answered.
fn ran(scene: &Scene, rules: Rules, request: ProcessRequest) -> Answer {
    let (outside, inbox) = inbox();
    let policy = Policy::default().narrowed(rules).unwrap();
    let options = WorldOptions {
        policy,
        environment: [("KEY", "secret"), ("PATH", "/usr/bin:/bin")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..WorldOptions::default()
    };
    let mut world = World::new(options, Box::new(Silent), outside).in_folder(scene.inside());
    world.begin(EffectId(1), Request::Process(request));
    let (_, answer) = inbox.next_answer().unwrap();
    answer
}

fn program(name: &str) -> ProcessRequest {
    ProcessRequest {
        program: name.to_owned(),
        ..ProcessRequest::default()
    }
}

#[test]
fn programs_are_told_apart_by_the_file_they_are() {
    let scene = Scene::new();
    let impostor = scene.inside().join("echo");
    fs::copy("/bin/echo", &impostor).unwrap();
    let rules = || Rules {
        exec: Rule::Only(vec!["echo".to_owned()]),
        ..Rules::default()
    };
    let run = |request| ran(&scene, rules(), request);
    assert!(matches!(run(program("echo")), Answer::Process(_)));
    assert!(matches!(run(program("/bin/echo")), Answer::Process(_)));
    let expected = "attempted to run './echo' against the rule 'allow exec [echo]'";
    assert_refused(&run(program("./echo")), expected);
    assert_refused(&run(program("cat")), &expected.replace("./echo", "cat"));
    // A path that the program gives to the process finds no other file.
    let misled = ProcessRequest {
        environment: vec![("PATH".to_owned(), scene.inside().display().to_string())],
        arguments: vec!["hello".to_owned()],
        ..program("echo")
    };
    fs::write(&impostor, "#!/bin/sh\necho impostor\n").unwrap();
    let Answer::Process(end) = run(misled) else {
        panic!("it is allowed");
    };
    assert_eq!(end.output, b"hello\n");
}

#[test]
fn processes_are_forbidden_all_at_once() {
    let scene = Scene::new();
    let rules = Rules {
        exec: Rule::Nothing,
        ..Rules::default()
    };
    let answer = ran(&scene, rules, program("true"));
    assert_refused(
        &answer,
        "attempted to run 'true' against the rule 'deny exec'",
    );
}

#[test]
fn processes_find_the_variables_that_the_program_may_see() {
    let scene = Scene::new();
    let rules = Rules {
        env: Rule::Nothing,
        ..Rules::default()
    };
    let Answer::Process(end) = ran(&scene, rules, program("env")) else {
        panic!("it is allowed");
    };
    assert_eq!(String::from_utf8_lossy(&end.output), "PATH=/usr/bin:/bin\n");
}

#[test]
fn layers_only_take_away() {
    let hosts = |names: &[&str]| Rules {
        net: Rule::Only(
            names
                .iter()
                .map(|name| name.parse::<Host>().unwrap())
                .collect(),
        ),
        ..Rules::default()
    };
    let policy = Policy::default()
        .narrowed(hosts(&["a.org", "b.org"]))
        .unwrap();
    let policy = policy.narrowed(hosts(&["b.org", "c.org"])).unwrap();
    assert!(policy.check_url("https://b.org/x").is_ok());
    let refusal = policy.check_url("https://c.org/x").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "attempted to reach 'c.org:443' against the rule 'allow net [a.org, b.org]'"
    );
    let refusal = policy.check_url("http://a.org:81").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "attempted to reach 'a.org:81' against the rule 'allow net [b.org, c.org]'"
    );
    let none = policy.narrowed(Rules::default()).unwrap();
    assert!(none.check_url("https://c.org").is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_becomes_a_link_leads_no_builtin_outside() {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    let scene = Scene::new();
    fs::create_dir(scene.inside().join("folder")).unwrap();
    fs::write(scene.inside().join("folder/file"), "inside").unwrap();
    symlink(scene.folder.join("out"), scene.inside().join("link")).unwrap();
    let (folder, link) = (scene.inside().join("folder"), scene.inside().join("link"));
    let is_over = AtomicBool::new(false);
    let exchange = || {
        while !is_over.load(Ordering::Relaxed) {
            renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        }
    };
    let requests = [
        FileRequest::Read("folder/file".into()),
        FileRequest::List("folder".into()),
        FileRequest::Write("folder/new".into(), b"x".to_vec()),
        FileRequest::Append("folder/file".into(), Vec::new()),
        FileRequest::MakeFolder("folder/made".into()),
        FileRequest::Copy("folder/file".into(), "copy".into()),
        FileRequest::Delete("folder/gone".into()),
    ];
    let mut world = scene.confined();
    std::thread::scope(|scope| {
        scope.spawn(exchange);
        for request in requests {
            for _ in 0..1000 {
                if let Answer::Octets(octets) = file(&mut world, request.clone()) {
                    assert_eq!(octets, b"inside", "{request:?}");
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let outside = fs::read_dir(scene.folder.join("out")).unwrap();
    assert_eq!(outside.count(), 1, "the file that was there");
    if let Ok(copy) = fs::read_to_string(scene.inside().join("copy")) {
        assert_eq!(copy, "inside");
    }
}
