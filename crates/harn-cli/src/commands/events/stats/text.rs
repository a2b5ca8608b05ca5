//! Statistics for people.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::super::Ctx;
use super::super::line::TimeArguments;
use super::{Stats, TopicStats};
use crate::output::Untrusted;

pub(super) fn write(stats: &Stats, time: TimeArguments, ctx: &mut Ctx<'_>) -> io::Result<()> {
    let location = stats.location.as_deref().unwrap_or("nowhere");
    let size = stats.size_bytes.map_or("?".to_owned(), bytes);
    let output = &mut *ctx.output;
    writeln!(output, "backend   {}", stats.backend)?;
    writeln!(output, "location  {}", Untrusted(location))?;
    writeln!(output, "size      {size}")?;
    writeln!(output, "records   {}", stats.records)?;
    writeln!(output, "payload   {}", bytes(stats.payload_bytes))?;
    for topic in &stats.topics {
        write_topic(topic, time, ctx)?;
    }
    Ok(())
}

fn write_topic(topic: &TopicStats, time: TimeArguments, ctx: &mut Ctx<'_>) -> io::Result<()> {
    let (clock, output) = (ctx.clock, &mut *ctx.output);
    let palette = output.palette();
    writeln!(output, "\n{}", palette.heading(&topic.topic))?;
    write!(output, "  {} records", topic.records)?;
    write!(output, ", {} of payload", bytes(topic.payload_bytes))?;
    match (topic.first_at_ms, topic.last_at_ms) {
        (Some(first), Some(last)) => {
            let (first, last) = (time.show(first, clock), time.show(last, clock));
            writeln!(output, ", first {first}, last {last}")?;
        }
        _ => writeln!(output, ", newest id {}", topic.newest_id)?,
    }
    let mut kinds: Vec<(&String, &u64)> = topic.kinds.iter().collect();
    kinds.sort_by_key(|(_, count)| Reverse(**count));
    for (kind, count) in kinds {
        let name = palette.kind(kind, Untrusted(kind));
        writeln!(output, "  {count:>8}  {name}")?;
    }
    Ok(())
}

/// `1.5 MiB`.
fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1024 {
        return match number {
            1 => "1 byte".to_owned(),
            _ => format!("{number} bytes"),
        };
    }
    let (mut tenths, mut unit) = (number * 10 / 1024, 0);
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_one_digit_after_the_point() {
        for (number, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1024 * 1024 - 1, "1023.9 KiB"),
            (5 * 1024 * 1024, "5.0 MiB"),
            (3 * 1024 * 1024 * 1024, "3.0 GiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }
}
