//! The real world: clock, chance, files, processes, environment, terminal.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use harn_agent::tool_hooks::ManifestHook;
use harn_machine::{
    Answer, EffectFailure, EffectId, Effects, FileRequest, FileStatus, Outside, Request, Stream,
};
use harn_stdlib::event_log;

use crate::agents::{self, AgentOptions, AgentPort};
use crate::event_log::{EventLogOptions, EventLogPort};
use crate::models::{self, ModelOptions, ModelPort};
use crate::process::Processes;
use crate::replace::replace;

/// Where the output of a program goes.
pub trait Sink {
    /// Takes what is written.
    fn write(&mut self, stream: Stream, text: &str);

    /// Shows what was taken.
    fn flush(&mut self);
}

/// What a program finds in the world.
#[derive(Clone, Default)]
pub struct WorldOptions {
    /// The variables of the environment.
    pub environment: BTreeMap<String, String>,
    /// What it finds when it asks models.
    pub models: ModelOptions,
    /// What it finds when it runs agents.
    pub agents: AgentOptions,
    /// What it finds when it uses the event log.
    pub event_log: EventLogOptions,
}

/// Variables hold keys, so only their number is shown.
impl fmt::Debug for WorldOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("WorldOptions");
        shown.field("variables", &self.environment.len());
        shown.field("models", &self.models);
        shown.field("agents", &self.agents);
        shown.field("event_log", &self.event_log);
        shown.finish()
    }
}

/// The real world. What takes time is done by threads of its own, which say when they are
/// done.
pub struct World {
    options: WorldOptions,
    folder: Folder,
    is_detached: bool,
    sink: Box<dyn Sink>,
    started: Instant,
    processes: Processes,
    /// Before the models, because loops that are given up still use them.
    agents: AgentPort,
    models: ModelPort,
    event_log: EventLogPort,
}

impl World {
    /// The world of one program. Completions go to `outside`.
    pub fn new(options: WorldOptions, sink: Box<dyn Sink>, outside: Outside) -> Self {
        let (environment, asked) = (options.environment.clone(), options.models.clone());
        Self {
            agents: AgentPort::new(options.agents.clone(), environment.clone(), outside.clone()),
            models: ModelPort::new(asked, environment, outside.clone()),
            event_log: EventLogPort::new(options.event_log.clone(), outside.clone()),
            options,
            folder: Folder::default(),
            is_detached: false,
            sink,
            started: Instant::now(),
            processes: Processes::new(outside),
        }
    }
}

impl World {
    /// The same world, seen from another folder than the one the process works in.
    pub fn in_folder(mut self, folder: PathBuf) -> Self {
        self.agents.set_folder(folder.clone());
        self.folder = Folder(Some(folder));
        self
    }

    /// The same world with the hooks of a project.
    pub(crate) fn with_hooks(mut self, hooks: Vec<ManifestHook>) -> Self {
        self.agents.await_hooks(hooks);
        self
    }

    /// The same world without a terminal: the input is at its end, and no stream is one.
    pub fn detached(mut self) -> Self {
        self.is_detached = true;
        self
    }
}

/// Where relative paths start; `None`: where the process works.
#[derive(Debug, Default)]
struct Folder(Option<PathBuf>);

impl Folder {
    fn at(&self, path: &Path) -> PathBuf {
        match &self.0 {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        }
    }
}

impl Effects for World {
    fn perform(&mut self, request: &Request) -> Answer {
        match request {
            Request::Now => Answer::Number(now()),
            Request::Elapsed => {
                let elapsed = self.started.elapsed().as_millis();
                Answer::Number(i64::try_from(elapsed).unwrap_or(i64::MAX))
            }
            Request::Random(count) => random(*count),
            Request::Environment(name) => Answer::Text(self.options.environment.get(name).cloned()),
            Request::AllEnvironment => {
                Answer::Pairs(self.options.environment.clone().into_iter().collect())
            }
            Request::File(request) => answer(file(request, &self.folder)),
            Request::Input { line } if self.is_detached => Answer::Text((!line).then(String::new)),
            Request::IsTerminal(_) if self.is_detached => Answer::Truth(false),
            Request::Input { line } => {
                self.sink.flush();
                answer(input(*line))
            }
            Request::IsTerminal(stream) => Answer::Truth(match stream {
                0 => io::stdin().is_terminal(),
                1 => io::stdout().is_terminal(),
                _ => io::stderr().is_terminal(),
            }),
            Request::Other { kind, payload } if *kind == models::KIND => {
                self.models.perform(payload)
            }
            Request::Other { kind, payload } if *kind == agents::KIND => {
                self.agents.perform(payload)
            }
            Request::Other { kind, payload } if *kind == event_log::EFFECT => {
                self.event_log.perform(payload)
            }
            Request::Process(_) | Request::Other { .. } => failed(&io::Error::new(
                io::ErrorKind::Unsupported,
                "this takes time and must be begun",
            )),
        }
    }

    fn begin(&mut self, id: EffectId, request: Request) {
        if let Request::Other { kind, payload } = &request
            && *kind == agents::KIND
        {
            // Most of these are answered at once; who waits longer is seen to be idle.
            let (desk, tokio) = self.models.lend();
            return self.agents.begin(id, payload, desk, &tokio);
        }
        self.sink.flush();
        match request {
            Request::Process(mut request) => {
                if self.folder.0.is_some() {
                    let folder = request.folder.as_deref().unwrap_or(Path::new(""));
                    request.folder = Some(self.folder.at(folder));
                }
                let environment = self.options.environment.clone();
                self.processes.begin(id, request, environment);
            }
            Request::Other { kind, payload } if kind == models::KIND => {
                self.models.begin(id, &payload);
            }
            Request::Other { kind, payload } if kind == event_log::EFFECT => {
                self.event_log.begin(id, &payload);
            }
            request => {
                let answer = self.perform(&request);
                self.processes.answer(id, answer);
            }
        }
    }

    fn resume(&mut self, id: EffectId) {
        self.agents.resume(id, &self.models.tokio());
        self.event_log.resume(id);
    }

    fn offered(&mut self, tag: &str, number: u64) {
        self.agents.offered(tag, number);
    }

    fn cancel(&mut self, id: EffectId) {
        self.agents.cancel(id, &self.models.tokio());
        self.models.cancel(id);
        self.event_log.cancel(id);
        self.processes.cancel(id);
    }

    fn write(&mut self, stream: Stream, text: &str) {
        self.sink.write(stream, text);
    }

    fn idle(&mut self) {
        self.sink.flush();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.sink.flush();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the port that everybody else asks"
)]
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.map(|since| since.as_millis()).unwrap_or_default();
    i64::try_from(since).unwrap_or(i64::MAX)
}

fn random(count: usize) -> Answer {
    let mut octets = vec![0; count];
    match getrandom::fill(&mut octets) {
        Ok(()) => Answer::Octets(octets),
        Err(error) => failed(&io::Error::other(error.to_string())),
    }
}

fn input(line: bool) -> io::Result<Answer> {
    let mut text = String::new();
    let read = match line {
        true => io::stdin().lock().read_line(&mut text)?,
        false => io::stdin().lock().read_to_string(&mut text)?,
    };
    Ok(Answer::Text((read > 0 || !line).then_some(text)))
}

fn answer(result: io::Result<Answer>) -> Answer {
    result.unwrap_or_else(|error| failed(&error))
}

pub(crate) fn failed(error: &io::Error) -> Answer {
    Answer::Failed(EffectFailure {
        kind: error.kind(),
        message: error.to_string(),
    })
}

fn file(request: &FileRequest, folder: &Folder) -> io::Result<Answer> {
    let at = |path: &Path| folder.at(path);
    match request {
        FileRequest::Read(path) => fs::read(at(path)).map(Answer::Octets),
        FileRequest::Write(path, content) => fs::write(at(path), content).map(|()| Answer::Done),
        FileRequest::Replace(path, content, before) => {
            replace(&at(path), content, before).map(Answer::Truth)
        }
        FileRequest::Append(path, content) => append(&at(path), content).map(|()| Answer::Done),
        FileRequest::Status(path) => status(&at(path)).map(Answer::Status),
        FileRequest::List(path) => list(&at(path)),
        FileRequest::MakeFolder(path) => fs::create_dir_all(at(path)).map(|()| Answer::Done),
        FileRequest::Delete(path) => {
            let path = at(path);
            match fs::symlink_metadata(&path)?.is_dir() {
                true => fs::remove_dir_all(path)?,
                false => fs::remove_file(path)?,
            }
            Ok(Answer::Done)
        }
        FileRequest::Copy(from, to) => fs::copy(at(from), at(to)).map(|_| Answer::Done),
        FileRequest::Move(from, to) => fs::rename(at(from), at(to)).map(|()| Answer::Done),
        FileRequest::Canonical(path) => {
            let path = fs::canonicalize(at(path))?;
            Ok(Answer::Text(Some(path.to_string_lossy().into_owned())))
        }
    }
}

fn append(path: &Path, content: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)?;
    file.write_all(content)
}

fn status(path: &Path) -> io::Result<Option<FileStatus>> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let modified = metadata.modified().ok();
    let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map(|since| since.as_millis()).unwrap_or_default();
    Ok(Some(FileStatus {
        size: metadata.len(),
        is_file: metadata.is_file(),
        is_folder: metadata.is_dir(),
        is_readonly: metadata.permissions().readonly(),
        modified: i64::try_from(modified).unwrap_or(i64::MAX),
    }))
}

/// The names of a folder's entries with what each is, sorted.
fn list(path: &Path) -> io::Result<Answer> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = match entry.file_type()? {
            kind if kind.is_dir() => "folder",
            kind if kind.is_file() => "file",
            kind if kind.is_symlink() => "link",
            _ => "other",
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        entries.push((name, kind.to_owned()));
    }
    entries.sort();
    Ok(Answer::Pairs(entries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_machine::inbox;

    struct Silent;

    impl Sink for Silent {
        fn write(&mut self, _stream: Stream, _text: &str) {}

        fn flush(&mut self) {}
    }

    #[test]
    fn a_detached_world_has_nothing_to_read() {
        let (outside, _inbox) = inbox();
        let world = World::new(WorldOptions::default(), Box::new(Silent), outside);
        let mut world = world.detached();
        let mut read = |line| world.perform(&Request::Input { line });
        assert_eq!(read(true), Answer::Text(None));
        assert_eq!(read(false), Answer::Text(Some(String::new())));
        for stream in 0..3 {
            let answer = world.perform(&Request::IsTerminal(stream));
            assert_eq!(answer, Answer::Truth(false));
        }
    }

    #[test]
    fn relative_paths_start_in_the_folder_of_the_world() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        let (outside, _inbox) = inbox();
        let world = World::new(WorldOptions::default(), Box::new(Silent), outside);
        let mut world = world.in_folder(folder.clone());
        let mut perform = |request| world.perform(&Request::File(request));
        let write = FileRequest::Write("a.txt".into(), b"text".to_vec());
        assert_eq!(perform(write), Answer::Done);
        assert_eq!(fs::read(folder.join("a.txt")).unwrap(), b"text");
        let read = FileRequest::Read("./a.txt".into());
        assert_eq!(perform(read), Answer::Octets(b"text".to_vec()));
        let here = folder.to_string_lossy().into_owned();
        let canonical = FileRequest::Canonical(".".into());
        assert_eq!(perform(canonical), Answer::Text(Some(here)));
        let absolute = FileRequest::Read(folder.join("a.txt"));
        assert_eq!(perform(absolute), Answer::Octets(b"text".to_vec()));
    }

    #[test]
    fn options_are_shown_without_the_values_of_variables() {
        let marked = ("OPENAI_API_KEY".to_owned(), "sk-marked".to_owned());
        let options = WorldOptions {
            environment: [marked].into(),
            ..WorldOptions::default()
        };
        let shown = format!("{options:?}");
        assert!(
            shown.contains("variables: 1") && !shown.contains("marked"),
            "{shown}"
        );
    }
}
