//! Changing a program as findings about it suggest.

use std::collections::BTreeSet;

use harn_check::modules::SourceFile;
use harn_check::{CheckOptions, Imported, Phase, analyse};
use harn_syntax::{Diagnostic, Edit, Fix};

/// The text of a program with the fixes that diagnostics offer. Those that touch an earlier
/// one wait for another time, and those after which the program would get less far are left
/// out: a finding may be right and its fix bring to light what is wrong elsewhere. `None` if
/// nothing is left to be done.
pub(super) fn fixed(
    file: &SourceFile,
    diagnostics: &[Diagnostic],
    imported: &Imported,
) -> Option<String> {
    let fixes = diagnostics.iter().filter_map(|one| one.fix.as_ref());
    let fixes = apart(fixes);
    let before = phase(file, imported);
    let is_fine = |fixes: &[&Fix]| {
        let text = applied(&file.text, fixes);
        phase(&SourceFile::of_text(&text), imported) >= before
    };
    let text = applied(&file.text, &harmless(&fixes, &is_fine));
    (*text != *file.text).then_some(text)
}

/// How far a program gets.
fn phase(file: &SourceFile, imported: &Imported) -> Phase {
    analyse(file, imported, CheckOptions::default()).phase
}

/// Those that do not touch one before them.
fn apart<'a>(fixes: impl Iterator<Item = &'a Fix>) -> Vec<&'a Fix> {
    // Where edits begin and end. They do not overlap, so the last one to begin is also the
    // last one to end.
    let mut taken: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut chosen = Vec::new();
    for fix in fixes {
        let touches = |edit: &Edit| {
            let before = taken.range(..=(edit.span.end, u32::MAX)).next_back();
            before.is_some_and(|(_, end)| edit.span.start <= *end)
        };
        if !fix.edits.iter().any(touches) {
            let places = fix
                .edits
                .iter()
                .map(|edit| (edit.span.start, edit.span.end));
            taken.extend(places);
            chosen.push(fix);
        }
    }
    chosen
}

/// As many of the fixes as do no harm together. Mostly all of them do none, which is seen at
/// once; one that does is found by halving.
fn harmless<'a>(fixes: &[&'a Fix], is_fine: &impl Fn(&[&'a Fix]) -> bool) -> Vec<&'a Fix> {
    if is_fine(fixes) {
        return fixes.to_vec();
    }
    if fixes.len() < 2 {
        return Vec::new();
    }
    let (left, right) = fixes.split_at(fixes.len() / 2);
    let left = harmless(left, is_fine);
    let both = [left.clone(), harmless(right, is_fine)].concat();
    match is_fine(&both) {
        true => both,
        false => left,
    }
}

/// The text with all edits of fixes that do not touch each other.
fn applied(text: &str, fixes: &[&Fix]) -> String {
    let mut edits: Vec<&Edit> = fixes.iter().flat_map(|fix| &fix.edits).collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        let replaced = edit.span.range();
        out += &text[copied..replaced.start];
        out += &edit.text;
        copied = replaced.end;
    }
    out += &text[copied..];
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_syntax::{Code, Span};

    /// A finding that offers to replace the first place of each text by the other.
    fn offer(text: &str, edits: &[(&str, &str)]) -> Diagnostic {
        let edits = edits.iter().map(|(old, new)| {
            let start = text.find(old).expect("it is in there");
            Edit {
                span: Span::new(start, start + old.len()),
                text: (*new).to_owned(),
            }
        });
        let nowhere = Span::new(0, 0);
        Diagnostic::warning(Code("x"), nowhere, "x").with_fix("x", edits.collect())
    }

    #[track_caller]
    fn check(text: &str, fixes: &[&[(&str, &str)]], expected: Option<&str>) {
        let file = SourceFile::of_text(text);
        let offers: Vec<_> = fixes.iter().map(|edits| offer(text, edits)).collect();
        let found = fixed(&file, &offers, &Imported::default());
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn fixes_are_made_together_whatever_their_order() {
        let text = "let one = 1\nlet two = 2\n";
        check(
            text,
            &[&[("2", "22")], &[("one", "eins"), ("1", "11")]],
            Some("let eins = 11\nlet two = 22\n"),
        );
        check(text, &[], None);
        check(text, &[&[("one", "one")]], None);
    }

    #[test]
    fn a_fix_that_touches_another_waits_with_all_its_edits() {
        let text = "let one = 1\nlet two = 2\n";
        check(
            text,
            &[&[("one = 1", "eins = 1")], &[("1", "11"), ("two", "zwei")]],
            Some("let eins = 1\nlet two = 2\n"),
        );
    }

    #[test]
    fn a_fix_that_keeps_a_program_from_running_is_left_out() {
        let text = "let a: int = 1\nlet b: int = 2\nlet c: int = 3\n";
        check(
            text,
            &[
                &[("1", "11")],
                &[("2", "\"x\"")],
                &[("3", "(")],
                &[("c", "d")],
            ],
            Some("let a: int = 11\nlet b: int = 2\nlet d: int = 3\n"),
        );
        check(text, &[&[("2", "nil")]], None);
    }
}
