//! Reads licence expressions and decides whether we accept them.
//!
//! ```text
//! either  := both  ( ("OR" | "/") both )*
//! both    := one   ( "AND" one )*
//! one     := "(" either ")" | name ( "WITH" name )?
//! ```
//!
//! An expression is accepted when we can choose our way through its `OR`s so
//! that every licence we are then bound by is on the list.

/// Whether the list of accepted licences satisfies the expression. An expression
/// we cannot read is not satisfied: a person must look at it.
pub(super) fn is_satisfied(expression: &str, allowed: &[String]) -> bool {
    let words = words(expression);
    let mut reader = Reader {
        words: &words,
        allowed,
    };
    reader.either() == Some(true) && reader.words.is_empty()
}

/// What is still to be read. Each method returns whether its part is satisfied,
/// or `None` if it makes no sense.
struct Reader<'a> {
    words: &'a [String],
    allowed: &'a [String],
}

impl Reader<'_> {
    fn either(&mut self) -> Option<bool> {
        let mut satisfied = self.both()?;
        while self.take("OR") || self.take("/") {
            satisfied |= self.both()?;
        }
        Some(satisfied)
    }

    fn both(&mut self) -> Option<bool> {
        let mut satisfied = self.one()?;
        while self.take("AND") {
            satisfied &= self.one()?;
        }
        Some(satisfied)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let satisfied = self.either()?;
            return self.take(")").then_some(satisfied);
        }
        let mut licence = self.name()?;
        if self.take("WITH") {
            licence = format!("{licence} WITH {}", self.name()?);
        }
        Some(self.allowed.contains(&licence))
    }

    fn name(&mut self) -> Option<String> {
        let (name, rest) = self.words.split_first()?;
        let is_name = !matches!(name.as_str(), "OR" | "AND" | "WITH" | "/" | "(" | ")");
        self.words = rest;
        is_name.then(|| name.clone())
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

fn words(expression: &str) -> Vec<String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " / ");
    spaced.split_whitespace().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: bool) {
        let allowed = [
            "MIT",
            "Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
            "Unicode-3.0",
        ]
        .map(ToString::to_string);
        assert_eq!(is_satisfied(expression, &allowed), expected, "{expression}");
    }

    #[test]
    fn one_accepted_choice_is_enough() {
        check("MIT", true);
        check("MIT OR GPL-3.0", true);
        check("GPL-3.0 OR MIT", true);
        check("MIT/Apache-2.0", true);
        check("GPL-3.0", false);
    }

    #[test]
    fn every_part_of_a_whole_must_be_accepted() {
        check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
        check("(MIT OR Apache-2.0) AND NCSA", false);
        check("GPL-3.0 OR MIT AND NCSA", false);
        check("MIT OR GPL-3.0 AND NCSA", true);
    }

    #[test]
    fn an_exception_is_part_of_the_name() {
        check("Apache-2.0 WITH LLVM-exception", true);
        check("MIT WITH LLVM-exception", false);
        check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
    }

    #[test]
    fn what_makes_no_sense_is_not_accepted() {
        for broken in [
            "", "MIT OR", "(MIT", "MIT)", "MIT MIT", "OR MIT", "MIT WITH",
        ] {
            check(broken, false);
        }
    }
}
