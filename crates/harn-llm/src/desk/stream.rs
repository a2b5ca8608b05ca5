//! `llm_stream`: the text of an answer while it comes.

use super::variants::Question;
use super::{Desk, Thrown};
use crate::StreamEvent;
use crate::mock::Mock;
use crate::options::CallOptions;

/// An answer that is about to come in pieces.
#[derive(Clone, Debug)]
pub struct StreamCall(CallOptions);

impl Desk {
    /// Reads what is asked, so that a mistake is told at once.
    ///
    /// # Errors
    /// The options are not understood.
    pub fn open_stream(&self, question: &Question) -> Result<StreamCall, Thrown> {
        self.refuse_unknown("llm_stream", question)?;
        let mut call = self.read(question)?;
        call.request.stream = true;
        // A second try would say again what was heard already.
        call.retries = 0;
        call.fallback_chain.clear();
        Ok(StreamCall(call))
    }

    /// Asks and hands on each piece of text. If that fails, the last piece begins with
    /// `error: `.
    pub async fn run_stream(&self, call: &StreamCall, mut each: impl FnMut(String) + Send) {
        let StreamCall(call) = call;
        let is_mocked = self.state().is_mocked(&call.provider);
        if is_mocked {
            return Mock::stream_words(&call.request).into_iter().for_each(each);
        }
        let mut is_heard = false;
        let mut listener = |event: &StreamEvent| {
            if let StreamEvent::TextDelta { text } = event {
                is_heard = true;
                each(text.clone());
            }
        };
        match self.ask(call, &mut listener).await {
            // A recording knows the answer and not its pieces.
            Ok(answered) if !is_heard && !answered.reply.text.is_empty() => {
                each(answered.reply.text);
            }
            Ok(_) => {}
            Err(thrown) => {
                let dict = thrown.as_dict();
                let message = dict["message"].as_str().unwrap_or_default();
                each(format!("error: {message}"));
            }
        }
    }
}
