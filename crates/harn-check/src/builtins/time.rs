//! Dates, clocks and durations.

use super::table::builtins;

builtins! {
    "advance_time(step_ms: int) -> int" [int] Clock "Moves the mocked clock on and gives its new time.";
    "date_add(date: int | float | dict, duration: duration) -> int | float" [] Pure "Moves a date by a duration.";
    "date_diff(a: int | float | dict, b: int | float | dict) -> duration" [duration] Pure "Gives the time between two dates.";
    r#"date_format(date: int | float | dict, format: string = "%Y-%m-%d %H:%M:%S", zone: string = "UTC") -> string"# [string] Pure "Writes a date in a format.";
    r#"date_from_components(parts: dict, zone: string = "UTC") -> int | float"# [] Pure "Makes a date of its parts.";
    "date_in_zone(date: int | float | dict, zone: string) -> dict" [dict] Pure "Gives the parts of a date in a time zone.";
    "date_iso() -> string" [string] Clock "Gives the date and time in UTC as text.";
    "date_now() -> dict" [dict] Clock "Gives the date and time in UTC by parts.";
    "date_now_iso() -> string" [string] Clock "Gives the date and time in UTC as text.";
    "date_parse(text: string) -> int | float" [] Pure "Reads a date.";
    "date_to_zone(date: int | float | dict, zone: string) -> string" [string] Pure "Writes a date with the offset of a time zone.";
    "duration_days(count: int | float) -> duration" [duration] Pure "Makes a duration of days.";
    "duration_hours(count: int | float) -> duration" [duration] Pure "Makes a duration of hours.";
    "duration_minutes(count: int | float) -> duration" [duration] Pure "Makes a duration of minutes.";
    "duration_ms(count: int | float) -> duration" [duration] Pure "Makes a duration of milliseconds.";
    "duration_seconds(count: int | float) -> duration" [duration] Pure "Makes a duration of seconds.";
    "duration_to_human(duration: duration) -> string" [string] Pure "Writes a duration as people say it.";
    "duration_to_seconds(duration: duration) -> int" [int] Pure "Gives the whole seconds of a duration.";
    "elapsed() -> int" [int] Clock "Gives milliseconds on a clock that is never set.";
    "mock_time(time_ms: int) -> nil" [nil] Clock "Stops the clock at a time.";
    "monotonic_ms() -> int" [int] Clock "Gives milliseconds on a clock that is never set.";
    "month_name(date: int | float | dict, zone: string | nil = nil) -> string" [string] Pure "Names the month of a date.";
    "now_ms() -> int" [int] Clock "Gives the milliseconds since 1970.";
    "sleep(time: duration | int) -> nil" [nil] Clock "Waits.";
    "sleep_ms(time: int) -> nil" [nil] Clock "Waits for milliseconds, on the mocked clock if there is one.";
    "timestamp() -> float" [float] Clock "Gives the seconds since 1970.";
    "unmock_time() -> nil" [nil] Clock "Gives the real clock back.";
    "weekday_name(date: int | float | dict, zone: string | nil = nil) -> string" [string] Pure "Names the weekday of a date.";
}
