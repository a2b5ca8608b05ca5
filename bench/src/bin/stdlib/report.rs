//! The table of times, and what is asked of them.

use harn_bench::Selection;
use std::fmt::Write as _;

use crate::language::{HARN, Language, NODE, PYTHON};
use crate::race::{Entry, Race};

/// What stands for something that was not measured.
const NOTHING: &str = "–";

/// Who takes part, and the first two lines of the table.
pub(crate) fn head(languages: &[Language], options: &Selection) -> String {
    let versions: Vec<&str> = languages.iter().map(|one| one.version.as_str()).collect();
    format!(
        "Milliseconds of the work alone, best of {}: {}.\n\n\
         | row | {HARN} | {PYTHON} | {NODE} | {HARN} / {PYTHON} | {HARN} / {NODE} |\n\
         |---|---:|---:|---:|---:|---:|\n",
        options.runs,
        versions.join(", ")
    )
}

/// One line of it.
pub(crate) fn row(race: &Race) -> String {
    let mut cells = vec![race.about.to_owned()];
    cells.extend([HARN, PYTHON, NODE].map(|language| entry(race.entry(language))));
    cells.extend([PYTHON, NODE].map(|peer| ratio(race.ratio(peer))));
    format!("| {} |", cells.join(" | "))
}

fn entry(entry: &Entry) -> String {
    match entry {
        Entry::Best(ms) if *ms < 10.0 => format!("{ms:.2}"),
        Entry::Best(ms) if *ms < 100.0 => format!("{ms:.1}"),
        Entry::Best(ms) => format!("{ms:.0}"),
        Entry::NotMeasured => "not measured".to_owned(),
        Entry::Failed => "**failed**".to_owned(),
    }
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| NOTHING.to_owned(), |ratio| format!("{ratio:.2}"))
}

/// The second table: a line per requirement.
#[derive(Debug, Default)]
pub(crate) struct Requirements {
    rows: String,
    missed: usize,
}

impl Requirements {
    pub(crate) fn of(races: &[Race]) -> Self {
        let mut requirements = Self::default();
        requirements.every_row(races);
        requirements.mean(races);
        requirements
    }

    /// Whether every line says yes.
    pub(crate) fn all_met(&self) -> bool {
        self.missed == 0
    }

    /// The table in Markdown.
    pub(crate) fn render(&self) -> String {
        format!(
            "| requirement | measured | asked | met |\n|---|---|---|---|\n{}",
            self.rows
        )
    }

    fn every_row(&mut self, races: &[Race]) {
        let slow = races.iter().filter(|race| {
            let ratio = race.ratio_to_the_faster();
            ratio.is_none_or(|ratio| ratio > 1.0)
        });
        let slow: Vec<String> = slow
            .map(|race| format!("{} {}", race.about, ratio(race.ratio_to_the_faster())))
            .collect();
        let measured = match slow.is_empty() {
            true => "all of them".to_owned(),
            false => format!("not {}", slow.join("; ")),
        };
        self.row(
            "every row as fast as the faster peer",
            &measured,
            "≤ 1 × its time",
            slow.is_empty(),
        );
    }

    fn mean(&mut self, races: &[Race]) {
        let ratios: Vec<f64> = races.iter().filter_map(|race| race.ratio(PYTHON)).collect();
        let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let mean = (logarithms / ratios.len().max(1) as f64).exp();
        let is_met = ratios.len() == races.len() && mean <= 0.5;
        self.row(
            "geometric mean against CPython",
            &format!("{mean:.2} × its time over {} rows", ratios.len()),
            "≤ 0.5 × its time",
            is_met,
        );
    }

    fn row(&mut self, name: &str, measured: &str, asked: &str, is_met: bool) {
        let met = if is_met { "yes" } else { "**no**" };
        let _a_string_takes_everything =
            writeln!(self.rows, "| {name} | {measured} | {asked} | {met} |");
        self.missed += usize::from(!is_met);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_times_and_ratios() {
        let race = Race::of("glob", [120.0, 240.0, 60.0]);
        assert_eq!(row(&race), "| glob | 120 | 240 | 60.0 | 0.50 | 2.00 |");
    }

    #[test]
    fn slow_rows_are_named() {
        let races = [
            Race::of("fast", [1.0, 4.0, 2.0]),
            Race::of("slow", [3.0, 6.0, 2.0]),
        ];
        let requirements = Requirements::of(&races);
        assert!(!requirements.all_met());
        let table = requirements.render();
        assert!(table.contains("not slow 1.50"), "{table}");
        assert!(table.contains("0.35 × its time over 2 rows"), "{table}");
    }
}
