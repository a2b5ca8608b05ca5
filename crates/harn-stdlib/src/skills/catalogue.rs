//! The catalogue: the few lines about every skill that a model always sees.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Value, argument, thrown};

use crate::registries::{SKILLS, name, text_of};

const BUDGET: usize = 2000;

const HEADING: &str = "\
## Available skills

These skills are available. Call `load_skill({ name: \"<skill-id>\" })` to load the full body of \
a skill when it becomes relevant.

";

/// What the catalogue says about a skill.
struct Line {
    id: Text,
    description: Text,
    when: Text,
}

impl Line {
    fn of(entry: &Dict) -> Self {
        let short = text_of(entry, "short");
        Self {
            id: qualified_id(entry),
            description: match short.is_empty() {
                true => text_of(entry, "description"),
                false => short,
            },
            when: text_of(entry, "when_to_use"),
        }
    }

    fn text(&self) -> String {
        let mut out = format!("- `{}`", self.id);
        if !self.description.is_empty() {
            out.push_str(&format!(": {}", self.description));
        }
        if !self.when.is_empty() {
            out.push_str(&format!("\n  when: {}", self.when));
        }
        out
    }
}

fn qualified_id(entry: &Dict) -> Text {
    let (namespace, name) = (text_of(entry, "namespace"), name(entry));
    match namespace.is_empty() {
        true => name,
        false => Text::from(format!("{namespace}/{name}")),
    }
}

fn lines(registry: &Dict) -> Vec<Line> {
    let mut lines: Vec<Line> = SKILLS.entries(registry).map(Line::of).collect();
    lines.sort_by(|one, other| one.id.cmp(&other.id));
    lines
}

/// `skills_catalog_entries(registry)`
pub(super) fn skills_catalog_entries(
    _: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let registry = SKILLS.only("skills_catalog_entries", arguments)?;
    let entries = lines(&registry).into_iter().map(|line| {
        Value::dict([
            ("name", line.id.into()),
            ("description", line.description.into()),
            ("when_to_use", line.when.into()),
        ])
    });
    Ok(entries.collect())
}

/// `render_always_on_catalog(entries | registry, budget = 2000)`
pub(super) fn render_always_on_catalog(
    _: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let lines = match argument(arguments, 0) {
        Value::Dict(registry) if SKILLS.is_registry(registry) => lines(registry),
        Value::List(entries) => {
            let entries = entries.iter().filter_map(|entry| match entry {
                Value::Dict(entry) => Some(Line::of(entry)),
                _ => None,
            });
            entries.collect()
        }
        _ => {
            return thrown(
                "render_always_on_catalog: first argument must be \
                 a catalog entry list or skill registry",
            );
        }
    };
    let budget = match argument(arguments, 1) {
        Value::Nil => BUDGET,
        Value::Int(budget @ 1..) => usize::try_from(*budget).unwrap_or(usize::MAX),
        _ => {
            return thrown(
                "render_always_on_catalog: second argument must be a positive integer budget",
            );
        }
    };
    Ok(catalogue(&lines, budget).into())
}

/// As many skills as fit into so many bytes, and how many do not.
fn catalogue(lines: &[Line], budget: usize) -> String {
    if lines.is_empty() {
        return format!("{HEADING}(none)");
    }
    let mut out = String::from(HEADING);
    // The length of the text up to each line.
    let mut lengths = vec![out.len()];
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&line.text());
        lengths.push(out.len());
    }
    if out.len() <= budget {
        return out;
    }
    let fits = |kept: &usize| lengths[*kept] + omitted(lines.len() - kept).len() <= budget;
    let kept = (0..lines.len()).rev().find(fits).unwrap_or(0);
    out.truncate(lengths[kept]);
    out.push_str(&omitted(lines.len() - kept));
    out
}

fn omitted(count: usize) -> String {
    format!("\n\n... {count} more skill(s) omitted to stay within budget.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, description: &str, when: &str) -> Line {
        let [id, description, when] = [id, description, when].map(Text::new);
        Line {
            id,
            description,
            when,
        }
    }

    #[test]
    fn a_catalogue_lists_what_is_known() {
        assert!(HEADING.ends_with("when it becomes relevant.\n\n"));
        assert_eq!(catalogue(&[], 1), format!("{HEADING}(none)"));
        let lines = [line("a", "does a", "often"), line("team/b", "", "")];
        let expected = format!("{HEADING}- `a`: does a\n  when: often\n- `team/b`");
        assert_eq!(catalogue(&lines, 2000), expected);
        assert_eq!(catalogue(&lines, expected.len()), expected);
    }

    #[test]
    fn what_exceeds_the_budget_is_counted() {
        let lines = ["a", "b", "c"].map(|id| line(id, &"x".repeat(80), ""));
        let one = format!("- `a`: {}", "x".repeat(80));
        let two_left = format!("{HEADING}{one}{}", omitted(2));
        for budget in [two_left.len(), two_left.len() + 1] {
            assert_eq!(catalogue(&lines, budget), two_left);
        }
        let nothing = format!("{HEADING}{}", omitted(3));
        for budget in [1, two_left.len() - 1] {
            assert_eq!(catalogue(&lines, budget), nothing);
        }
    }

    #[test]
    fn the_short_text_and_the_qualified_id_go_first() {
        let entry = [
            ("name", "b"),
            ("namespace", "team"),
            ("description", "long"),
            ("short", "brief"),
        ];
        let entry = entry.map(|(key, value)| (Text::new(key), value.into()));
        let line = Line::of(&Dict::from_iter(entry));
        assert_eq!(line.text(), "- `team/b`: brief");
    }
}
