//! Server-sent events: bytes become frames.
use super::Frame;
use crate::Error;
/// x
#[derive(Debug, Default)]
pub struct SseDecoder;
impl SseDecoder {
    /// x
    pub fn push(
        &mut self,
        _: &[u8],
        _: impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        Ok(())
    }
}
