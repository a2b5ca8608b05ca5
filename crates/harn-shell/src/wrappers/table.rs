//! The wrappers, as data.

use crate::programs::{base_name, is_shell};

/// How a wrapper is told what to run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Its words after options and operands are a program with its words.
    Words,
    /// The same, or with this option a text for a shell.
    WordsOrText(char),
    /// Its words are joined to a text for a shell.
    Joined,
    /// Only this option has a text for a shell.
    Text(char),
}

/// What is known about a wrapper. An option that is not here makes a command not understood.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// Letters of options without a value.
    pub(super) flags: &'static str,
    /// Letters of options with a value.
    pub(super) values: &'static str,
    /// Long options without a value.
    pub(super) long_flags: &'static [&'static str],
    /// Long options with a value.
    pub(super) long_values: &'static [&'static str],
    /// Letters of options with which it runs nothing.
    pub(super) informing: &'static str,
    /// How many words come before the program.
    pub(super) operands: usize,
    pub(super) takes_assignments: bool,
    /// Whether it does something itself: it gives rights, writes files or looks into what it
    /// runs. A rule has to be about it as well then.
    pub(super) acts: bool,
    pub(super) form: Form,
}

const ROW: Row = Row {
    name: "",
    flags: "",
    values: "",
    long_flags: &[],
    long_values: &[],
    informing: "",
    operands: 0,
    takes_assignments: false,
    acts: false,
    form: Form::Words,
};

/// The row of a wrapper.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    let name = match name.starts_with("ld-linux") || name.starts_with("ld-musl") {
        true => "ld.so",
        false => name,
    };
    ROWS.iter().find(|row| row.name == name)
}

/// Whether a program runs others that are given to it.
pub(crate) fn is_wrapper(program: &str) -> bool {
    let name = base_name(program);
    is_shell(name) || matches!(name, "find" | "parallel" | "xargs") || row(name).is_some()
}

static ROWS: [Row; 49] = [
    Row {
        name: "env",
        flags: "i0v-",
        values: "uC",
        long_flags: &["ignore-environment", "null", "debug"],
        long_values: &["unset", "chdir"],
        takes_assignments: true,
        ..ROW
    },
    Row {
        name: "command",
        flags: "p",
        informing: "vV",
        ..ROW
    },
    Row {
        name: "builtin",
        ..ROW
    },
    Row {
        name: "exec",
        flags: "cl",
        values: "a",
        ..ROW
    },
    Row {
        name: "nohup",
        ..ROW
    },
    Row {
        name: "setsid",
        flags: "cfw",
        long_flags: &["ctty", "fork", "wait"],
        ..ROW
    },
    Row {
        name: "nice",
        flags: "0123456789",
        values: "n",
        long_values: &["adjustment"],
        ..ROW
    },
    Row {
        name: "ionice",
        flags: "t",
        values: "cn",
        long_flags: &["ignore"],
        long_values: &["class", "classdata"],
        ..ROW
    },
    Row {
        name: "chrt",
        flags: "abdfiorRv",
        long_flags: &["batch", "fifo", "idle", "other", "rr", "verbose"],
        operands: 1,
        ..ROW
    },
    Row {
        name: "stdbuf",
        values: "ioe",
        long_values: &["input", "output", "error"],
        ..ROW
    },
    Row {
        name: "time",
        flags: "pqv",
        values: "f",
        long_flags: &["portability", "quiet", "verbose"],
        long_values: &["format"],
        takes_assignments: true,
        ..ROW
    },
    Row {
        name: "timeout",
        flags: "fpv",
        values: "ks",
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_values: &["kill-after", "signal"],
        operands: 1,
        ..ROW
    },
    Row {
        name: "taskset",
        flags: "ac",
        long_flags: &["all-tasks", "cpu-list"],
        operands: 1,
        ..ROW
    },
    Row {
        name: "watch",
        flags: "bcdegtw",
        values: "nq",
        long_flags: &["beep", "color", "errexit", "chgexit", "no-title", "precise"],
        long_values: &["interval"],
        form: Form::Joined,
        ..ROW
    },
    Row {
        name: "busybox",
        ..ROW
    },
    Row {
        name: "toybox",
        ..ROW
    },
    Row {
        name: "ld.so",
        acts: true,
        ..ROW
    },
    Row {
        name: "sudo",
        flags: "ABbEHknPS",
        values: "CDghpRrTtUu",
        long_flags: &[
            "background",
            "non-interactive",
            "preserve-env",
            "set-home",
            "stdin",
        ],
        long_values: &["user", "group", "chdir", "host", "prompt"],
        takes_assignments: true,
        acts: true,
        ..ROW
    },
    Row {
        name: "doas",
        flags: "n",
        values: "u",
        acts: true,
        ..ROW
    },
    Row {
        name: "su",
        flags: "lmpP-",
        values: "gG",
        long_flags: &["login", "preserve-environment", "pty"],
        acts: true,
        form: Form::Text('c'),
        ..ROW
    },
    Row {
        name: "runuser",
        flags: "lmpP-",
        values: "gGu",
        long_flags: &["login", "preserve-environment", "pty"],
        long_values: &["user"],
        acts: true,
        form: Form::WordsOrText('c'),
        ..ROW
    },
    Row {
        name: "pkexec",
        long_flags: &["disable-internal-agent", "keep-cwd"],
        long_values: &["user"],
        acts: true,
        ..ROW
    },
    Row {
        name: "chroot",
        long_flags: &["skip-chdir"],
        long_values: &["groups", "userspec"],
        operands: 1,
        acts: true,
        ..ROW
    },
    Row {
        name: "unshare",
        flags: "cCfimnpruTU",
        long_flags: &[
            "cgroup",
            "fork",
            "ipc",
            "map-current-user",
            "map-root-user",
            "mount",
            "net",
            "pid",
            "time",
            "user",
            "uts",
        ],
        acts: true,
        ..ROW
    },
    Row {
        name: "nsenter",
        flags: "aCFimnpTUu",
        values: "tSG",
        long_flags: &[
            "all", "cgroup", "ipc", "mount", "net", "pid", "time", "user", "uts",
        ],
        long_values: &["target"],
        acts: true,
        ..ROW
    },
    Row {
        name: "strace",
        flags: "cCdfFhiknqrtTvVwxyYzZ",
        values: "abeIOpPsSuX",
        acts: true,
        ..ROW
    },
    Row {
        name: "ltrace",
        flags: "bcCfiLrStT",
        values: "aAeEnsx",
        acts: true,
        ..ROW
    },
    Row {
        name: "gdb",
        flags: "nq",
        long_flags: &["args", "batch", "nx", "quiet"],
        acts: true,
        ..ROW
    },
    Row {
        name: "script",
        flags: "aefq",
        long_flags: &["append", "flush", "quiet", "return"],
        acts: true,
        form: Form::Text('c'),
        ..ROW
    },
    Row {
        name: "flock",
        flags: "eFnosux",
        values: "Ew",
        long_flags: &[
            "close",
            "exclusive",
            "no-fork",
            "nonblock",
            "shared",
            "verbose",
        ],
        long_values: &["conflict-exit-code", "timeout", "wait"],
        operands: 1,
        acts: true,
        form: Form::WordsOrText('c'),
        ..ROW
    },
    // Not in everybody's list, and as transparent as the first ones.
    Row {
        name: "catchsegv",
        ..ROW
    },
    Row {
        name: "chronic",
        ..ROW
    },
    Row {
        name: "caffeinate",
        flags: "dimsu",
        ..ROW
    },
    Row {
        name: "dbus-run-session",
        ..ROW
    },
    Row {
        name: "eatmydata",
        ..ROW
    },
    Row {
        name: "fakeroot",
        ..ROW
    },
    Row {
        name: "linux32",
        ..ROW
    },
    Row {
        name: "linux64",
        ..ROW
    },
    Row {
        name: "nocorrect",
        ..ROW
    },
    Row {
        name: "noglob",
        ..ROW
    },
    Row {
        name: "proxychains",
        flags: "q",
        ..ROW
    },
    Row {
        name: "repeat",
        operands: 1,
        ..ROW
    },
    Row {
        name: "setarch",
        operands: 1,
        ..ROW
    },
    Row {
        name: "setpriv",
        acts: true,
        ..ROW
    },
    Row {
        name: "systemd-run",
        flags: "PqtS",
        long_flags: &["collect", "pipe", "pty", "quiet", "scope", "user", "wait"],
        acts: true,
        ..ROW
    },
    Row {
        name: "torsocks",
        ..ROW
    },
    Row {
        name: "unbuffer",
        flags: "p",
        ..ROW
    },
    Row {
        name: "xvfb-run",
        flags: "a",
        ..ROW
    },
    Row { name: "-", ..ROW },
];
