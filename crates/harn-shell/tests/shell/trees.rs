//! A generator of commands.

/// How many cases a property is tried with: `HARN_SHELL_CASES` times as many.
#[expect(clippy::disallowed_methods, reason = "a test is asked from outside")]
pub(crate) fn cases(usual: u64) -> u64 {
    let factor = std::env::var("HARN_SHELL_CASES").ok();
    let factor: u64 = factor.and_then(|text| text.parse().ok()).unwrap_or(1);
    usual * factor
}

/// Chance from a seed: what fails can be tried again.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    pub(crate) fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// A command without wrappers: allowed, asked about or denied by the rules of the corpus.
pub(crate) fn leaf(chance: &mut Chance) -> String {
    let program = chance.one(&[
        "ls",
        "git status",
        "git push",
        "cat a",
        "touch x",
        "rm -rf x",
        "make",
        "echo 'a b'",
        "true",
        "cargo test",
        "LANG=C ls",
        "A=1 ls",
        "ls >out",
        "ls >/etc/x",
        "ls $x",
        "git $x",
    ]);
    program.to_owned()
}

/// The same command, spelled in another way or run by another program.
pub(crate) fn wrapped(chance: &mut Chance, command: &str) -> String {
    let quoted = format!("'{}'", command.replace('\'', "'\\''"));
    let is_simple = !command.contains([';', '|', '&', '\n', '(', '{']);
    match chance.below(if is_simple { 17 } else { 10 }) {
        0 => format!("({command})"),
        1 => format!("{{ {command}; }}"),
        // The blank keeps a subshell from looking like arithmetic.
        2 => format!("echo \"$( {command})\""),
        3 => format!("sh -c {quoted}"),
        4 => format!("bash -ec {quoted}"),
        5 => format!("if true; then {command}; fi"),
        6 => format!("for i in a b; do {command}; done"),
        7 => format!("! {{ {command}; }}"),
        8 => format!(" \t{command} # x\n"),
        9 => format!("f() {{ {command}; }}; f"),
        10 => format!("env {command}"),
        11 => format!("nice -n 1 {command}"),
        12 => format!("timeout 5 {command}"),
        13 => format!("nohup {command}"),
        14 => format!("time {command}"),
        // A redirection would be one of `find`.
        15 if !command.contains('>') => format!("find . -exec {command} \\;"),
        _ => format!("\\\n{command}"),
    }
}

/// Two commands as one.
pub(crate) fn joined(chance: &mut Chance, first: &str, second: &str) -> String {
    let operator = chance.one(&[
        "; ", " && ", " || ", " | ", " & ", "\n", ";\n", " |\n", " &&\n",
    ]);
    format!("{first}{operator}{second}")
}

/// A command of several levels.
pub(crate) fn tree(chance: &mut Chance, depth: usize) -> String {
    match (depth, chance.below(3)) {
        (0, _) | (_, 0) => leaf(chance),
        (_, 1) => {
            let inner = tree(chance, depth - 1);
            wrapped(chance, &inner)
        }
        _ => {
            let (first, second) = (tree(chance, depth - 1), tree(chance, depth - 1));
            joined(chance, &first, &second)
        }
    }
}

/// Words in all kinds of quotes.
pub(crate) fn quoted_words(seed: u64) -> String {
    let mut chance = Chance::new(seed);
    let mut text = String::new();
    for _ in 0..1 + chance.below(8) {
        let piece = chance.one(&[
            "a", "'b c'", "\"d e\"", "\\ ", "\\'", "\"'\"", "'\"'", "\"\\\"\"", "\"\\x\"", "\\\\",
            " ", " ", "''", "\"\"", "\\\n", "'\\'", "\"\\\\\"", "é", "-", "=", "#", "{}", "}", "]",
            "!", "%", "@", ",", "\"\\$\"", "'$x'", "'`'", "\"\\`\"", "'\n'", "\"\n\"", ":", "^",
            "+", ".",
        ]);
        text.push_str(piece);
    }
    text
}
