//! Logs that leave their work to another one.

/// Implements `EventLog` for a type by passing every call on. `$with` is a macro that
/// is given the log, a name for the one behind it, and the call to make there.
macro_rules! delegate_event_log {
    ($type:ty, $with:ident) => {
        impl $crate::log::EventLog for $type {
            async fn append(&self, topic: &Topic, event: LogEvent) -> Result<EventId> {
                $with!(self, log => log.append(topic, event).await)
            }

            async fn append_durable(&self, topic: &Topic, event: LogEvent) -> Result<EventId> {
                $with!(self, log => log.append_durable(topic, event).await)
            }

            async fn append_batch(
                &self,
                topic: &Topic,
                events: Vec<LogEvent>,
            ) -> Result<Vec<EventId>> {
                $with!(self, log => log.append_batch(topic, events).await)
            }

            async fn append_batches(
                &self,
                batches: &[$crate::log::Batch],
            ) -> Vec<Result<Vec<EventId>>> {
                $with!(self, log => log.append_batches(batches).await)
            }

            async fn append_idempotent_by_header(
                &self,
                topic: &Topic,
                header: &str,
                value: &str,
                event: LogEvent,
            ) -> Result<AppendOutcome> {
                $with!(self, log => {
                    log.append_idempotent_by_header(topic, header, value, event).await
                })
            }

            async fn append_idempotent_chained_by_header(
                &self,
                topic: &Topic,
                header: &str,
                value: &str,
                expected_head: Option<&str>,
                event: LogEvent,
            ) -> Result<AppendOutcome> {
                $with!(self, log => {
                    log.append_idempotent_chained_by_header(
                        topic,
                        header,
                        value,
                        expected_head,
                        event,
                    )
                    .await
                })
            }

            async fn read_idempotent_by_header(
                &self,
                topic: &Topic,
                header: &str,
                value: &str,
            ) -> Result<Option<(EventId, LogEvent)>> {
                $with!(self, log => log.read_idempotent_by_header(topic, header, value).await)
            }

            async fn read_range(
                &self,
                topic: &Topic,
                from: Option<EventId>,
                limit: usize,
            ) -> Result<Vec<(EventId, LogEvent)>> {
                $with!(self, log => log.read_range(topic, from, limit).await)
            }

            async fn read_range_bytes(
                &self,
                topic: &Topic,
                from: Option<EventId>,
                limit: usize,
            ) -> Result<Vec<(EventId, LogEventBytes)>> {
                $with!(self, log => log.read_range_bytes(topic, from, limit).await)
            }

            async fn latest(&self, topic: &Topic) -> Result<Option<EventId>> {
                $with!(self, log => log.latest(topic).await)
            }

            async fn subscribe(
                self: Arc<Self>,
                topic: &Topic,
                from: Option<EventId>,
            ) -> Result<EventStream> {
                $with!(self, log => Arc::clone(log).subscribe(topic, from).await)
            }

            async fn ack(
                &self,
                topic: &Topic,
                consumer: &ConsumerId,
                up_to: EventId,
            ) -> Result<()> {
                $with!(self, log => log.ack(topic, consumer, up_to).await)
            }

            async fn rewind(
                &self,
                topic: &Topic,
                consumer: &ConsumerId,
                to: EventId,
            ) -> Result<()> {
                $with!(self, log => log.rewind(topic, consumer, to).await)
            }

            async fn consumer_cursor(
                &self,
                topic: &Topic,
                consumer: &ConsumerId,
            ) -> Result<Option<EventId>> {
                $with!(self, log => log.consumer_cursor(topic, consumer).await)
            }

            async fn compact(
                &self,
                topic: &Topic,
                before: EventId,
                force: CompactForce,
            ) -> Result<CompactReport> {
                $with!(self, log => log.compact(topic, before, force).await)
            }

            async fn verify_topic(&self, topic: &Topic) -> Result<EventLogVerificationReport> {
                $with!(self, log => log.verify_topic(topic).await)
            }

            async fn topics(&self) -> Result<Vec<Topic>> {
                $with!(self, log => log.topics().await)
            }

            async fn flush(&self) -> Result<()> {
                $with!(self, log => log.flush().await)
            }

            async fn barrier(&self) -> Result<()> {
                $with!(self, log => log.barrier().await)
            }

            fn describe(&self) -> EventLogDescription {
                $with!(self, log => log.describe())
            }

            fn health(&self) -> LogHealth {
                $with!(self, log => log.health())
            }
        }
    };
}

/// For a log that is a local log with a name of its own.
macro_rules! delegate_to_local {
    ($type:ty) => {
        const _: () = {
            use std::sync::Arc;

            use $crate::event::LogEvent;
            use $crate::log::{
                AppendOutcome, CompactForce, CompactReport, EventLogDescription, LogEventBytes,
                LogHealth, Result,
            };
            use $crate::name::{ConsumerId, EventId, Topic};
            use $crate::provenance::EventLogVerificationReport;
            use $crate::stream::EventStream;

            macro_rules! with_local {
                ($self:ident, $log:ident => $call:expr) => {{
                    let $log = &$self.local;
                    $call
                }};
            }

            $crate::delegate::delegate_event_log!($type, with_local);
        };
    };
}

pub(crate) use {delegate_event_log, delegate_to_local};
