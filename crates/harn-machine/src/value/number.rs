//! How numbers are written.

use std::fmt::Write;

/// Whole numbers from here on are shown without a decimal.
const PLAIN: f64 = 1e15;

/// Writes a float: one decimal if it is whole and not huge, else as few digits as tell it from
/// every other, never with an exponent.
pub fn show_float(value: f64, out: &mut String) {
    let written = match value {
        _ if value.is_nan() => write!(out, "NaN"),
        _ if value.fract() == 0.0 && value.abs() < PLAIN => write!(out, "{value:.1}"),
        _ => write!(out, "{value}"),
    };
    written.expect("a string takes all that is written to it");
}

/// Writes a span of time: the largest unit that divides it.
pub(super) fn show_duration(milliseconds: i64, out: &mut String) {
    let sign = if milliseconds < 0 { "-" } else { "" };
    let length = milliseconds.unsigned_abs();
    let units = [(3_600_000, "h"), (60_000, "m"), (1000, "s")];
    let divides = |(size, _): &&(u64, &str)| length >= *size && length.is_multiple_of(*size);
    let (size, unit) = units.iter().find(divides).copied().unwrap_or((1, "ms"));
    let written = write!(out, "{sign}{}{unit}", length / size);
    written.expect("a string takes all that is written to it");
}
