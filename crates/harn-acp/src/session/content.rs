//! What somebody wrote, block by block.

use serde_json::{Value, json};

use crate::error::Refusal;

/// What somebody wrote.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    /// Its text, as the program gets it.
    pub(crate) text: String,
}

impl Prompt {
    /// Reads the blocks of a prompt.
    ///
    /// # Errors
    /// It is no list of blocks, or one of them is of a kind that was not offered.
    pub(crate) fn read(blocks: &Value) -> Result<Self, Refusal> {
        let Some(blocks) = blocks.as_array() else {
            return Err(Refusal::bad_parameters(
                "`prompt` has to be a list of blocks",
            ));
        };
        let texts = blocks.iter().enumerate().map(|(index, block)| {
            text(block).ok_or_else(|| {
                let kind = block["type"].as_str().unwrap_or("nothing");
                let why = format!("block {index} of `prompt` is of a kind we cannot take: {kind}");
                Refusal::bad_parameters(why).with(json!({"block": index}))
            })
        });
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            text: texts.join("\n\n"),
        })
    }
}

/// A block as text; nothing if it is none we take.
fn text(block: &Value) -> Option<String> {
    match block["type"].as_str()? {
        "text" => Some(block["text"].as_str()?.to_owned()),
        "resource_link" => Some(format!(
            "[{}]({})",
            block["name"].as_str()?,
            block["uri"].as_str()?
        )),
        "resource" => {
            let resource = &block["resource"];
            let (uri, text) = (resource["uri"].as_str()?, resource["text"].as_str()?);
            Some(format!("<context uri=\"{uri}\">\n{text}\n</context>"))
        }
        _ => None,
    }
}
