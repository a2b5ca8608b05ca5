//! One JSON value per line: bytes become frames.
use super::Frame;
use crate::Error;
/// x
#[derive(Debug, Default)]
pub struct LineDecoder;
impl LineDecoder {
    /// x
    pub fn push(
        &mut self,
        _: &[u8],
        _: impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        Ok(())
    }
    /// x
    pub fn finish(&mut self, _: impl FnMut(Frame<'_>) -> Result<(), Error>) -> Result<(), Error> {
        Ok(())
    }
}
