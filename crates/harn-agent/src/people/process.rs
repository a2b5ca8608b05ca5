//! Which process waits for an answer, and whether it still can.
//!
//! The name of a process says on which machine it runs, its number, and when it began: numbers
//! are given to others later. Where that cannot be found out, a process counts as alive. Then a
//! program asks again, which costs a person a second answer; the other mistake would give one
//! answer to two programs.

use std::fs;

/// The name of this process.
pub fn this_process() -> String {
    let id = std::process::id();
    let begun = begun(id).unwrap_or_default();
    format!("{}/{id}/{begun}", machine())
}

/// Whether a process has ended that had this name.
pub fn is_gone(name: &str) -> bool {
    let mut parts = name.rsplitn(3, '/');
    let (Some(begun_then), Some(id), Some(machine_then)) =
        (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Ok(id) = id.parse::<u32>() else {
        return false;
    };
    if machine_then != machine() || id == std::process::id() {
        return false;
    }
    match begun(id) {
        Some(begun) => !begun_then.is_empty() && begun != begun_then,
        None => !is_running(id),
    }
}

fn is_running(id: u32) -> bool {
    let id = i32::try_from(id).ok();
    let process = id.and_then(rustix::process::Pid::from_raw);
    // One that may not be asked is there.
    process.is_none_or(|process| {
        let asked = rustix::process::test_kill_process(process);
        asked != Err(rustix::io::Errno::SRCH)
    })
}

/// The machine, as far as it can be told from others.
fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// When a process began, where the system tells: in ticks since the machine began.
fn begun(id: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program is in parentheses and may hold anything.
    let (_, fields) = text.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?;
    // One that has ended and that nobody has looked after waits for nothing.
    if state == "Z" {
        return Some("ended".to_owned());
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_there() {
        assert!(!is_gone(&this_process()));
    }

    #[test]
    fn another_one_is_gone_when_it_has_ended() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let id = child.id();
        let name = format!("{}/{id}/{}", machine(), begun(id).unwrap_or_default());
        assert!(!is_gone(&name));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&name));
    }

    #[test]
    fn what_is_not_known_is_not_gone() {
        for name in ["", "7", "elsewhere/1/2", "a/b/c"] {
            assert!(!is_gone(name), "{name}");
        }
    }
}
