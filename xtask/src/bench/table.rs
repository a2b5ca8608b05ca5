//! Reads the tables that benchmarks print, so that two of them can be compared.
//!
//! ```text
//! | work | against | ours | theirs | ratio | asked | met |     a row is one measurement
//! | requirement | measured | asked | met |                     so is this one
//! | program | Harn | Lua | … | Harn / Lua | … |                each column of ratios is one
//! ```

/// One number of a table, under a name that stays the same from run to run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measurement {
    /// What was measured. Numbers in it are part of the result and stand as `#`.
    pub(super) name: String,
    /// The cell that was read, for people.
    pub(super) shown: String,
    /// What it says, in base units; `None` where a cell holds no number.
    pub(super) value: Option<f64>,
    pub(super) better: Better,
    /// How far the sides spread, added up, as a share.
    pub(super) spread: Option<f64>,
    pub(super) goal: Goal,
}

/// Which way a number is meant to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

/// What the row says of its goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    Open,
    Met,
    Missed { asked: String },
}

/// All measurements of a page, in order.
pub(super) fn measurements(page: &str) -> Vec<Measurement> {
    let mut found = Vec::new();
    let mut head: Option<Vec<&str>> = None;
    for line in page.lines() {
        let Some(cells) = cells(line) else {
            head = None;
            continue;
        };
        match &head {
            None => head = Some(cells),
            Some(_) if cells.iter().all(|cell| is_rule(cell)) => {}
            Some(head) => found.extend(of_row(head, &cells)),
        }
    }
    number_repetitions(&mut found);
    found
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

fn is_rule(cell: &str) -> bool {
    cell.contains("---") && cell.chars().all(|c| matches!(c, '-' | ':'))
}

fn of_row(head: &[&str], cells: &[&str]) -> Vec<Measurement> {
    let cell = |name: &str| {
        let column = head.iter().position(|title| *title == name)?;
        cells.get(column).copied()
    };
    let Some(met) = cell("met") else {
        return ratios_of_row(head, cells);
    };
    let asked = cell("asked").unwrap_or("–");
    let goal = match (met, asked) {
        ("yes", "–") => Goal::Open,
        ("yes", _) => Goal::Met,
        _ => Goal::Missed {
            asked: asked.to_owned(),
        },
    };
    let (name, shown) = match cell("measured") {
        Some(measured) => (cells[0].to_owned(), measured),
        None => {
            let against = cell("against").unwrap_or("–");
            // Without a peer the ratio is a remark.
            let column = if against == "–" { "ours" } else { "ratio" };
            (
                format!("{}; {against}", cells[0]),
                cell(column).unwrap_or("–"),
            )
        }
    };
    let spread_of = |side: &str| cell(side).and_then(spread);
    let spread = spread_of("ours").map(|ours| ours + spread_of("theirs").unwrap_or(0.0));
    vec![Measurement {
        name: without_numbers(&name),
        shown: shown.to_owned(),
        value: value(shown),
        better: direction(shown, asked),
        spread,
        goal,
    }]
}

/// The columns `A / B` of a row: times of A in times of B.
fn ratios_of_row(head: &[&str], cells: &[&str]) -> Vec<Measurement> {
    let columns = head
        .iter()
        .zip(cells)
        .filter(|(title, _)| title.contains(" / "));
    let measured = columns.map(|(title, cell)| Measurement {
        name: format!("{}, {title}", cells[0]),
        shown: (*cell).to_owned(),
        value: value(cell),
        better: Better::Lower,
        spread: None,
        goal: Goal::Open,
    });
    measured.collect()
}

fn direction(shown: &str, asked: &str) -> Better {
    let is_speed = shown.contains("of its speed") || shown.contains("/s");
    match is_speed || asked.starts_with('≥') {
        true => Better::Higher,
        false => Better::Lower,
    }
}

/// The number that a cell is about: a factor where it has one, else its first number.
fn value(cell: &str) -> Option<f64> {
    let factor = cell.split_once(" ×").and_then(|(before, _)| {
        let digits = before.rsplit(' ').next()?;
        digits.parse().ok()
    });
    factor.or_else(|| {
        let start = cell.find(|c: char| c.is_ascii_digit())?;
        let rest = &cell[start..];
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().ok()?;
        let unit = rest[end..].split_whitespace().next().unwrap_or("");
        Some(number * in_base_units(unit))
    })
}

fn in_base_units(unit: &str) -> f64 {
    match unit.trim_end_matches([',', ';', ':']) {
        "ns" => 1e-9,
        "µs" => 1e-6,
        "ms" => 1e-3,
        "min" => 60.0,
        "kB" => 1e3,
        "KiB" => 1024.0,
        "MB" => 1e6,
        _ => 1.0,
    }
}

fn spread(side: &str) -> Option<f64> {
    let (_, spread) = side.split_once('±')?;
    let percent: f64 = spread.trim().strip_suffix('%')?.trim().parse().ok()?;
    Some(percent / 100.0)
}

fn without_numbers(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for c in name.chars() {
        let is_number = c.is_ascii_digit() || (c == '.' && plain.ends_with('#'));
        if !is_number {
            plain.push(c);
        } else if !plain.ends_with('#') {
            plain.push('#');
        }
    }
    plain
}

/// Rows that differ in their numbers alone are told apart by their order.
fn number_repetitions(found: &mut [Measurement]) {
    let mut seen = std::collections::HashMap::<String, usize>::new();
    for one in found {
        let times = seen.entry(one.name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            one.name += &format!(" ({times})");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RACE: &str = "\
| work | against | ours | theirs | ratio | asked | met |
|---|---|---|---|---|---|---|
";

    fn row(row: &str) -> Measurement {
        let found = measurements(&format!("# Benchmark\n\n{RACE}{row}\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        found.into_iter().next().unwrap()
    }

    #[test]
    fn a_speed_is_better_when_it_is_higher() {
        let one = row(
            "| one turn | LangGraph | 276.87 µs ± 5 % | 5.58 ms ± 4 % | 2017 % of its speed | ≥ 1500 % | yes |",
        );
        assert_eq!(one.name, "one turn; LangGraph");
        assert_eq!((one.value, one.better), (Some(2017.0), Better::Higher));
        assert_eq!(one.spread, Some(0.09));
        assert_eq!(one.goal, Goal::Met);
    }

    #[test]
    fn a_time_and_a_memory_are_better_when_they_are_lower() {
        let time = row(
            "| emit | 1 session | 235 ns ± 0 % | 236 ns ± 0 % | 1.00 × its time | ≤ 1.25 × | yes |",
        );
        assert_eq!((time.value, time.better), (Some(1.0), Better::Lower));
        let memory = row("| an agent | Agno | 2073 B | 3759 B | 55 % | < 100 % | yes |");
        assert_eq!((memory.value, memory.better), (Some(55.0), Better::Lower));
        assert_eq!(memory.spread, None);
    }

    #[test]
    fn without_a_peer_our_own_number_counts_and_its_unit_too() {
        let one =
            row("| match 1000 skills | – | 0.500 ms | – | 969 found; in 0.629 ms | ≤ 2 ms | yes |");
        assert_eq!(one.name, "match # skills; –");
        assert_eq!(one.value, Some(0.0005));
        let turns = row("| turns in total | – | 10884 turns/s | – | – | – | yes |");
        assert_eq!((turns.value, turns.better), (Some(10884.0), Better::Higher));
        assert_eq!(turns.goal, Goal::Open);
    }

    #[test]
    fn requirements_and_columns_of_ratios_are_read_too() {
        let page = "\
| program | Harn | Lua | Harn / Lua | Harn / Node |
|---|---:|---:|---:|---:|
| fib | 64.8 | 44.9 | 1.44 | – |

| requirement | measured | asked | met |
|---|---|---|---|
| start-up | 4.05 ms is 2.82 × 1.43 ms | ≤ 3 × its time | yes |
| the program, stripped | 45.80 MB | ≤ 25 MB | **no** |
";
        let found = measurements(page);
        let read = found.iter().map(|one| (one.name.as_str(), one.value));
        assert_eq!(
            read.collect::<Vec<_>>(),
            [
                ("fib, Harn / Lua", Some(1.44)),
                ("fib, Harn / Node", None),
                ("start-up", Some(2.82)),
                ("the program, stripped", Some(45.8e6)),
            ]
        );
        let asked = "≤ 25 MB".to_owned();
        assert_eq!(found[3].goal, Goal::Missed { asked });
    }

    #[test]
    fn names_do_not_change_with_what_was_measured() {
        let rows = "\
| lex, 100000 lines: 15.24 million lines/s | 10 programs | 66 ns ± 1 % | 66 ns ± 1 % | 0.99 × its time | ≤ 1.30 × | yes |
| lex, 10 lines: 9 million lines/s | 10 programs | 66 ns ± 1 % | 66 ns ± 1 % | 0.99 × its time | ≤ 1.30 × | yes |
";
        let found = measurements(&format!("{RACE}{rows}"));
        assert_eq!(found[0].name, "lex, # lines: # million lines/s; # programs");
        assert_eq!(found[1].name, found[0].name.clone() + " (2)");
    }
}
