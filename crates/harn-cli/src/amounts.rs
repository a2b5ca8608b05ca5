//! Amounts in few characters.

/// Tokens: `310`, `4.2k`, `42k`, `1.2M`.
pub(crate) fn tokens(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..10_000 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        10_000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// Money: `$0.0042`, `$0.12`, `$31.50`. The first digits that say something are kept.
pub(crate) fn dollars(amount: f64) -> String {
    match amount {
        0.0 => "$0".to_owned(),
        small if small < 0.1 => format!("${small:.4}"),
        large => format!("${large:.2}"),
    }
}

/// Time: `80ms`, `1.2s`, `12s`, `1m 05s`, `2h 03m`.
pub(crate) fn time(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms}ms"),
        1..10 => format!("{seconds}.{}s", ms % 1000 / 100),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Time that goes by, in whole seconds.
pub(crate) fn clock(ms: u64) -> String {
    match ms / 1000 {
        seconds @ 0..10 => format!("{seconds}s"),
        _ => time(ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1.0k"),
            (4299, "4.2k"),
            (10_000, "10k"),
            (999_999, "999k"),
            (1_250_000, "1.2M"),
        ] {
            assert_eq!(tokens(count), text);
        }
        for (amount, text) in [
            (0.0, "$0"),
            (0.0042, "$0.0042"),
            (0.12, "$0.12"),
            (31.5, "$31.50"),
        ] {
            assert_eq!(dollars(amount), text);
        }
        for (ms, text) in [
            (80, "80ms"),
            (1234, "1.2s"),
            (59_999, "59s"),
            (65_000, "1m 05s"),
            (7_380_000, "2h 03m"),
        ] {
            assert_eq!(time(ms), text);
        }
        assert_eq!(clock(1999), "1s");
        assert_eq!(clock(65_000), "1m 05s");
    }
}
