//! `llm_stream`: the text of an answer while it comes.

use super::variants::Question;
use super::{Desk, Thrown};
use crate::StreamEvent;
use crate::mock::Mock;

impl Desk {
    /// Asks and hands on each piece of text. What cannot be asked at all is an error; what
    /// fails later is a last piece that begins with `error: `.
    ///
    /// # Errors
    /// The options are not understood.
    pub async fn stream(
        &self,
        question: &Question,
        each: &mut (dyn FnMut(String) + Send),
    ) -> Result<(), Thrown> {
        let mut call = self.read(question)?;
        call.request.stream = true;
        if self.state().mock.intercepts(&call.provider) {
            Mock::stream_words(&call.request).into_iter().for_each(each);
            return Ok(());
        }
        // A second try would say again what was heard already.
        call.retries = 0;
        call.fallback_chain.clear();
        let mut listener = |event: &StreamEvent| {
            if let StreamEvent::TextDelta { text } = event {
                each(text.clone());
            }
        };
        let asked = self.ask(&call, &mut listener).await;
        if let Err(thrown) = asked {
            let dict = thrown.as_dict();
            each(format!("error: {}", dict["message"].as_str().unwrap_or_default()));
        }
        Ok(())
    }
}
