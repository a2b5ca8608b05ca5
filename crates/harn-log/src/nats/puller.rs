//! Fetching many records at once.
//!
//! A consumer on the server knows the next record; we ask it for so many at a time.
//! It lives in the server's memory, belongs to one reader and is deleted with it. If
//! we cannot say so any more, the server deletes it after a while.

use std::time::Duration;

use async_nats::{StatusCode, Subscriber, jetstream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::connection::{next, unreachable};
use super::error::{NatsError, Result, if_found};
use super::message::{self, Place};
use super::topic_stream::TopicStream;
use crate::event::LogEvent;
use crate::name::EventId;

/// After how long the server may forget a consumer that nobody asks.
const INACTIVE_MAX: Duration = Duration::from_secs(60);
const DOING: &str = "read records";

/// A consumer of our own.
pub(super) struct Puller {
    stream: TopicStream,
    /// What the server calls it.
    name: String,
    inbox: String,
    answers: Subscriber,
    /// How many messages have come. They are numbered, so that a lost one is noticed.
    delivered: u64,
}

/// What a consumer answers.
pub(super) enum Pulled {
    Record {
        id: EventId,
        event: LogEvent,
        place: Option<Place>,
        /// How many records come after it.
        pending: u64,
    },
    /// There is no more in answer to what was asked.
    Done,
    /// The consumer has to be made again.
    Broken(NatsError),
}

impl Puller {
    /// A consumer that begins after `after`; `None` if the stream does not exist.
    pub(super) async fn open(
        stream: &TopicStream,
        after: EventId,
        deadline: Instant,
    ) -> Result<Option<Self>, NatsError> {
        #[derive(Deserialize)]
        struct Info {
            name: String,
        }
        let client = stream.connection.client();
        let inbox = client.new_inbox();
        let subscribed = client.subscribe(inbox.clone()).await;
        let answers = subscribed.map_err(|why| unreachable(DOING, why))?;
        let config = json!({
            "stream_name": stream.name,
            "config": {
                "deliver_policy": "by_start_sequence",
                "opt_start_seq": after.saturating_add(1),
                "ack_policy": "none",
                "replay_policy": "instant",
                "mem_storage": true,
                "num_replicas": 1,
                "inactive_threshold": nanoseconds(INACTIVE_MAX),
            },
        });
        let request = format!("CONSUMER.CREATE.{}", stream.name);
        let info = stream
            .connection
            .call::<Info>(DOING, &request, &config, deadline)
            .await;
        Ok(if_found(info)?.map(|info| Self {
            stream: stream.clone(),
            name: info.name,
            inbox,
            answers,
            delivered: 0,
        }))
    }

    /// Asks for up to `count` records of those that are there.
    pub(super) async fn ask_now(&self, count: u64) -> Result<(), NatsError> {
        self.ask(json!({ "batch": count, "no_wait": true })).await
    }

    /// Asks for the next `count` records, also if they come within `wait` only.
    pub(super) async fn ask_waiting(&self, count: u64, wait: Duration) -> Result<(), NatsError> {
        let wanted = json!({ "batch": count, "expires": nanoseconds(wait) });
        self.ask(wanted).await
    }

    async fn ask(&self, wanted: Value) -> Result<(), NatsError> {
        let request = async_nats::Request::new()
            .payload(wanted.to_string().into())
            .inbox(self.inbox.clone());
        let subject = format!("CONSUMER.MSG.NEXT.{}.{}", self.stream.name, self.name);
        let sent = self
            .stream
            .connection
            .context()
            .send_request(subject, request);
        sent.await.map_err(|why| unreachable(DOING, why))
    }

    /// What comes next.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    ///
    /// # Errors
    /// The next message is no record of ours.
    pub(super) async fn next(&mut self) -> Result<Pulled, NatsError> {
        loop {
            let Some(message) = next(&mut self.answers).await else {
                return Ok(Pulled::Broken(NatsError::Closed));
            };
            match message.status {
                None => return self.record(message),
                Some(StatusCode::IDLE_HEARTBEAT) => {}
                Some(StatusCode::NOT_FOUND | StatusCode::TIMEOUT) => return Ok(Pulled::Done),
                Some(status) => {
                    let cause = format!("{status} {}", message.description.unwrap_or_default());
                    return Ok(Pulled::Broken(unreachable(DOING, cause)));
                }
            }
        }
    }

    fn record(&mut self, message: async_nats::Message) -> Result<Pulled, NatsError> {
        let context = self.stream.connection.context().clone();
        let message = jetstream::Message { message, context };
        let info = match message.info() {
            Ok(info) => info,
            Err(why) => return Ok(Pulled::Broken(unreachable(DOING, why))),
        };
        self.delivered += 1;
        if info.consumer_sequence != self.delivered {
            let lost = "a message was lost on its way";
            return Ok(Pulled::Broken(unreachable(DOING, lost)));
        }
        let (id, pending) = (info.stream_sequence, info.pending);
        let topic = &self.stream.topic;
        let place = match &message.headers {
            Some(headers) => message::place(topic, id, headers)?,
            None => None,
        };
        Ok(Pulled::Record {
            id,
            event: message::record(topic, id, &message.payload)?,
            place,
            pending,
        })
    }
}

impl Drop for Puller {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let context = self.stream.connection.context().clone();
        let subject = format!("CONSUMER.DELETE.{}.{}", self.stream.name, self.name);
        runtime.spawn(async move {
            // If it does not arrive, the server forgets the consumer by itself.
            let _sent = context
                .send_request(subject, async_nats::Request::new())
                .await;
        });
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
