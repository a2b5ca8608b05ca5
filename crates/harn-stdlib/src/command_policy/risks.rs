//! What a command may do, as far as its words tell.

use std::collections::BTreeSet;

use regex::Regex;

/// Labels of risks, sorted.
pub(super) type Labels = BTreeSet<&'static str>;

/// Those that are not let through even with approval.
const DENIED: [&str; 4] = [
    "destructive",
    "curl_pipe_shell",
    "credential_file_read",
    "network_exfil",
];

/// What a command wants to do.
pub(super) struct Command<'a> {
    /// The command on one line.
    pub(super) line: &'a str,
    pub(super) folder: Option<&'a str>,
    pub(super) workspace_roots: &'a [String],
}

/// The risks of a command.
pub(super) fn risks(patterns: &Patterns, command: &Command<'_>) -> Labels {
    let line = command.line.to_lowercase();
    let words = patterns.words(&line);
    let mut labels = Labels::new();
    let mut add = |label, is_so: bool| {
        if is_so {
            labels.insert(label);
        }
    };
    let has_word = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&name_of(word)));
    add("destructive", is_destructive(&line, &words));
    add("write_intent", writes(&line, &words));
    add("curl_pipe_shell", patterns.piped.is_match(&line));
    add("credential_file_read", reads_credentials(&line, &words));
    let senders = ["curl", "wget", "scp", "rsync", "nc", "ncat"];
    add("network_exfil", has_word(&senders));
    add("sudo", has_word(&["sudo"]));
    add("package_install", patterns.installed.is_match(&line));
    add("git_force_push", patterns.forced.is_match(&line));
    add("process_kill", has_word(&["kill", "pkill", "killall"]));
    add(
        "outside_workspace",
        is_outside(command, &patterns.words(command.line)),
    );
    labels
}

/// What to do about risks.
pub(super) fn action(labels: &Labels) -> &'static str {
    match labels {
        labels if labels.is_empty() => "allow",
        labels if DENIED.iter().any(|label| labels.contains(label)) => "deny",
        _ => "require_approval",
    }
}

/// How sure one is of that.
pub(super) fn confidence(labels: &Labels) -> f64 {
    if labels.is_empty() { 0.45 } else { 0.86 }
}

/// What risks are told by, compiled once in a run.
pub(super) struct Patterns {
    /// Something from the network goes into a shell.
    piped: Regex,
    installed: Regex,
    forced: Regex,
    word: Regex,
}

impl Default for Patterns {
    fn default() -> Self {
        let pattern =
            |text: &str| Regex::new(text).expect("the patterns of risks are checked by a test");
        Self {
            piped: pattern(r"\b(?:curl|wget)\b[^;&]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|da|k)?sh\b"),
            installed: pattern(concat!(
                r"\b(?:(?:npm|pnpm|yarn|bun)\s+(?:install|i|add|ci)",
                r"|(?:pip|pip3|pipx|gem|brew|apt|apt-get|dnf|yum|cargo|go|conda)\s+",
                r"(?:-\S+\s+)*install",
                r"|uv\s+(?:add|pip\s+install)|poetry\s+add|apk\s+add|pacman\s+-s)\b",
            )),
            forced: pattern(r"\bgit\s+(?:\S+\s+)*push\b.*\s(?:--force\S*|-[a-z]*f[a-z]*)(?:\s|$)"),
            word: pattern(r#"[^\s;|&()<>"'`]+"#),
        }
    }
}

impl Patterns {
    /// The words of a line, without what joins commands.
    fn words<'a>(&self, line: &'a str) -> Vec<&'a str> {
        let words = self.word.find_iter(line);
        words.map(|word| word.as_str()).collect()
    }
}

/// The name of a program, whichever folder it is in.
fn name_of(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_destructive(line: &str, words: &[&str]) -> bool {
    let parts = [
        "dd if=",
        ":(){",
        ": (){",
        "> /dev/sd",
        ">/dev/sd",
        "of=/dev/",
    ];
    let makes_filesystem = words.iter().any(|word| name_of(word).starts_with("mkfs"));
    makes_filesystem || removes_trees(words) || parts.iter().any(|part| line.contains(part))
}

/// Whether `rm` is called with both of its dangerous flags.
fn removes_trees(words: &[&str]) -> bool {
    let calls = words.iter().enumerate();
    let calls = calls.filter(|(_, word)| name_of(word) == "rm");
    let mut calls = calls.map(|(at, _)| &words[at + 1..]);
    calls.any(|after| {
        let flags = after.iter().take_while(|word| word.starts_with('-'));
        let (mut recursive, mut force) = (false, false);
        for flag in flags {
            let is_long = flag.starts_with("--");
            recursive |= *flag == "--recursive" || (!is_long && flag.contains('r'));
            force |= *flag == "--force" || (!is_long && flag.contains('f'));
        }
        recursive && force
    })
}

fn writes(line: &str, words: &[&str]) -> bool {
    let parts = [" >", ">>", "sed -i", "perl -pi", "sed --in-place"];
    let writers = ["tee", "truncate"];
    parts.iter().any(|part| line.contains(part))
        || words.iter().any(|word| writers.contains(&name_of(word)))
}

fn reads_credentials(line: &str, words: &[&str]) -> bool {
    let readers = ["cat", "less", "head", "tail", "grep"];
    let kept = [
        ".env",
        "id_rsa",
        "id_ed25519",
        ".aws/credentials",
        ".npmrc",
        ".netrc",
        "credentials",
        "secret",
        "token",
        "api_key",
        "apikey",
    ];
    let reads = words.iter().any(|word| readers.contains(&name_of(word)));
    reads && kept.iter().any(|name| line.contains(name))
}

/// Whether a command works somewhere else. Without roots there is no somewhere else.
fn is_outside(command: &Command<'_>, words: &[&str]) -> bool {
    if command.workspace_roots.is_empty() {
        return false;
    }
    let is_inside = |path: &str| {
        let mut roots = command.workspace_roots.iter();
        roots.any(|root| {
            let root = root.trim_end_matches('/');
            let rest = path.strip_prefix(root);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    // The program itself may be anywhere.
    let named = words.iter().copied().skip(1).chain(command.folder);
    let mut paths = named.filter(|word| word.starts_with('/'));
    paths.any(|path| path.contains("/../") || path.ends_with("/..") || !is_inside(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let roots = ["/depot".to_owned()];
        let command = Command {
            line,
            folder: None,
            workspace_roots: &roots,
        };
        let found = risks(&Patterns::default(), &command);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{line}");
    }

    #[test]
    fn risks_are_told_by_words() {
        check("ls -la", &[]);
        check("git status", &[]);
        check("rm file", &[]);
        check("rm -rf build", &["destructive"]);
        check("rm -r -f /depot/x", &["destructive"]);
        check("mkfs.ext4 disk", &["destructive"]);
        check("dd if=a", &["destructive"]);
        check(":(){ :|:& };:", &["destructive"]);
        check("echo a > b", &["write_intent"]);
        check("sed -i s/a/b/ c", &["write_intent"]);
        check("make | tee log", &["write_intent"]);
        check("curl x | sh", &["curl_pipe_shell", "network_exfil"]);
        check("cat .env", &["credential_file_read"]);
        check("grep token a", &["credential_file_read"]);
        check("wget x", &["network_exfil"]);
        check("sudo ls", &["sudo"]);
        check("npm install x", &["package_install"]);
        check("pip install x", &["package_install"]);
        check("git push --force", &["git_force_push"]);
        check("git push -f origin", &["git_force_push"]);
        check("git push origin", &[]);
        check("kill -9 1", &["process_kill"]);
        check("ls /etc", &["outside_workspace"]);
        check("ls /depot/x", &[]);
        check("ls /depot_b", &["outside_workspace"]);
        check("ls /depot/../etc", &["outside_workspace"]);
    }

    #[test]
    fn some_risks_are_never_taken() {
        let labels = |names: &[&'static str]| names.iter().copied().collect::<Labels>();
        assert_eq!(action(&labels(&[])), "allow");
        assert_eq!(action(&labels(&["sudo"])), "require_approval");
        assert_eq!(action(&labels(&["network_exfil", "sudo"])), "deny");
    }
}
