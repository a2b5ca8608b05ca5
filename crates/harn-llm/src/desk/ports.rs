//! What the desk needs of the world, apart from the network.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// What the desk needs of the world, apart from the network.
#[derive(Clone)]
pub struct Ports {
    /// Milliseconds since the epoch.
    pub now: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// A number between 0 and 1.
    pub chance: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// An id that nobody else has.
    pub new_id: Arc<dyn Fn() -> String + Send + Sync>,
    /// What is wrong with data (second) by a schema (first).
    pub schema_errors: Arc<SchemaErrors>,
    /// Tells the operator.
    pub warn: Arc<dyn Fn(&str) + Send + Sync>,
}

/// What is wrong with data (second) by a schema (first).
pub type SchemaErrors = dyn Fn(&Value, &Value) -> Vec<String> + Send + Sync;

impl Ports {
    /// The machine we run on: its clock, its chance, ids that begin with the time, and
    /// warnings that go to `tracing`.
    ///
    /// Data is not compared with schemas. Whoever asks for structured answers and wants them
    /// checked sets [`schema_errors`](Self::schema_errors).
    pub fn of_machine() -> Self {
        Self {
            now: Arc::new(now),
            chance: Arc::new(|| {
                let [a, b, c, d, ..] = random_octets();
                f64::from(u32::from_le_bytes([a, b, c, d])) / f64::from(u32::MAX)
            }),
            new_id: Arc::new(|| id_of_time(now(), random_octets())),
            schema_errors: Arc::new(|_, _| Vec::new()),
            warn: Arc::new(|text| tracing::warn!("{text}")),
        }
    }
}

fn now() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the port everybody else asks"
    )]
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn random_octets() -> [u8; 16] {
    let mut octets = [0; 16];
    // Without chance, ids repeat and pauses are even; nothing worth failing for.
    let _ = getrandom::fill(&mut octets);
    octets
}

/// A UUID of version 7: 48 bits of time, then chance.
fn id_of_time(milliseconds: i64, mut octets: [u8; 16]) -> String {
    octets[..6].copy_from_slice(&milliseconds.to_be_bytes()[2..]);
    octets[6] = octets[6] & 0x0f | 0x70;
    octets[8] = octets[8] & 0x3f | 0x80;
    let number = u128::from_be_bytes(octets);
    let text = format!("{number:032x}");
    let parts = [
        &text[..8],
        &text[8..12],
        &text[12..16],
        &text[16..20],
        &text[20..],
    ];
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_begins_with_its_time() {
        // RFC 9562, appendix A.6.
        let random = 0x0000_0000_0000_0cc3_18c4_dc0c_0c07_398f_u128.to_be_bytes();
        let id = id_of_time(0x017f_22e2_79b0, random);
        assert_eq!(id, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    }

    #[test]
    fn the_machine_has_a_clock_and_chance() {
        let ports = Ports::of_machine();
        assert!((ports.now)() > 1_600_000_000_000);
        assert!((0.0..=1.0).contains(&(ports.chance)()));
        assert_ne!((ports.new_id)(), (ports.new_id)());
    }
}
