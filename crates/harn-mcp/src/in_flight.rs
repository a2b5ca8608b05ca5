//! Which calls a server has not answered yet: whose they are, whether it still shows signs of
//! life, and whether it waits for us.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::ProgressToken;
use tokio::sync::watch;
use tokio::time::Instant;

/// How many calls are remembered after their end. What a server has said just before its answer
/// may be heard just after it.
const ENDED_MAX: usize = 64;

/// The calls that a server has not answered yet.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    open: HashMap<u64, Call>,
    /// How many questions of the server are open. Servers do not say which call a question
    /// belongs to, so the clocks of all calls stand still, also of those that begin meanwhile.
    questions: usize,
    /// The number of the next call. Calls have numbers because a server may ask something
    /// before we know what the call is called.
    next: u64,
    /// Whose the last ones were that have ended, the oldest first.
    ended: VecDeque<(ProgressToken, Option<String>)>,
}

struct Call {
    session_id: Option<String>,
    /// What its progress is told with, once it was sent.
    token: Option<ProgressToken>,
    /// The number of open questions. Sent again with every sign of life, and closed when nobody
    /// waits for the call any more.
    questions: watch::Sender<usize>,
}

/// A call that is in flight until this is dropped.
pub(crate) struct Waiting<'a> {
    calls: &'a InFlight,
    number: u64,
    questions: watch::Receiver<usize>,
}

/// A question that a server has asked and that is open until this is dropped.
pub(crate) struct Question<'a> {
    calls: &'a InFlight,
    /// The calls that were in flight when it was asked. Any of them may be meant.
    of: Vec<watch::Receiver<usize>>,
}

impl InFlight {
    /// A session is about to call.
    pub(crate) fn begin(&self, session_id: Option<String>) -> Waiting<'_> {
        let mut calls = self.lock();
        let (sender, questions) = watch::channel(calls.questions);
        let call = Call {
            session_id,
            token: None,
            questions: sender,
        };
        let number = calls.next;
        calls.next += 1;
        calls.open.insert(number, call);
        Waiting {
            calls: self,
            number,
            questions,
        }
    }

    /// A call goes on.
    pub(crate) fn progressed(&self, token: &ProgressToken) {
        if let Some(call) = self.lock().of(token) {
            call.questions.send_modify(|_| {});
        }
    }

    /// The server asks something.
    pub(crate) fn ask(&self) -> Question<'_> {
        let mut calls = self.lock();
        calls.questions += 1;
        calls.tell_questions();
        let open = calls.open.values();
        let of = open.map(|call| call.questions.subscribe()).collect();
        Question { calls: self, of }
    }

    /// The session that a notice about the progress of a call is for.
    pub(crate) fn session_of(&self, token: &ProgressToken) -> Option<String> {
        let calls = self.lock();
        if let Some(call) = calls.of(token) {
            return call.session_id.clone();
        }
        let mut ended = calls.ended.iter();
        let (_, session_id) = ended.find(|(ended, _)| ended == token)?;
        session_id.clone()
    }

    /// The session that waits, if there is only one.
    pub(crate) fn only_session(&self) -> Option<String> {
        let calls = self.lock();
        let open = calls.open.values();
        let mut sessions = open.filter_map(|call| call.session_id.as_ref());
        let first = sessions.next()?;
        sessions.all(|other| other == first).then(|| first.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    fn of(&self, token: &ProgressToken) -> Option<&Call> {
        let mut open = self.open.values();
        open.find(|call| call.token.as_ref() == Some(token))
    }

    /// Tells all calls how many questions are open.
    fn tell_questions(&self) {
        for call in self.open.values() {
            call.questions.send_replace(self.questions);
        }
    }
}

impl Waiting<'_> {
    /// The call was sent, and this is what its progress is told with.
    pub(crate) fn sent(&self, token: ProgressToken) {
        if let Some(call) = self.calls.lock().open.get_mut(&self.number) {
            call.token = Some(token);
        }
    }

    /// Until the server has shown no sign of life for that long. A server that waits for our
    /// answer is alive: people take their time.
    pub(crate) async fn idle(&self, limit: Duration) {
        let mut questions = self.questions.clone();
        loop {
            let is_asked = *questions.borrow_and_update() > 0;
            let sign = async { questions.changed().await.is_ok() };
            let heard = match is_asked {
                true => Ok(sign.await),
                false => tokio::time::timeout(limit, sign).await,
            };
            // As long as this is here, the sender is.
            if heard != Ok(true) {
                return;
            }
        }
    }

    /// Until the server has had that much time, whatever signs of life it shows. The time in
    /// which it waits for our answers is not its own.
    pub(crate) async fn overdue(&self, limit: Duration) {
        let mut questions = self.questions.clone();
        let mut left = limit;
        loop {
            let is_asked = *questions.borrow_and_update() > 0;
            let begin = Instant::now();
            let changed = async { questions.changed().await.is_ok() };
            let heard = match is_asked {
                true => Ok(changed.await),
                false => tokio::time::timeout(left, changed).await,
            };
            // As long as this is here, the sender is.
            if heard != Ok(true) {
                return;
            }
            if !is_asked {
                left = left.saturating_sub(begin.elapsed());
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut calls = self.calls.lock();
        let call = calls.open.remove(&self.number);
        let Some((token, session_id)) = call.and_then(|call| Some((call.token?, call.session_id)))
        else {
            return;
        };
        if calls.ended.len() == ENDED_MAX {
            calls.ended.pop_front();
        }
        calls.ended.push_back((token, session_id));
    }
}

impl Question<'_> {
    /// Until nobody waits for the calls any more that the question belongs to. One that belongs
    /// to none is waited for as long as it takes.
    pub(crate) async fn is_pointless(&self) {
        if self.of.is_empty() {
            return std::future::pending().await;
        }
        for call in &self.of {
            let mut call = call.clone();
            while call.changed().await.is_ok() {}
        }
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let mut calls = self.calls.lock();
        calls.questions -= 1;
        calls.tell_questions();
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    fn token(number: i64) -> ProgressToken {
        ProgressToken(NumberOrString::Number(number))
    }

    /// A call that was sent.
    fn sent(calls: &InFlight, number: i64) -> Waiting<'_> {
        let call = calls.begin(Some(format!("s{number}")));
        call.sent(token(number));
        call
    }

    /// How many seconds pass until the work is over.
    async fn seconds(work: impl Future<Output = ()>) -> u64 {
        let begin = Instant::now();
        work.await;
        begin.elapsed().as_secs()
    }

    #[test]
    fn what_is_heard_after_the_answer_is_still_told_to_whoever_called() {
        let calls = InFlight::default();
        for number in 0..=64 {
            drop(sent(&calls, number));
        }
        assert_eq!(calls.session_of(&token(64)), Some("s64".to_owned()));
        assert_eq!(calls.session_of(&token(1)), Some("s1".to_owned()));
        assert_eq!(
            calls.session_of(&token(0)),
            None,
            "only so many are remembered"
        );
        assert_eq!(calls.only_session(), None, "nobody waits any more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_of_life_is_one_more_minute() {
        let calls = InFlight::default();
        let call = sent(&calls, 1);
        let minute = Duration::from_secs(60);
        let signs = async {
            tokio::time::sleep(Duration::from_secs(50)).await;
            calls.progressed(&token(1));
            calls.progressed(&token(2));
        };
        let (waited, ()) = tokio::join!(seconds(call.idle(minute)), signs);
        assert_eq!(waited, 110);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_waits_for_us_is_alive() {
        let calls = InFlight::default();
        // It may ask before we hear that the call was sent.
        let call = calls.begin(None);
        let asking = async {
            let question = calls.ask();
            tokio::time::sleep(Duration::from_secs(3_000)).await;
            drop(question);
        };
        let minute = Duration::from_secs(60);
        let (waited, ()) = tokio::join!(seconds(call.idle(minute)), asking);
        assert_eq!(waited, 3_060);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_begins_during_a_question_waits_for_its_answer_as_well() {
        let calls = InFlight::default();
        let earlier = calls.begin(None);
        let question = calls.ask();
        let later = calls.begin(None);
        let answering = async {
            tokio::time::sleep(Duration::from_secs(300)).await;
            drop(question);
        };
        let minute = Duration::from_secs(60);
        let (earlier, later) = (seconds(earlier.idle(minute)), seconds(later.idle(minute)));
        let (earlier, later, ()) = tokio::join!(earlier, later, answering);
        assert_eq!((earlier, later), (360, 360));
    }

    #[tokio::test(start_paused = true)]
    async fn signs_of_life_do_not_lengthen_the_time_for_a_call_but_questions_do() {
        let calls = InFlight::default();
        let call = sent(&calls, 1);
        let story = async {
            tokio::time::sleep(Duration::from_secs(50)).await;
            calls.progressed(&token(1));
            tokio::time::sleep(Duration::from_secs(50)).await;
            let question = calls.ask();
            tokio::time::sleep(Duration::from_secs(3_000)).await;
            drop(question);
        };
        let limit = Duration::from_secs(600);
        let (waited, ()) = tokio::join!(seconds(call.overdue(limit)), story);
        assert_eq!(waited, 3_600);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_has_no_point_when_its_calls_are_over() {
        let calls = InFlight::default();
        let (one, other) = (sent(&calls, 1), sent(&calls, 2));
        let question = calls.ask();
        let ending = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            drop(one);
            tokio::time::sleep(Duration::from_secs(5)).await;
            drop(other);
        };
        let (waited, ()) = tokio::join!(seconds(question.is_pointless()), ending);
        assert_eq!(waited, 10);
        // One that came by itself stays.
        let question = calls.ask();
        let hour = tokio::time::timeout(Duration::from_secs(3_600), question.is_pointless());
        assert!(hour.await.is_err());
    }
}
