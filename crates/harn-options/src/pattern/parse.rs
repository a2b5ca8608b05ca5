//! Reads the text of a pattern.

use std::iter::Peekable;
use std::str::Chars;

use super::{Letters, Part};

/// How many patterns one with braces may stand for.
const VARIANTS_MAX: usize = 256;
/// How many parts those may have together.
const PARTS_MAX: usize = 65_536;
/// How deep braces may stand in braces.
const DEPTH_MAX: usize = 16;

/// What has a meaning, and needs a backslash before it to stand for itself.
const SPECIAL: &str = "*?[]{},!^-\\";

type Variants = Vec<Vec<Part>>;

/// The patterns without braces that a pattern stands for.
///
/// # Errors
/// What is wrong with it.
pub(super) fn variants(pattern: &str) -> Result<Variants, String> {
    let mut reader = Reader {
        letters: pattern.chars().peekable(),
    };
    reader.sequence(0)
}

struct Reader<'a> {
    letters: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    /// Reads up to the end, or within braces up to the `,` or `}` that ends a choice, which is
    /// left to the caller.
    ///
    /// A `{` before a `"` or a `}` is the beginning of JSON, as calls without texts are matched
    /// on. Up to its `}` brackets, braces and commas mean themselves.
    fn sequence(&mut self, depth: usize) -> Result<Variants, String> {
        let mut variants = vec![Vec::new()];
        let mut json_depth = 0_usize;
        while let Some(letter) = self.letters.peek().copied() {
            if depth > 0 && json_depth == 0 && matches!(letter, ',' | '}') {
                return Ok(variants);
            }
            self.letters.next();
            let part = match letter {
                '*' => Part::AnyText,
                '?' => Part::AnyLetter,
                '\\' => Part::Letter(self.escaped()?),
                '{' if json_depth > 0 || self.is_json() => {
                    json_depth += 1;
                    Part::Letter(letter)
                }
                '{' => {
                    let choices = self.choices(depth)?;
                    variants = multiplied(&variants, &choices)?;
                    continue;
                }
                '}' if json_depth == 0 => return Err("there is no '{' before a '}'".to_owned()),
                '}' => {
                    json_depth -= 1;
                    Part::Letter(letter)
                }
                '[' if json_depth == 0 => Part::OneOf(self.class()?),
                plain => Part::Letter(plain),
            };
            append(&mut variants, &part)?;
        }
        match depth {
            0 => Ok(variants),
            _ => Err("a '{' is not closed".to_owned()),
        }
    }

    /// The choices of a brace, up to and with its end.
    fn choices(&mut self, depth: usize) -> Result<Variants, String> {
        if depth == DEPTH_MAX {
            return Err(format!("more than {DEPTH_MAX} braces stand in one another"));
        }
        let mut choices = Vec::new();
        loop {
            choices.extend(self.sequence(depth + 1)?);
            check_size(&choices)?;
            if self.letters.next() == Some('}') {
                return Ok(choices);
            }
        }
    }

    fn is_json(&mut self) -> bool {
        matches!(self.letters.peek(), Some('"' | '}'))
    }

    /// The letter after a backslash. One that means nothing special would be a slip, or a
    /// backslash that was meant as one.
    fn escaped(&mut self) -> Result<char, String> {
        match self.letters.next() {
            Some(letter) if SPECIAL.contains(letter) => Ok(letter),
            Some(letter) => Err(format!(
                "'\\{letter}' means nothing; a backslash is written '\\\\'"
            )),
            None => Err("it ends with a backslash, which is written '\\\\'".to_owned()),
        }
    }

    /// The letters of a `[`, up to and with its `]`.
    fn class(&mut self) -> Result<Letters, String> {
        let is_negated = matches!(self.letters.peek(), Some('!' | '^'));
        if is_negated {
            self.letters.next();
        }
        let mut ranges = Vec::new();
        loop {
            let from = match self.class_letter()? {
                // A `]` in front is one of the letters.
                ClassLetter::End if ranges.is_empty() => ']',
                ClassLetter::End => return Ok(Letters { is_negated, ranges }),
                ClassLetter::Letter(letter) => letter,
            };
            let to = self.range_end()?.unwrap_or(from);
            if to < from {
                return Err(format!("the range {from}-{to} runs backwards"));
            }
            ranges.push((from, to));
        }
    }

    fn class_letter(&mut self) -> Result<ClassLetter, String> {
        match self.letters.next() {
            None => Err("a '[' is not closed".to_owned()),
            Some(']') => Ok(ClassLetter::End),
            Some('\\') => self.escaped().map(ClassLetter::Letter),
            Some(letter) => Ok(ClassLetter::Letter(letter)),
        }
    }

    /// The end of a range, if a `-` follows that is not the last letter.
    fn range_end(&mut self) -> Result<Option<char>, String> {
        let mut ahead = self.letters.clone();
        if ahead.next() != Some('-') || ahead.next() == Some(']') {
            return Ok(None);
        }
        self.letters.next();
        match self.class_letter()? {
            ClassLetter::Letter(letter) => Ok(Some(letter)),
            ClassLetter::End => Ok(None),
        }
    }
}

enum ClassLetter {
    Letter(char),
    End,
}

fn append(variants: &mut Variants, part: &Part) -> Result<(), String> {
    for parts in variants.iter_mut() {
        // Two stars say no more than one.
        if *part != Part::AnyText || parts.last() != Some(part) {
            parts.push(part.clone());
        }
    }
    check_size(variants)
}

/// Each beginning with each choice.
fn multiplied(beginnings: &Variants, choices: &Variants) -> Result<Variants, String> {
    if beginnings.len() * choices.len() > VARIANTS_MAX {
        return Err(too_many());
    }
    let all = beginnings.iter().flat_map(|beginning| {
        let joined = |choice: &Vec<Part>| {
            let mut parts = beginning.clone();
            let is_doubled =
                parts.last() == Some(&Part::AnyText) && choice.first() == Some(&Part::AnyText);
            parts.extend_from_slice(&choice[usize::from(is_doubled)..]);
            parts
        };
        choices.iter().map(joined)
    });
    let all = all.collect();
    check_size(&all)?;
    Ok(all)
}

fn check_size(variants: &Variants) -> Result<(), String> {
    let parts: usize = variants.iter().map(Vec::len).sum();
    match variants.len() > VARIANTS_MAX || parts > PARTS_MAX {
        true => Err(too_many()),
        false => Ok(()),
    }
}

fn too_many() -> String {
    format!("it is too long, or its braces stand for more than {VARIANTS_MAX} patterns")
}
