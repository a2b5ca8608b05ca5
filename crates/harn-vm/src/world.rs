//! The real world: clock, chance, files, processes, environment, terminal.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use harn_agent::events::{KnownSecrets, is_secret_variable};
use harn_agent::tool_hooks::ManifestHook;
use harn_machine::value::Dict;
use harn_machine::{
    Answer, EffectFailure, EffectId, Effects, HttpProxy, NetRequest, Outside, ProcessRequest,
    Request, Stream, TlsOptions,
};
use harn_stdlib::{
    CERTIFICATE_EFFECT, HOST_EFFECT, LONG_RUNNING, PEOPLE_EFFECT, WEB_SERVER_EFFECT, event_log,
};

use crate::agents::{self, AgentOptions, AgentPort, Confinement, IfGivenUp};
use crate::event_log::{EventLogOptions, EventLogPort};
use crate::files::{Asker, Files};
use crate::host::HostPort;
#[cfg(feature = "net")]
use crate::http::{Destination, NetPort};
use crate::interrupt::Interrupt;
use crate::models::{self, ModelOptions, ModelPort, TokioHandle};
use crate::people::PeoplePort;
use crate::policy::{Access, Policy, Refusal};
use crate::process::{Processes, Start, words};
#[cfg(feature = "net")]
use crate::server::{ServerPort, certificate};
use crate::skills::{self, Skills};

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
    /// What it may do.
    pub policy: Policy,
    /// Told before the first process is started. Every process leads a group of its own, so that
    /// what it starts ends with it, and such a group does not hear Ctrl-C. A host that listens
    /// for Ctrl-C from here on can end the run in good order; otherwise Ctrl-C ends the host, and
    /// its processes end with it.
    pub first_process: Option<Announce>,
}

/// Tells somebody that something begins.
#[derive(Clone)]
pub struct Announce(pub Arc<dyn Fn() + Send + Sync>);

/// Variables hold keys, so only their number is shown.
impl fmt::Debug for WorldOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("WorldOptions");
        shown.field("variables", &self.environment.len());
        shown.field("models", &self.models);
        shown.field("agents", &self.agents);
        shown.field("event_log", &self.event_log);
        shown.field("policy", &self.policy);
        shown.finish()
    }
}

/// The real world. What takes time is done by threads of its own, which say when they are
/// done.
pub struct World {
    options: WorldOptions,
    files: Files,
    /// What holds for the task that asks, if it runs inside the loop of an agent.
    confinement: Confinement,
    is_detached: bool,
    sink: Box<dyn Sink>,
    started: Instant,
    processes: Processes,
    /// Before the agents, because requests that are taken back are told in their sessions.
    people: PeoplePort,
    host: HostPort,
    /// Before the models, because loops that are given up still use them.
    agents: AgentPort,
    #[cfg(feature = "net")]
    net: NetPort,
    #[cfg(feature = "net")]
    servers: ServerPort,
    models: ModelPort,
    event_log: EventLogPort,
    skills: Skills,
}

impl World {
    /// The world of one program. Completions go to `outside`.
    pub fn new(options: WorldOptions, sink: Box<dyn Sink>, outside: Outside) -> Self {
        #[cfg(feature = "net")]
        let net = NetPort::new(outside.clone());
        let (environment, asked) = (options.environment.clone(), options.models.clone());
        let policy = options.policy.clone();
        Self {
            people: PeoplePort::new(options.agents.bridge.clone()),
            host: HostPort::new(options.agents.bridge.clone()),
            agents: AgentPort::new(
                options.agents.clone(),
                environment.clone(),
                outside.clone(),
                policy.clone(),
            ),
            #[cfg(feature = "net")]
            servers: ServerPort::new(outside.clone(), net.sockets()),
            #[cfg(feature = "net")]
            net,
            models: ModelPort::new(asked, environment, outside.clone(), policy.clone()),
            event_log: EventLogPort::new(options.event_log.clone(), outside.clone()),
            skills: Skills::default(),
            confinement: Confinement::new(options.agents.sources.clone()),
            options,
            files: Files {
                policy,
                folder: None,
                read_bytes_max: None,
                asker: Asker::default(),
            },
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
        self.files.folder = Some(folder);
        self
    }

    /// The same world for a program whose values may take so many bytes.
    pub(crate) fn with_memory(mut self, bytes: Option<usize>) -> Self {
        self.files.read_bytes_max = bytes.map(|bytes| bytes as u64);
        self
    }

    /// The same world with the hooks of a project.
    pub(crate) fn with_hooks(mut self, hooks: Vec<ManifestHook>) -> Self {
        self.agents.await_hooks(hooks);
        self
    }

    /// The same world with skills that may be discovered later.
    pub(crate) fn with_skills(mut self, skills: Skills) -> Self {
        self.agents.set_skills(skills.clone());
        self.skills = skills;
        self
    }

    /// The same world, in which nothing is waited for once the program is to end.
    pub(crate) fn until(mut self, interrupt: Interrupt) -> Self {
        self.files.asker = Asker::Program(interrupt);
        self
    }

    /// The same world without a terminal: the input is at its end, and no stream is one.
    pub fn detached(mut self) -> Self {
        self.is_detached = true;
        self
    }
}

impl World {
    /// Whether the policy allows a request, as far as it can be told before it is performed.
    /// Files are checked where they are opened, and models where they are asked.
    fn check(&mut self, request: &Request) -> Result<(), Refusal> {
        match request {
            Request::Environment(name) => self.options.policy.check_variable(name),
            Request::Process(request) => self.check_process(request),
            Request::Net(request) => self.check_net(request),
            Request::Other { kind, payload } if *kind == WEB_SERVER_EFFECT => {
                self.check_listening(payload)
            }
            Request::Now
            | Request::Elapsed
            | Request::Random(_)
            | Request::AllEnvironment
            | Request::File(_)
            | Request::OwnFile(_)
            | Request::Input { .. }
            | Request::IsTerminal(_)
            | Request::Other { .. } => Ok(()),
        }
    }

    /// Whether something may be sent where a request wants to, and whether the files may be
    /// used that it names.
    fn check_net(&mut self, request: &NetRequest) -> Result<(), Refusal> {
        match request {
            NetRequest::Exchange(request)
            | NetRequest::Open(request)
            | NetRequest::OpenLater(request) => {
                let route = &request.route;
                self.check_connection(&request.url, route.proxy.as_ref(), &route.tls)
            }
            NetRequest::ConnectSocket(request) => {
                self.check_connection(&request.url, request.proxy.as_ref(), &request.tls)
            }
            NetRequest::Save { path, .. } => self.check_file(Access::Write, path),
            NetRequest::Head { .. }
            | NetRequest::Read { .. }
            | NetRequest::Close(_)
            | NetRequest::EndSession(_)
            | NetRequest::SendMessage { .. }
            | NetRequest::ReceiveMessage { .. }
            | NetRequest::CloseSocket(_) => Ok(()),
        }
    }

    /// Whether a connection may be made, and whether the files may be used that it needs.
    fn check_connection(
        &mut self,
        url: &str,
        proxy: Option<&HttpProxy>,
        tls: &TlsOptions,
    ) -> Result<(), Refusal> {
        self.options.policy.check_url(url)?;
        if let Some(proxy) = proxy {
            self.options.policy.check_url(&proxy.url)?;
        }
        let files = [&tls.authorities, &tls.certificate, &tls.key, &tls.identity];
        let mut files = files.into_iter().flatten();
        files.try_for_each(|file| self.check_file(Access::Read, file))
    }

    /// Whether others may connect to where a server wants to listen.
    #[cfg(feature = "net")]
    fn check_listening(&self, asked: &str) -> Result<(), Refusal> {
        match crate::server::address_of(asked) {
            Some(address) => self.options.policy.check_url(&format!("ws://{address}")),
            None => Ok(()),
        }
    }

    #[cfg(not(feature = "net"))]
    fn check_listening(&self, _asked: &str) -> Result<(), Refusal> {
        Ok(())
    }

    /// Whether something may be done with a file that somebody else opens.
    fn check_file(&mut self, access: Access, path: &Path) -> Result<(), Refusal> {
        self.files_of_task()?.check(access, path)
    }

    /// Whether a process may run where it is to, and be told of the paths among its words.
    fn check_process(&mut self, request: &ProcessRequest) -> Result<(), Refusal> {
        let is_free = self.confinement.is_free();
        match (&request.folder, is_free) {
            (Some(folder), true) => self.check_file(Access::Read, folder),
            (None, true) => Ok(()),
            (_, false) => {
                let files = self.files_of_task()?;
                let path = self.options.environment.get("PATH");
                words::check(request, &files, path.map(String::as_str))
            }
        }
    }

    /// The files, as far as the task that asks may use them.
    fn files_of_task(&mut self) -> Result<Files, Refusal> {
        let environment = &self.options.environment;
        self.confinement
            .narrow(&self.files, &self.agents, environment)
    }

    /// Where whoever waits for the host finds a clock.
    fn hosts_tokio(&mut self) -> TokioHandle {
        let started = match self.options.agents.bridge {
            Some(_) => self.models.thread().ok(),
            None => None,
        };
        started.unwrap_or_else(|| self.models.tokio())
    }

    fn begin_process(&self, id: EffectId, mut request: ProcessRequest) -> Result<(), Refusal> {
        let options = &self.options;
        let path = options.environment.get("PATH").map(String::as_str);
        let folder = request.folder.as_deref().unwrap_or(Path::new("."));
        let folder = self.files.at(folder);
        let program = &request.program;
        let file = options.policy.check_program(program, &folder, path)?;
        if self.files.folder.is_some() {
            request.folder = Some(folder);
        }
        if let (Some(Announce(announce)), true) = (&options.first_process, self.processes.is_new())
        {
            announce();
        }
        let mut environment = options.policy.variables_of_processes(&options.environment);
        if request.withholds_secrets {
            let known = KnownSecrets::of_process();
            environment
                .retain(|name, value| !is_secret_variable(name, value) && !known.are_in(value));
        }
        self.processes.begin(
            id,
            Start {
                request,
                file,
                environment,
            },
        );
        Ok(())
    }
}

impl Effects for World {
    fn enter(&mut self, values: &Dict) {
        self.confinement.enter(values);
    }

    fn perform(&mut self, request: &Request) -> Answer {
        if let Err(refusal) = self.check(request) {
            return Answer::Refused(refusal.to_string());
        }
        match request {
            Request::Now => Answer::Number(now()),
            Request::Elapsed => {
                let elapsed = self.started.elapsed().as_millis();
                Answer::Number(i64::try_from(elapsed).unwrap_or(i64::MAX))
            }
            Request::Random(count) => random(*count),
            Request::Environment(name) => Answer::Text(self.options.environment.get(name).cloned()),
            Request::AllEnvironment => {
                let policy = &self.options.policy;
                let all = self.options.environment.clone().into_iter();
                Answer::Pairs(
                    all.filter(|(name, _)| policy.check_variable(name).is_ok())
                        .collect(),
                )
            }
            Request::File(request) => match self.files_of_task() {
                Ok(files) => files.perform(request),
                Err(refusal) => Answer::Refused(refusal.to_string()),
            },
            Request::OwnFile(request) => match self.files_of_task() {
                Ok(files) => files.perform_own(request),
                Err(refusal) => Answer::Refused(refusal.to_string()),
            },
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
            Request::Other { kind, payload } if *kind == LONG_RUNNING => {
                let files = match self.files_of_task() {
                    Ok(files) => files,
                    Err(refusal) => return Answer::Refused(refusal.to_string()),
                };
                let (desk, _) = self.models.lend();
                self.agents.begin_search(payload, desk, &files)
            }
            Request::Other { kind, payload } if *kind == event_log::EFFECT => {
                self.event_log.perform(payload)
            }
            Request::Other { kind, payload } if *kind == PEOPLE_EFFECT => {
                self.people.perform(payload, &mut self.event_log)
            }
            Request::Other { kind, payload } if *kind == HOST_EFFECT => self.host.perform(payload),
            Request::Other { kind, payload } if *kind == skills::VARIABLE => {
                Answer::Text(self.skills.variable(payload).cloned())
            }
            Request::Other { kind, payload } if *kind == WEB_SERVER_EFFECT => {
                self.perform_server(payload)
            }
            Request::Other { kind, payload } if *kind == CERTIFICATE_EFFECT => certificate(payload),
            Request::Net(request) => self.perform_net(request),
            Request::Process(_) | Request::Other { .. } => failed(&io::Error::new(
                io::ErrorKind::Unsupported,
                "this takes time and must be begun",
            )),
        }
    }

    fn begin(&mut self, id: EffectId, request: Request) {
        if let Err(refusal) = self.check(&request) {
            return self
                .processes
                .answer(id, Answer::Refused(refusal.to_string()));
        }
        if let Request::Other { kind, payload } = &request
            && *kind == agents::KIND
        {
            // Most of these are answered at once; who waits longer is seen to be idle.
            let (desk, tokio) = self.models.lend();
            return self.agents.begin(id, payload, desk, &tokio);
        }
        self.sink.flush();
        match request {
            Request::Process(request) => {
                if let Err(refusal) = self.begin_process(id, request) {
                    let answer = Answer::Refused(refusal.to_string());
                    self.processes.answer(id, answer);
                }
            }
            Request::Other { kind, payload } if kind == models::KIND => {
                self.models.begin(id, &payload);
            }
            Request::Other { kind, payload } if kind == event_log::EFFECT => {
                self.event_log.begin(id, &payload);
            }
            Request::Other { kind, payload } if kind == PEOPLE_EFFECT => {
                let (event_log, runtime) = (&mut self.event_log, self.agents.known_runtime());
                let (work, if_given_up) = self.people.begin(id, &payload, event_log, runtime);
                let tokio = self.hosts_tokio();
                self.agents.run(id, work, if_given_up, &tokio);
            }
            Request::Other { kind, payload } if kind == HOST_EFFECT => {
                let log = self.event_log.logs().lasting().clone();
                let work = self.host.begin(&payload, log);
                let tokio = self.hosts_tokio();
                self.agents.run(id, work, IfGivenUp::Stops, &tokio);
            }
            Request::Other { kind, payload } if kind == WEB_SERVER_EFFECT => {
                self.begin_server(id, &payload);
            }
            Request::Net(request) => self.begin_net(id, request),
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
        self.people.cancel(id, &self.models.tokio());
        self.agents.cancel(id, &self.models.tokio());
        self.models.cancel(id);
        self.event_log.cancel(id);
        #[cfg(feature = "net")]
        {
            self.net.cancel(id);
            self.servers.cancel(id);
        }
        self.processes.cancel(id);
    }

    fn write(&mut self, stream: Stream, text: &str) {
        self.sink.write(stream, text);
    }

    fn idle(&mut self) {
        self.sink.flush();
    }
}

#[cfg(feature = "net")]
impl World {
    fn perform_net(&mut self, request: &NetRequest) -> Answer {
        match self.models.thread() {
            Ok(tokio) => {
                let environment = &self.options.environment;
                Answer::Net(self.net.perform(request, &tokio, environment))
            }
            Err(error) => failed(&error),
        }
    }

    /// Saves a body where its path leads now, and nowhere else.
    fn begin_save(&mut self, id: EffectId, stream: u64, path: &Path) {
        let resolve = harn_agent::real_path::resolve;
        let files = self.files_of_task();
        let files = files.map_err(|refusal| Answer::Refused(refusal.to_string()));
        let place = files.and_then(|files| files.place(path, Access::Write, resolve));
        let place = match place {
            Ok(place) => place,
            Err(refused) => return self.processes.answer(id, refused),
        };
        match self.models.thread() {
            Ok(tokio) => {
                let destination = Destination::Checked(place);
                self.net.save(id, stream, destination, &tokio);
            }
            Err(error) => self.processes.answer(id, failed(&error)),
        }
    }

    fn begin_net(&mut self, id: EffectId, request: NetRequest) {
        if let NetRequest::Save { stream, path } = &request
            && !self.files_of_task().is_ok_and(|files| files.is_open())
        {
            return self.begin_save(id, *stream, path);
        }
        match self.models.thread() {
            Ok(tokio) => {
                let environment = &self.options.environment;
                self.net.begin(id, request, &tokio, environment);
            }
            Err(error) => self.processes.answer(id, failed(&error)),
        }
    }
}

#[cfg(feature = "net")]
impl World {
    fn perform_server(&mut self, payload: &str) -> Answer {
        match self.models.thread() {
            Ok(tokio) => self.servers.perform(payload, &tokio),
            Err(error) => failed(&error),
        }
    }

    fn begin_server(&mut self, id: EffectId, payload: &str) {
        match self.models.thread() {
            Ok(tokio) => self.servers.begin(id, payload, &tokio),
            Err(error) => self.processes.answer(id, failed(&error)),
        }
    }
}

#[cfg(not(feature = "net"))]
impl World {
    fn perform_net(&mut self, _request: &NetRequest) -> Answer {
        without_network()
    }

    fn begin_net(&mut self, id: EffectId, _request: NetRequest) {
        self.processes.answer(id, without_network());
    }

    fn perform_server(&mut self, _payload: &str) -> Answer {
        without_network()
    }

    fn begin_server(&mut self, id: EffectId, _payload: &str) {
        self.processes.answer(id, without_network());
    }
}

#[cfg(not(feature = "net"))]
fn certificate(_hosts: &str) -> Answer {
    without_network()
}

#[cfg(not(feature = "net"))]
fn without_network() -> Answer {
    let reason = "the network is not available in this build";
    failed(&io::Error::new(io::ErrorKind::Unsupported, reason))
}

impl Drop for World {
    fn drop(&mut self) {
        self.sink.flush();
    }
}

/// Milliseconds since the epoch.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the port that everybody else asks"
)]
pub fn now() -> i64 {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use harn_machine::{FileRequest, inbox};

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
