//! One waitpoint.

use harn_machine::Value;
use harn_machine::value::Dict;

use crate::people::field;

/// How it stands with a waitpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::people) enum Status {
    #[default]
    Open,
    Completed,
    Cancelled,
}

impl Status {
    pub(in crate::people) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What is known about a waitpoint. What is not known is nil.
#[derive(Clone, Debug, Default)]
pub(in crate::people) struct Point {
    pub(in crate::people) id: String,
    pub(in crate::people) status: Status,
    created_at: Value,
    created_by: Value,
    /// When and by whom it ended.
    ended_at: Value,
    ended_by: Value,
    pub(in crate::people) value: Value,
    pub(in crate::people) reason: Value,
    metadata: Value,
}

impl Point {
    /// A waitpoint that an event of the log describes.
    pub(super) fn created(id: &str, event: &Value) -> Self {
        Self {
            id: id.to_owned(),
            created_at: taken(event, "at"),
            created_by: taken(event, "by"),
            metadata: taken(event, "metadata"),
            ..Self::default()
        }
    }

    /// An event of the log ends it; only the first one does.
    pub(super) fn end(&mut self, status: Status, event: &Value) {
        if self.status != Status::Open {
            return;
        }
        self.status = status;
        self.ended_at = taken(event, "at");
        self.ended_by = taken(event, "by");
        self.value = taken(event, "value");
        self.reason = taken(event, "reason");
        if let Some(metadata) = field(event, "metadata") {
            self.metadata = metadata.clone();
        }
    }

    /// When and by whom it was ended in that way.
    fn ended(&self, status: Status) -> (Value, Value) {
        match self.status == status {
            true => (self.ended_at.clone(), self.ended_by.clone()),
            false => (Value::Nil, Value::Nil),
        }
    }

    /// As `std/waitpoint` shows it.
    pub(super) fn record(&self) -> Value {
        let (completed_at, completed_by) = self.ended(Status::Completed);
        let (cancelled_at, cancelled_by) = self.ended(Status::Cancelled);
        Value::dict([
            ("id", self.id.as_str().into()),
            ("status", self.status.name().into()),
            ("created_at", self.created_at.clone()),
            ("completed_at", completed_at),
            ("cancelled_at", cancelled_at),
            ("completed_by", completed_by),
            ("cancelled_by", cancelled_by),
            ("value", self.value.clone()),
            ("reason", self.reason.clone()),
            ("metadata", self.metadata.clone()),
        ])
    }

    /// As the builtins show it.
    pub(super) fn handle(&self) -> Value {
        let (completed_at, completed_by) = self.ended(Status::Completed);
        let (cancelled_at, cancelled_by) = self.ended(Status::Cancelled);
        let metadata = match &self.metadata {
            Value::Dict(metadata) => metadata.clone(),
            _ => Dict::default(),
        };
        Value::dict([
            ("id", self.id.as_str().into()),
            ("status", self.status.name().into()),
            ("created_at", self.created_at.clone()),
            ("created_by", self.created_by.clone()),
            ("completed_at", completed_at),
            ("completed_by", completed_by),
            ("cancelled_at", cancelled_at),
            ("cancelled_by", cancelled_by),
            ("reason", self.reason.clone()),
            ("metadata", metadata.into()),
        ])
    }

    pub(super) fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        each(&self.value);
        each(&self.metadata);
    }
}

fn taken(event: &Value, name: &str) -> Value {
    field(event, name).cloned().unwrap_or_default()
}
