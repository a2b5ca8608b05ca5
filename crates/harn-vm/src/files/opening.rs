//! Opening files without waiting for another process.
//!
//! ```text
//! open, non-blocking ─► fstat ─► a regular file ─► read, written
//!                                └─ a pipe, a device ─┬─ an agent asks ─► 'P' is not a file
//!                                                     └─ the program asks ─► read, written,
//!                                                        until the program is to end
//! ```
//!
//! To open a pipe waits for the process at its other end, perhaps for ever. A model that can name
//! a path must not stop a run that way. What a program names itself may well be a pipe, such as
//! `/dev/stdin` or what a shell passes for `<(command)`, so the program waits, but never longer
//! than it may run.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use super::content;
use crate::interrupt::Interrupt;

/// Every file is opened like this: no pipe is waited for, no terminal becomes ours.
pub(super) const CAREFULLY: OFlags = OFlags::NONBLOCK
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// How long a wait goes on before it is asked again whether the program is to end.
const LOOK_UP_EVERY: Duration = Duration::from_millis(20);

/// How much is read at once of what has no known size.
const CHUNK_BYTES: usize = 64 * 1024;

/// Who waits for what is no regular file.
#[derive(Clone, Copy)]
pub(super) enum Waits<'a> {
    /// The program, until it is to end.
    Program(&'a Interrupt),
    /// Nobody: an agent asks.
    Nobody,
}

/// All that is in a file that was opened.
pub(super) fn read(
    opened: io::Result<File>,
    max: u64,
    shown: &Path,
    waits: Waits<'_>,
) -> io::Result<Vec<u8>> {
    let file = opened.map_err(|error| without_other_end(error, shown))?;
    let facts = file.metadata()?;
    match waits {
        _ if facts.is_file() || facts.is_dir() => content(file, max),
        Waits::Program(interrupt) => read_stream(&file, max, interrupt),
        Waits::Nobody => Err(not_a_file(shown)),
    }
}

/// Opens a file by `open` and writes it.
pub(super) fn write(
    open: impl Fn() -> io::Result<File>,
    content: &[u8],
    shown: &Path,
    waits: Waits<'_>,
) -> io::Result<()> {
    let opened = match (open(), waits) {
        (Err(error), Waits::Program(interrupt)) if lacks_other_end(&error) => {
            await_reader(&open, interrupt)
        }
        (opened, _) => opened,
    };
    let mut file = opened.map_err(|error| without_other_end(error, shown))?;
    match waits {
        _ if file.metadata()?.is_file() => file.write_all(content),
        Waits::Program(interrupt) => write_stream(&file, content, interrupt),
        Waits::Nobody => Err(not_a_file(shown)),
    }
}

/// What is said of a pipe, a socket or a device.
pub(super) fn not_a_file(shown: &Path) -> io::Error {
    let reason = format!("'{}' is not a file", shown.display());
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// Whether nobody is at the other end of a pipe, or there is none because it is a socket.
fn lacks_other_end(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error())
}

pub(super) fn without_other_end(error: io::Error, shown: &Path) -> io::Error {
    match lacks_other_end(&error) {
        true => not_a_file(shown),
        false => error,
    }
}

/// Opens a pipe as soon as somebody reads it.
fn await_reader(open: impl Fn() -> io::Result<File>, interrupt: &Interrupt) -> io::Result<File> {
    loop {
        match open() {
            Err(error) if lacks_other_end(&error) => {
                go_on(interrupt)?;
                // Nothing tells when somebody opens the other end.
                poll(&mut [], Some(&look_up_time()))?;
            }
            opened => return opened,
        }
    }
}

fn read_stream(file: &File, max: u64, interrupt: &Interrupt) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        await_event(file, PollFlags::IN, interrupt)?;
        match (&*file).read(&mut chunk) {
            Ok(0) => return Ok(octets),
            Ok(count) => octets.extend_from_slice(&chunk[..count]),
            Err(error) if is_for_later(&error) => {}
            Err(error) => return Err(error),
        }
        if octets.len() as u64 > max {
            return Err(super::too_large(max));
        }
    }
}

fn write_stream(file: &File, content: &[u8], interrupt: &Interrupt) -> io::Result<()> {
    let mut left = content;
    while !left.is_empty() {
        await_event(file, PollFlags::OUT, interrupt)?;
        match (&*file).write(left) {
            Ok(count) => left = &left[count..],
            Err(error) if is_for_later(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Waits until something can be read or written, or until the other end has gone.
fn await_event(file: &File, event: PollFlags, interrupt: &Interrupt) -> io::Result<()> {
    loop {
        go_on(interrupt)?;
        match poll(&mut [PollFd::new(file, event)], Some(&look_up_time())) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn look_up_time() -> Timespec {
    Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(LOOK_UP_EVERY.subsec_nanos()),
    }
}

/// Fails if the program is to end.
fn go_on(interrupt: &Interrupt) -> io::Result<()> {
    match interrupt.gives_up_waiting() {
        true => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the program is to end",
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt;
    use std::time::Instant;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::super::READ_BYTES_MAX;
    use super::*;

    fn pipe(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        path
    }

    fn open(path: &Path) -> io::Result<File> {
        let flags = i32::try_from(CAREFULLY.bits()).unwrap();
        File::options().read(true).custom_flags(flags).open(path)
    }

    fn create(path: &Path) -> io::Result<File> {
        let flags = i32::try_from(CAREFULLY.bits()).unwrap();
        File::options().write(true).custom_flags(flags).open(path)
    }

    #[test]
    fn an_agent_never_waits_for_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(folder.path());
        let expected = format!("'{}' is not a file", path.display());
        let error = read(open(&path), READ_BYTES_MAX, &path, Waits::Nobody).unwrap_err();
        assert_eq!(error.to_string(), expected);
        let error = write(|| create(&path), b"x", &path, Waits::Nobody).unwrap_err();
        assert_eq!(error.to_string(), expected);
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let error = read(open(&socket), READ_BYTES_MAX, &socket, Waits::Nobody).unwrap_err();
        let expected = format!("'{}' is not a file", socket.display());
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_program_waits_for_a_pipe_until_it_is_to_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(folder.path());
        let interrupt = Interrupt::default();
        interrupt.set_deadline(Some(Instant::now() + Duration::from_millis(50)));
        let error = read(
            open(&path),
            READ_BYTES_MAX,
            &path,
            Waits::Program(&interrupt),
        )
        .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let written = write(|| create(&path), b"x", &path, Waits::Program(&interrupt));
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn what_goes_through_a_pipe_arrives() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(folder.path());
        let interrupt = Interrupt::default();
        let content = vec![7; 300_000];
        let read = std::thread::scope(|scope| {
            scope.spawn(|| {
                write(
                    || create(&path),
                    &content,
                    &path,
                    Waits::Program(&interrupt),
                )
                .unwrap();
            });
            read(
                open(&path),
                READ_BYTES_MAX,
                &path,
                Waits::Program(&interrupt),
            )
            .unwrap()
        });
        assert!(read == content);
        let nothing = Path::new("/dev/null");
        let read = super::read(
            open(nothing),
            READ_BYTES_MAX,
            nothing,
            Waits::Program(&interrupt),
        )
        .unwrap();
        assert!(read.is_empty());
        write(
            || create(nothing),
            b"x",
            nothing,
            Waits::Program(&interrupt),
        )
        .unwrap();
    }
}
