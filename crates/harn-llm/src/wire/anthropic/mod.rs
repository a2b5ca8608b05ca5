//! The `anthropic` wire.

use serde_json::Value;

use super::{Decode, Frame, HttpRequest, Target};
use crate::{Error, Request, StreamEvent};

/// The HTTP request for `request`.
pub(super) fn encode(_request: &Request, target: &Target) -> HttpRequest {
    HttpRequest {
        url: target.url.clone(),
        headers: target.headers.clone(),
        body: Value::Null,
    }
}

/// Reads an answer.
#[derive(Debug, Default)]
pub(super) struct Decoder;

impl Decode for Decoder {
    fn frame(&mut self, _: Frame<'_>, _: &mut Vec<StreamEvent>) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&mut self, _: &mut Vec<StreamEvent>) -> Result<(), Error> {
        Ok(())
    }

    fn whole(&mut self, _: &Value, _: &mut Vec<StreamEvent>) -> Result<(), Error> {
        Ok(())
    }
}
