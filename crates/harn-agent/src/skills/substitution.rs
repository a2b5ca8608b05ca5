//! What is put into the body of a skill where it begins with `$`.

use std::borrow::Cow;

/// What is known when a body is rendered.
#[derive(Clone, Copy, Default)]
pub struct Substitution<'a> {
    /// What `$1`, `$2` … and `$ARGUMENTS` stand for.
    pub arguments: &'a [String],
    /// What `${HARN_SKILL_DIR}` stands for: where the skill's file is.
    pub folder: Option<&'a str>,
    /// What `${HARN_SESSION_ID}` stands for.
    pub session_id: Option<&'a str>,
}

impl<'a> Substitution<'a> {
    /// The body with everything put in. What is not known stays as it is. `variable` is asked
    /// for all other names in braces; the caller answers for those that the operator has lent
    /// to skills.
    pub fn apply(self, body: &str, variable: &mut dyn FnMut(&str) -> Option<String>) -> String {
        let joined = self.arguments.join(" ");
        self.pieces(body, &joined, variable).concat()
    }

    /// The same in pieces, for those who want to know how much it will be before it is one
    /// text. `joined` is what `$ARGUMENTS` stands for.
    pub fn pieces<'b>(
        self,
        body: &'b str,
        joined: &'b str,
        variable: &mut dyn FnMut(&str) -> Option<String>,
    ) -> Vec<Cow<'b, str>>
    where
        'a: 'b,
    {
        let mut pieces = Vec::new();
        let mut rest = body;
        while let Some(at) = rest.find('$') {
            let (before, mark) = rest.split_at(at);
            let (word, length) = Word::of(mark);
            let known = match word {
                Word::Dollar => Some(Cow::from("$")),
                Word::Plain("ARGUMENTS") => Some(Cow::from(joined)),
                Word::Plain(digits) => self.argument(digits).map(Cow::from),
                Word::Braced(name) => self.named(name, variable).map(Cow::from),
            };
            pieces.push(before.into());
            pieces.push(known.unwrap_or(mark[..length].into()));
            rest = &mark[length..];
        }
        pieces.push(rest.into());
        pieces
    }

    /// The argument of a number; the first one is `1`.
    fn argument(self, word: &str) -> Option<&'a str> {
        if !word.bytes().all(|one| one.is_ascii_digit()) {
            return None;
        }
        let number: usize = word.parse().ok()?;
        self.arguments
            .get(number.checked_sub(1)?)
            .map(String::as_str)
    }

    fn named(self, name: &str, variable: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
        match name {
            "HARN_SKILL_DIR" => self.folder.map(str::to_owned),
            "HARN_SESSION_ID" => self.session_id.map(str::to_owned),
            name => variable(name),
        }
    }
}

/// What follows a `$`.
enum Word<'a> {
    Dollar,
    Plain(&'a str),
    Braced(&'a str),
}

impl<'a> Word<'a> {
    /// What a mark begins with, and how many bytes it has with its `$`.
    fn of(mark: &'a str) -> (Self, usize) {
        let after = &mark[1..];
        if after.starts_with('$') {
            return (Self::Dollar, 2);
        }
        if let Some(inner) = after.strip_prefix('{') {
            let name = word(inner);
            if inner[name.len()..].starts_with('}') {
                return (Self::Braced(name), name.len() + "${}".len());
            }
        }
        let plain = word(after);
        (Self::Plain(plain), plain.len() + 1)
    }
}

/// The letters, digits and underscores that a text begins with.
fn word(text: &str) -> &str {
    let is_other = |one: char| !one.is_ascii_alphanumeric() && one != '_';
    &text[..text.find(is_other).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let arguments = ["one", "two words"].map(str::to_owned);
        let known = Substitution {
            arguments: &arguments,
            folder: Some("/skills/a"),
            session_id: None,
        };
        let mut variable = |name: &str| (name == "HARN_TEAM").then(|| "blue".to_owned());
        assert_eq!(known.apply(body, &mut variable), expected);
    }

    #[test]
    fn marks_are_replaced() {
        check("do $1 then $2", "do one then two words");
        check("all: $ARGUMENTS.", "all: one two words.");
        check("$$1 is $1", "$1 is one");
        check("${HARN_TEAM} in ${HARN_SKILL_DIR}!", "blue in /skills/a!");
    }

    #[test]
    fn what_nobody_knows_stays() {
        for body in [
            "",
            "$",
            "a$",
            "$x",
            "$0",
            "$1st",
            "$3",
            "$99999999999999999999999",
            "${HARN_OTHER}",
            "${HARN_SESSION_ID}",
            "${HOME}",
            "${}",
            "${a",
            "${a\n}",
            "$ARGUMENTS_2",
            "{$}",
            "ä$ö",
        ] {
            check(body, body);
        }
        check("$10", "$10");
        check("$ä$1", "$äone");
    }
}
