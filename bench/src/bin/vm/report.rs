//! The table of times.

use std::time::Duration;

use crate::language::{HARN, LUA, Language, NODE, PYTHON};
use crate::options::Options;
use crate::race::{Entry, Race};

/// What stands for something that was not measured.
pub(crate) const NOTHING: &str = "–";

/// Who takes part, and the first two lines of the table.
pub(crate) fn head(languages: &[Language], options: &Options) -> String {
    let versions: Vec<&str> = languages.iter().map(|one| one.version.as_str()).collect();
    let clock = match options.processor_time {
        true => "Milliseconds of processor time",
        false => "Milliseconds",
    };
    format!(
        "{clock} of a whole process, best of {}: {}.\n\n\
         | program | {HARN} | {LUA} | {PYTHON} | {NODE} | {HARN} / {LUA} | {HARN} / {PYTHON} | {HARN} / {NODE} |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
        options.runs,
        versions.join(", ")
    )
}

/// One line of it.
pub(crate) fn row(name: &str, race: &Race) -> String {
    let mut cells = vec![name.to_string()];
    cells.extend([HARN, LUA, PYTHON, NODE].map(|language| entry(race.entry(language))));
    cells.extend([LUA, PYTHON, NODE].map(|peer| ratio(race.ratio(peer))));
    format!("| {} |", cells.join(" | "))
}

fn entry(entry: &Entry) -> String {
    match entry {
        Entry::Best(time) => milliseconds(*time),
        Entry::Absent => NOTHING.to_string(),
        Entry::Failed => "**failed**".to_string(),
    }
}

/// Three digits say enough.
pub(crate) fn milliseconds(time: Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        ms if ms < 10.0 => format!("{ms:.2}"),
        ms if ms < 100.0 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}

/// A ratio, or the absence of one.
pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| NOTHING.to_string(), |ratio| format!("{ratio:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_times_and_ratios() {
        let best = |ms| Entry::Best(Duration::from_millis(ms));
        let race = Race::of(
            "fib",
            &[
                (HARN, best(120)),
                (LUA, best(100)),
                (PYTHON, best(240)),
                (NODE, Entry::Failed),
            ],
        );
        assert_eq!(
            row("fib", &race),
            "| fib | 120 | 100 | 240 | **failed** | 1.20 | 0.50 | – |"
        );
    }

    #[test]
    fn a_language_that_cannot_is_left_out() {
        let race = Race::of("nap", &[(HARN, Entry::Best(Duration::from_micros(1500)))]);
        assert_eq!(row("nap", &race), "| nap | 1.50 | – | – | – | – | – | – |");
    }
}
