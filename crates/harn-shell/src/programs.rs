//! What kinds of programs there are.

/// The name of a program without its folder.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether a program is a shell that reads what this parser reads.
pub fn reads_sh(program: &str) -> bool {
    is_shell(base_name(program))
}

pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

pub(crate) const SHELLS: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "lksh",
];

/// Programs that run what they are given in a language of theirs.
pub(crate) const INTERPRETERS: [&str; 52] = [
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "bun",
    "csh",
    "deno",
    "ed",
    "elixir",
    "emacs",
    "erl",
    "ex",
    "expect",
    "fish",
    "ghci",
    "groovy",
    "guile",
    "iex",
    "irb",
    "java",
    "jshell",
    "julia",
    "less",
    "lua",
    "luajit",
    "m4",
    "man",
    "more",
    "node",
    "nodejs",
    "nu",
    "nvim",
    "octave",
    "osascript",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "python",
    "racket",
    "Rscript",
    "R",
    "ruby",
    "runghc",
    "scala",
    "sed",
    "sqlite",
    "tclsh",
    "tcsh",
    "vi",
    "vim",
    "wish",
];

/// Programs that run commands elsewhere: on another machine, in a container.
pub(crate) const REMOTE: [&str; 16] = [
    "adb",
    "docker",
    "flatpak",
    "kubectl",
    "lxc",
    "lxc-attach",
    "machinectl",
    "mosh",
    "nerdctl",
    "oc",
    "podman",
    "rlogin",
    "rsh",
    "slogin",
    "ssh",
    "vagrant",
];

/// Whether a program runs files that it is given: a shell, an interpreter.
pub fn reads_programs(program: &str) -> bool {
    let name = base_name(program);
    let is_known = |name: &str| INTERPRETERS.contains(&name) || matches!(name, "." | "source");
    is_shell(name) || is_known(name) || is_known(without_version(name))
}

/// The name of an interpreter without its version: `python3.11` is `python`.
pub(crate) fn without_version(name: &str) -> &str {
    name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.')
}

/// Whether a word makes a program run other programs, or write where nothing tells. A rule that
/// ends in `*` does not stand for such words: they have to be named.
pub(crate) fn escapes(program: &str, index: usize, text: &str, before: &[&str]) -> bool {
    let starts = |heads: &[&str]| heads.iter().any(|head| text.starts_with(head));
    match program {
        "git" => {
            let is_first = before.iter().all(|word| word.starts_with('-'));
            starts(&[
                "--exec-path",
                "--config-env",
                "--upload-pack",
                "--receive-pack",
                "ext::",
            ]) || starts(&["--exec=", "--ext-diff", "--open-files-in-pager", "--extcmd"])
                || (is_first && (text.starts_with("-c") || text.starts_with("-C")))
        }
        "tar" => starts(&[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--rsh-command",
            "--info-script",
            "--new-volume-script",
            "-I",
            "-F",
        ]),
        "find" => starts(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        "rsync" => starts(&["-e", "--rsh", "--rsync-path"]),
        "sort" => starts(&["--compress-program"]),
        "go" => starts(&["-exec", "-toolexec", "--exec", "--toolexec"]),
        "cargo" => starts(&["--config"]),
        "make" | "gmake" => starts(&["--eval", "SHELL="]),
        "rg" => starts(&["--pre", "--hostname-bin"]),
        "env" => index == 0 && text.starts_with("-S"),
        _ => false,
    }
}

/// Whether [`escapes`] knows words of a program, so that one that nobody knows may be such a
/// word.
pub(crate) fn may_escape(program: &str) -> bool {
    matches!(
        program,
        "git" | "tar" | "find" | "rsync" | "sort" | "go" | "cargo" | "make" | "gmake" | "rg"
    )
}
