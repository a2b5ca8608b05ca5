//! What can be asked of the chat itself: lines that start with a slash.

use crate::suggestion::closest;

/// What can be asked for, with what the help says.
pub(super) const COMMANDS: [(&str, &str); 11] = [
    ("/help", "what can be typed here"),
    ("/new", "a new session"),
    ("/sessions", "earlier sessions, to go on with one"),
    ("/model [NAME]", "the model that answers, or another one"),
    ("/tools", "what the agent can do"),
    (
        "/compact",
        "a shorter conversation: a summary of what was said",
    ),
    ("/cost", "what the session has taken so far"),
    ("/export [FILE]", "the conversation in Markdown"),
    ("/copy", "the last answer, copied to the clipboard"),
    ("/thoughts", "the thoughts of the model, shown or folded"),
    ("/quit", "leave"),
];

/// Something asked of the chat itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Help,
    New,
    Sessions,
    Model(Option<String>),
    Tools,
    Compact,
    Cost,
    Export(Option<String>),
    Copy,
    Thoughts,
    Quit,
    /// Nobody knows it; what to say.
    Unknown(String),
}

/// Reads a line; `None` if it is meant for the agent. A path is: only the name of a command
/// has no second slash.
pub(super) fn read(line: &str) -> Option<Slash> {
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let bare = name.strip_prefix('/')?;
    if bare.contains('/') || line.contains('\n') {
        return None;
    }
    let argument = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    let takes_none = |slash: Slash| match &argument {
        None => slash,
        Some(_) => Slash::Unknown(format!("{name} takes nothing after it")),
    };
    Some(match bare {
        "help" | "?" => takes_none(Slash::Help),
        "new" => takes_none(Slash::New),
        "sessions" => takes_none(Slash::Sessions),
        "model" => Slash::Model(argument),
        "tools" => takes_none(Slash::Tools),
        "compact" => takes_none(Slash::Compact),
        "cost" => takes_none(Slash::Cost),
        "export" => Slash::Export(argument),
        "copy" => takes_none(Slash::Copy),
        "thoughts" => takes_none(Slash::Thoughts),
        "quit" | "exit" => takes_none(Slash::Quit),
        _ => Slash::Unknown(unknown(name)),
    })
}

fn unknown(name: &str) -> String {
    match closest(name, names()) {
        Some(meant) => format!("{name} is not known; did you mean {meant}?"),
        None => format!("{name} is not known; /help tells what is"),
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    let usages = COMMANDS.iter();
    usages.map(|(usage, _)| usage.split(' ').next().unwrap_or(usage))
}

/// The page of `/help`.
pub(super) fn help() -> String {
    let commands = COMMANDS.iter();
    let commands = commands.map(|(usage, what)| format!("{usage:<15} {what}"));
    let keys = KEYS.iter().map(|(key, what)| format!("{key:<15} {what}"));
    let pages = [
        commands.collect::<Vec<_>>().join("\n"),
        keys.collect::<Vec<_>>().join("\n"),
    ];
    pages.join("\n\n")
}

const KEYS: [(&str, &str); 9] = [
    ("Enter", "send; while the agent works, it reads it next"),
    ("Alt-Enter", "a new line; Ctrl-J does the same"),
    ("Ctrl-C", "stop the agent; on an empty prompt, leave"),
    ("PgUp, PgDn", "scroll; End goes back to the end"),
    ("Up, Down", "lines, then what was sent before"),
    ("Ctrl-T", "thoughts, shown or folded"),
    ("Ctrl-O", "results of tools, shown or folded"),
    ("Ctrl-Y", "copy the last answer"),
    ("Tab", "to a question and back to your text"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_prompts() {
        assert_eq!(read(" /help "), Some(Slash::Help));
        assert_eq!(read("/model"), Some(Slash::Model(None)));
        assert_eq!(
            read("/model  gpt-4o"),
            Some(Slash::Model(Some("gpt-4o".to_owned())))
        );
        assert_eq!(read("hello /help"), None);
        assert_eq!(read("/etc/passwd is what?"), None);
        assert_eq!(read("/new\nline"), None);
    }

    #[test]
    fn what_is_not_known_is_said() {
        let unknown = |line: &str| match read(line) {
            Some(Slash::Unknown(text)) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(unknown("/halp"), "/halp is not known; did you mean /help?");
        assert_eq!(
            unknown("/xyzzy"),
            "/xyzzy is not known; /help tells what is"
        );
        assert_eq!(unknown("/new one"), "/new takes nothing after it");
    }

    #[test]
    fn every_command_of_the_help_is_known() {
        for name in names() {
            let read = read(name).expect("it starts with a slash");
            assert!(!matches!(read, Slash::Unknown(_)), "{name}");
        }
        assert!(help().lines().all(|line| line.chars().count() <= 78));
    }
}
