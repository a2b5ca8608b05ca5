//! What people were asked and have not answered.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use harn_machine::{Context, Failure, Fault, Holds, Registry, Value, argument};

use super::Kind;
use crate::observability::event_log;
use crate::people::field;
use crate::people::waitpoints::{Book, Status};

/// How many requests are listed unless the program says otherwise, and at most.
const LISTED: i64 = 500;
const LISTED_MAX: i64 = 5000;

/// So many events are read at a time.
const BATCH: usize = 256;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("hitl_pending", hitl_pending)]);
}

/// The requests that the log knows of. Each event is read once.
#[derive(Default)]
struct Requests {
    /// The last event of each topic that was read.
    cursors: [i64; Kind::ALL.len()],
    /// How many requests were read, which tells them apart that were made at the same time.
    count: u64,
    open: HashMap<String, Pending>,
}

struct Pending {
    number: u64,
    kind: Kind,
    asked_at: Option<DateTime<Utc>>,
    request: Value,
}

impl Holds for Requests {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        self.open.values().for_each(|one| each(&one.request));
    }
}

impl Requests {
    /// Reads what is new.
    fn read(context: &mut Context<'_>) -> Result<(), Failure> {
        for (at, kind) in Kind::ALL.into_iter().enumerate() {
            loop {
                let cursor = context.holding::<Self>().cursors[at];
                let events = event_log::read(context, kind.topic(), cursor, BATCH)?;
                let requests = context.holding::<Self>();
                for event in &events {
                    if let Some(Value::Int(id)) = field(event, "id") {
                        requests.cursors[at] = *id;
                    }
                    requests.apply(kind, event);
                }
                if events.len() < BATCH {
                    break;
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, kind: Kind, event: &Value) {
        let payload = field(event, "payload").unwrap_or(&Value::Nil);
        let (Some(event), Some(id)) = (field(event, "kind"), field(payload, "request_id")) else {
            return;
        };
        let (event, id) = (event.to_text(), id.to_text().to_string());
        if &*event == kind.asked() {
            self.count += 1;
            let asked_at = field(payload, "timestamp").map(Value::to_text);
            let pending = Pending {
                number: self.count,
                kind,
                asked_at: asked_at.and_then(|text| moment(&text).ok()),
                request: payload.clone(),
            };
            self.open.insert(id, pending);
        } else if kind.is_ended_by(&event) {
            self.open.remove(&id);
        }
    }
}

fn moment(text: &str) -> Result<DateTime<Utc>, chrono::ParseError> {
    DateTime::parse_from_rfc3339(text).map(|moment| moment.to_utc())
}

/// `hitl_pending(filters?)`: newest first.
fn hitl_pending(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let filters = Filters::read(argument(arguments, 0))?;
    Requests::read(context)?;
    Book::current(context)?;
    // Those whose waitpoints were ended by others will not be answered any more.
    let ids: Vec<String> = context.holding::<Requests>().open.keys().cloned().collect();
    let book = context.holding::<Book>();
    let is_ended = |id: &String| {
        let point = book.point(id);
        point.is_some_and(|point| point.status != Status::Open)
    };
    let ended: Vec<String> = ids.into_iter().filter(is_ended).collect();
    let requests = context.holding::<Requests>();
    for id in ended {
        requests.open.remove(&id);
    }
    let mut found: Vec<&Pending> = requests.open.values().collect();
    found.retain(|pending| filters.allow(pending));
    found.sort_by_key(|pending| std::cmp::Reverse((pending.asked_at, pending.number)));
    let found = found.into_iter().take(filters.limit);
    Ok(found.map(|pending| pending.request.clone()).collect())
}

/// Which requests are wanted.
struct Filters {
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
    /// `None`: all.
    kinds: Option<Vec<Kind>>,
    agent: Option<String>,
    limit: usize,
}

fn fault<T>(problem: &str) -> Result<T, Failure> {
    Err(Fault::runtime(format!("hitl_pending: {problem}")))
}

impl Filters {
    fn read(given: &Value) -> Result<Self, Failure> {
        if !matches!(given, Value::Nil | Value::Dict(_)) {
            return fault("filters must be a dict or nil");
        }
        let limit = match field(given, "limit") {
            None => LISTED,
            Some(Value::Int(limit)) if *limit > 0 => *limit,
            Some(_) => return fault("limit must be a positive int"),
        };
        Ok(Self {
            since: time(given, "since")?,
            until: time(given, "until")?,
            kinds: field(given, "kinds").map(kinds).transpose()?,
            agent: text(given, "agent")?,
            limit: usize::try_from(limit.min(LISTED_MAX)).unwrap_or_default(),
        })
    }

    fn allow(&self, pending: &Pending) -> bool {
        let asked_at = pending.asked_at;
        let agent = field(&pending.request, "agent").map(Value::to_text);
        self.since.is_none_or(|since| asked_at >= Some(since))
            && self
                .until
                .is_none_or(|until| asked_at.is_some_and(|at| at <= until))
            && self
                .kinds
                .as_ref()
                .is_none_or(|kinds| kinds.contains(&pending.kind))
            && self
                .agent
                .as_ref()
                .is_none_or(|wanted| agent.is_some_and(|agent| &*agent == wanted))
    }
}

fn text(filters: &Value, name: &str) -> Result<Option<String>, Failure> {
    match field(filters, name) {
        None => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.to_string())),
        Some(_) => fault(&format!("{name} must be a string")),
    }
}

fn time(filters: &Value, name: &str) -> Result<Option<DateTime<Utc>>, Failure> {
    let Some(text) = text(filters, name)? else {
        return Ok(None);
    };
    match moment(&text) {
        Ok(moment) => Ok(Some(moment)),
        Err(error) => fault(&format!("invalid {name}: {error}")),
    }
}

fn kinds(given: &Value) -> Result<Vec<Kind>, Failure> {
    let Value::List(names) = given else {
        return fault("kinds must be a list<string>");
    };
    let kinds = names.iter().map(|name| match name {
        Value::Text(name) => match Kind::read(name) {
            Some(kind) => Ok(kind),
            None => fault(&format!("unsupported kind '{name}'")),
        },
        _ => fault("kinds must be a list<string>"),
    });
    kinds.collect()
}
