//! Records on their way into a topic.
//!
//! ```text
//!  drafts ──► seal ──► publish ──► … on their way, oldest first … ──► acknowledged
//!                                        │
//!                                        └── conflict, silence or a lost connection:
//!                                            look what is stored, seal the rest anew
//! ```
//!
//! A record contains the hash of the one before, yet we do not wait for that one to
//! be stored: many are published ahead. The stream takes each only at its place and
//! after the record it was made to follow, so one that fails makes all that come
//! after it fail too. That is why an acknowledgement counts for everything before it,
//! and why it is enough to look at what is stored to know what became of the rest.
//!
//! A message that got lost may turn up late. The stream takes it only where it was
//! made for, so it is enough to remember where each record was sent.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::time::Duration;

use async_nats::{Message, Subscriber};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::connection::{ATTEMPT_TIMEOUT, Published, next, published, unreachable};
use super::error::{NatsError, Result};
use super::head::{self, Head};
use super::key_index::KeyIndex;
use super::message::{self, Before, Place};
use super::topic_stream::TopicStream;
use crate::name::EventId;
use crate::record::{Draft, Sealed};

/// How many records may be on their way in one topic. More wait in its queue.
const ON_THEIR_WAY_MAX: usize = 512;
const DOING: &str = "append";

/// Whoever waits for records to be stored.
pub(super) type Reply = oneshot::Sender<Result<Vec<EventId>>>;

/// The records of one topic that are on their way.
pub(super) struct Pipeline {
    pub(super) stream: TopicStream,
    /// The record after which the next one goes, stored or not. `None` if it has to
    /// be read.
    head: Option<Head>,
    /// The newest record that is known to be stored. A server that comes back with
    /// less has lost what it had acknowledged, and ids must not be given twice.
    stored: EventId,
    groups: VecDeque<Group>,
    /// Records in `groups`.
    records: usize,
    /// Where acknowledgements come.
    inbox: String,
    answers: Subscriber,
    /// What the message of the last record is called that was sent.
    last_message_id: String,
    /// Part of where they go, so that those of an earlier attempt are recognised.
    attempt: u64,
    link: watch::Receiver<u64>,
    /// When something was last sent or heard.
    progress: Instant,
    /// Whether something could not be sent.
    is_stuck: bool,
    /// How many records may be on their way. Somebody else who appends makes all of
    /// them fail, so it is halved then, and grows with every record that is stored.
    window: usize,
}

/// Records that are appended together, and who waits for them.
struct Group {
    records: Vec<Sealed>,
    /// Where the first of them was sent before it was sealed anew, as long as it may
    /// still turn up there.
    earlier: Vec<Spot>,
    reply: Reply,
    deadline: Instant,
}

/// A place, and the hash that a record has there.
#[derive(Clone, PartialEq, Eq)]
struct Spot {
    id: EventId,
    hash: String,
}

/// Why the pipeline wants attention.
pub(super) enum Noticed {
    Answer(Message),
    Trouble(NatsError),
}

impl Pipeline {
    pub(super) async fn open(stream: TopicStream) -> Result<Self, NatsError> {
        let connection = stream.connection.clone();
        let inbox = connection.client().new_inbox();
        let answers = connection.client().subscribe(format!("{inbox}.>")).await;
        Ok(Self {
            answers: answers.map_err(|why| unreachable(DOING, why))?,
            stream,
            head: None,
            stored: 0,
            groups: VecDeque::new(),
            records: 0,
            inbox,
            last_message_id: String::new(),
            attempt: 0,
            link: connection.link(),
            progress: Instant::now(),
            is_stuck: false,
            window: ON_THEIR_WAY_MAX,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.records < self.window
    }

    /// The end of the topic as far as we know, if nothing is on its way.
    pub(super) async fn head(&mut self, deadline: Instant) -> Result<Head, NatsError> {
        if let Some(head) = &self.head {
            return Ok(head.clone());
        }
        self.stream.ensure(deadline).await?;
        let head = head::read(&self.stream, deadline).await?;
        if head.id < self.stored {
            return Err(NatsError::Inconsistent {
                topic: self.stream.topic.to_string(),
                problem: format!(
                    "event {} was stored, but the server has lost everything after event {}",
                    self.stored, head.id
                ),
            });
        }
        self.stored = head.id;
        self.head = Some(head.clone());
        Ok(head)
    }

    /// The end of the topic was seen, or nothing is known of it any more.
    pub(super) fn set_head(&mut self, head: Option<Head>) {
        self.head = head;
    }

    /// Sends records that belong together on their way.
    pub(super) async fn push(&mut self, drafts: Vec<Draft>, reply: Reply, deadline: Instant) {
        let head = match self.head(deadline).await {
            Ok(head) => head,
            Err(error) => return answer(reply, Err(error.into())),
        };
        let records = seal(drafts, head);
        let payloads = message::payloads(&records);
        let bytes_max = self.stream.connection.client().max_payload();
        if let Err(error) = message::check_size(&payloads[0], bytes_max) {
            return answer(reply, Err(error));
        }
        if self.groups.is_empty() {
            self.link.mark_unchanged();
        }
        let sent = self.publish(&records, payloads, deadline).await;
        self.records += records.len();
        self.groups.push_back(Group {
            records,
            earlier: Vec::new(),
            reply,
            deadline,
        });
        if sent.is_err() {
            // The answer to what did not leave would never come.
            self.is_stuck = true;
        }
    }

    /// Publishes sealed records and makes the last of them the head.
    async fn publish(
        &mut self,
        records: &[Sealed],
        payloads: Vec<String>,
        deadline: Instant,
    ) -> Result<(), NatsError> {
        let of = records.len() as u64;
        let mut is_first = self.is_empty();
        let mut sent = Ok(());
        for ((record, payload), number) in records.iter().zip(payloads).zip(1..) {
            let before = match is_first {
                true => Before::Stored,
                false => Before::OnItsWay(&self.last_message_id),
            };
            is_first = false;
            let place = (of > 1).then_some(Place { number, of });
            let message_id = self.stream.connection.next_message_id();
            let headers = message::headers(record.id, &message_id, before, place);
            self.last_message_id = message_id;
            let reply = format!("{}.{}.{}", self.inbox, self.attempt, record.id);
            let client = self.stream.connection.client();
            let subject = self.stream.subject.clone();
            if sent.is_ok() {
                let publication =
                    client.publish_with_reply_and_headers(subject, reply, headers, payload.into());
                sent = match timeout_at(deadline, publication).await {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(why)) => Err(unreachable(DOING, why)),
                    Err(why) => Err(unreachable(DOING, why)),
                };
            }
            self.head = Some(Head {
                id: record.id,
                hash: Some(record.hash().to_owned()),
            });
        }
        if self.is_empty() {
            self.progress = Instant::now();
        }
        sent
    }

    /// Waits until there is something to do. Only of use while records are on their way.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(super) async fn notice(&mut self) -> Noticed {
        let overdue = self.overdue();
        tokio::select! {
            biased;
            message = next(&mut self.answers) => match message {
                Some(message) => Noticed::Answer(message),
                None => Noticed::Trouble(NatsError::Closed),
            },
            _ = self.link.changed() => Noticed::Trouble(unreachable(DOING, "the connection was lost")),
            () = sleep_until(overdue) => Noticed::Trouble(unreachable(DOING, "no acknowledgement came")),
        }
    }

    /// When to stop waiting for an answer: when the oldest request has to be done, and
    /// not later than an answer takes. At once if there will be none.
    fn overdue(&self) -> Instant {
        let patience = match self.is_stuck {
            true => Duration::ZERO,
            false => ATTEMPT_TIMEOUT,
        };
        let answered = self.progress + patience;
        let done = self.groups.front().map(|group| group.deadline);
        done.map_or(answered, |done| done.min(answered))
    }

    /// Does what is to be done.
    pub(super) async fn handle(&mut self, noticed: Noticed, index: &mut KeyIndex) {
        let trouble = match noticed {
            Noticed::Trouble(error) => Err(error),
            Noticed::Answer(message) => self.take_answer(&message, index),
        };
        if let Err(error) = trouble {
            self.recover(error, index).await;
        }
    }

    /// # Errors
    /// Something went wrong with a record, and so with those behind it.
    fn take_answer(&mut self, message: &Message, index: &mut KeyIndex) -> Result<(), NatsError> {
        let Some(id) = self.id_of_answer(message) else {
            return Ok(()); // Of an earlier attempt.
        };
        self.progress = Instant::now();
        match published(DOING, message) {
            Ok(Published::Stored(sequence)) if sequence == id => {
                self.complete(id, index);
                Ok(())
            }
            Ok(Published::Stored(_) | Published::Conflict) => {
                self.window = (self.window / 2).max(1);
                Err(unreachable(DOING, "somebody else was faster"))
            }
            Ok(Published::NoStream) => Err(unreachable(DOING, "no stream takes it")),
            Err(error) => {
                if !error.is_transient() {
                    self.refuse(id, &error);
                }
                Err(error)
            }
        }
    }

    fn id_of_answer(&self, message: &Message) -> Option<EventId> {
        let rest = message.subject.strip_prefix(self.inbox.as_str())?;
        let (attempt, id) = rest.strip_prefix('.')?.split_once('.')?;
        let is_current = attempt.parse() == Ok(self.attempt);
        id.parse().ok().filter(|_| is_current)
    }

    /// Everything up to `id` is stored.
    fn complete(&mut self, id: EventId, index: &mut KeyIndex) {
        self.stored = self.stored.max(id);
        let is_stored = |group: &Group| group.records.last().is_some_and(|last| last.id <= id);
        while self.groups.front().is_some_and(is_stored) {
            let group = self.groups.pop_front().expect("it was just looked at");
            let first = group.records.first().map_or(id, |first| first.id);
            self.succeed(group, first, index);
        }
    }

    /// A group is stored from `first` on.
    fn succeed(&mut self, group: Group, first: EventId, index: &mut KeyIndex) {
        let count = group.records.len();
        self.records -= count;
        self.window = (self.window + count).min(ON_THEIR_WAY_MAX);
        let ids: Vec<_> = (first..).take(count).collect();
        for (id, record) in ids.iter().zip(&group.records) {
            index.feed(*id, |name| record.header(name));
        }
        let bytes = group
            .records
            .iter()
            .map(|record| record.payload_json().len());
        let counters = self.stream.connection.counters();
        counters.note_records(count, bytes.sum());
        answer(group.reply, Ok(ids));
    }

    /// The server does not want the record `id`, which others need not suffer for.
    fn refuse(&mut self, id: EventId, error: &NatsError) {
        let has_it = |group: &Group| group.records.iter().any(|record| record.id == id);
        if let Some(at) = self.groups.iter().position(has_it) {
            self.fail(at, error);
        }
    }

    fn fail(&mut self, at: usize, error: &NatsError) {
        if let Some(group) = self.groups.remove(at) {
            self.records -= group.records.len();
            answer(group.reply, Err(error.repeat().into()));
        }
    }

    /// Finds out what is stored and sends the rest again, until everything is stored
    /// or its time is up.
    async fn recover(&mut self, mut trouble: NatsError, index: &mut KeyIndex) {
        loop {
            self.attempt += 1;
            self.head = None;
            self.is_stuck = false;
            self.link.mark_unchanged();
            self.give_up_what_is_late(&trouble);
            if self.groups.is_empty() {
                return;
            }
            match self.resume(index).await {
                Ok(()) => return,
                Err(error) if error.is_transient() => trouble = error,
                Err(error) => {
                    while !self.groups.is_empty() {
                        self.fail(0, &error);
                    }
                    self.head = None;
                    return;
                }
            }
            self.stream.connection.pause().await;
        }
    }

    fn give_up_what_is_late(&mut self, trouble: &NatsError) {
        let now = Instant::now();
        for at in (0..self.groups.len()).rev() {
            if self.groups[at].deadline <= now {
                self.fail(at, trouble);
            }
        }
    }

    async fn resume(&mut self, index: &mut KeyIndex) -> Result<(), NatsError> {
        let deadline = self.groups.iter().map(|group| group.deadline).min();
        let deadline = deadline.unwrap_or_else(Instant::now);
        let head = self.head(deadline).await?;
        self.complete_what_is_stored(head.id, deadline, index)
            .await?;
        let waiting = std::mem::take(&mut self.groups);
        self.records = 0;
        let mut sent = Ok(());
        for mut group in waiting {
            let before: Vec<_> = group.places().collect();
            let drafts = group.records.into_iter().map(Sealed::unseal);
            group.records = seal(drafts.collect(), self.head.clone().unwrap_or_default());
            group.earlier = before;
            let payloads = message::payloads(&group.records);
            if sent.is_ok() {
                sent = self.publish(&group.records, payloads, deadline).await;
            }
            self.records += group.records.len();
            self.groups.push_back(group);
        }
        sent
    }

    /// Compares what is on its way with what is stored. A group is stored if its first
    /// record is, because an unfinished batch has been finished by now.
    async fn complete_what_is_stored(
        &mut self,
        head: EventId,
        deadline: Instant,
        index: &mut KeyIndex,
    ) -> Result<(), NatsError> {
        let mut seen = HashMap::new();
        let mut at = 0;
        while at < self.groups.len() {
            match self.find_stored(at, head, deadline, &mut seen).await? {
                Some(id) => {
                    let group = self.groups.remove(at).expect("there is one at this index");
                    self.succeed(group, id, index);
                }
                None => at += 1,
            }
        }
        Ok(())
    }

    /// Where a group is stored, if it is. `seen` has the hashes of our records by id,
    /// as far as they were looked at.
    async fn find_stored(
        &mut self,
        at: usize,
        head: EventId,
        deadline: Instant,
        seen: &mut HashMap<EventId, Option<String>>,
    ) -> Result<Option<EventId>, NatsError> {
        let group = &mut self.groups[at];
        for place in group.places().filter(|place| place.id <= head) {
            let ours = match seen.entry(place.id) {
                Entry::Occupied(ours) => ours.into_mut(),
                Entry::Vacant(unseen) => {
                    let stored = self.stream.at(place.id, deadline).await?;
                    unseen.insert(stored.and_then(|stored| stored.hash_if_by(&self.stream)))
                }
            };
            if ours.as_ref() == Some(&place.hash) {
                return Ok(Some(place.id));
            }
        }
        // Whatever is there now, it stays there.
        group.earlier.retain(|place| place.id > head);
        Ok(None)
    }
}

impl Group {
    /// Where its first record is, or may turn up.
    fn places(&self) -> impl Iterator<Item = Spot> + use<> {
        let first = self.records.first().map(|first| Spot {
            id: first.id,
            hash: first.hash().to_owned(),
        });
        let mut places = self.earlier.clone();
        places.extend(first);
        places.into_iter()
    }
}

/// Gives records their places, one after the other.
fn seal(drafts: Vec<Draft>, head: Head) -> Vec<Sealed> {
    let mut before = head;
    let seal = |draft: Draft| {
        let sealed = draft.seal(before.id + 1, before.hash.as_deref());
        before = Head {
            id: sealed.id,
            hash: Some(sealed.hash().to_owned()),
        };
        sealed
    };
    drafts.into_iter().map(seal).collect()
}

/// Whoever asked may have stopped waiting, which changes nothing.
fn answer(reply: Reply, outcome: Result<Vec<EventId>>) {
    let _unheard = reply.send(outcome);
}
