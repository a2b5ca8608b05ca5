//! Any text is an event, an opaque record or an error, and what was read once
//! reads the same after it was written.

#![no_main]

use harn_events::{AgentEvent, PersistedAgentEvent, RecordedEvent, StoredRecord};

harn_fuzz::target!(|bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(recorded) = RecordedEvent::decode(text) {
        let written = serde_json::to_string(&recorded).expect("a record is plain JSON");
        let again = RecordedEvent::decode(&written).expect("what was written is an object");
        assert_eq!(recorded, again, "{written}");
        assert_eq!(recorded.tag(), again.tag());
        assert_eq!(recorded.session_id(), again.session_id());
    }
    if let Ok(stored) = StoredRecord::decode(text) {
        let written = serde_json::to_string(&stored).expect("a record is plain JSON");
        let again = StoredRecord::decode(&written).expect("what was written is a record");
        assert_eq!(stored, again, "{written}");
    }
    if let Ok(event) = serde_json::from_str::<AgentEvent>(text) {
        let written = serde_json::to_string(&event).expect("an event is plain JSON");
        let again: AgentEvent =
            serde_json::from_str(&written).expect("what was written is an event");
        assert_eq!(event, again, "{written}");
        // The two readers agree on every event that both can read.
        let recorded = RecordedEvent::decode(&written).expect("an event is an object");
        assert_eq!(recorded.event(), Some(&event), "{written}");
    }
    if let Ok(record) = serde_json::from_str::<PersistedAgentEvent>(text) {
        let written = serde_json::to_string(&record).expect("a record is plain JSON");
        let again: PersistedAgentEvent =
            serde_json::from_str(&written).expect("what was written is a record");
        assert_eq!(record, again, "{written}");
    }
});
