//! Numbers are shown as the library that everybody uses shows them, only without exponents.

use harn_machine::value::show_float;
use proptest::prelude::*;

fn shown(number: f64) -> String {
    let mut out = String::new();
    show_float(number, &mut out);
    out
}

/// A number as serde_json writes it, with its exponent written out.
fn written_out(number: f64) -> String {
    let text = serde_json::to_string(&number).expect("it is finite");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().expect("it is an exponent");
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let point = i32::try_from(whole.len()).expect("it is short") + exponent;
    let digits = format!("{whole}{fraction}");
    let padded = match usize::try_from(point) {
        Ok(0) => format!("0.{digits}"),
        Ok(point) if point >= digits.len() => digits.clone() + &"0".repeat(point - digits.len()),
        Ok(point) => format!("{}.{}", &digits[..point], &digits[point..]),
        Err(_) => format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
    };
    let trimmed = match padded.contains('.') {
        true => padded.trim_end_matches('0').trim_end_matches('.'),
        false => &padded,
    };
    format!("{sign}{trimmed}")
}

fn check(number: f64) -> Result<(), TestCaseError> {
    let text = shown(number);
    prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()));
    let expected = match number.fract() == 0.0 && number.abs() < 1e15 {
        true => format!("{}.0", written_out(number)),
        false => written_out(number),
    };
    // Where two texts are as short and as close, libraries choose differently.
    prop_assert_eq!(text.len(), expected.len(), "{} {}", text, expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn any_number_is_shown_in_as_few_digits_as_tell_it_apart(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        if number.is_finite() {
            check(number)?;
        }
    }

    #[test]
    fn whole_numbers_are_shown_with_one_decimal_until_they_are_huge(number in -1e17..1e17) {
        check(f64::trunc(number))?;
    }
}

#[test]
fn examples_of_the_specification() {
    for (number, text) in [
        (4.0, "4.0"),
        (-0.0, "-0.0"),
        (3.15, "3.15"),
        (0.1, "0.1"),
        (9_223_372_036_854_775_808.0, "9223372036854776000"),
        (1e15, "1000000000000000"),
        (f64::NAN, "NaN"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        assert_eq!(shown(number), text);
    }
}
