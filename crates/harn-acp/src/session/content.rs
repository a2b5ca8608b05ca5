//! What somebody wrote, block by block.
//!
//! A program gets one text. Links stay links, and what came along is put behind a line that
//! says where it is from, so that the model can tell it from what the person wrote.

use serde_json::{Value, json};

use crate::error::Refusal;

/// What somebody wrote.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    /// Its text, as the program gets it.
    pub(crate) text: String,
    /// Its blocks, as they were sent.
    pub(crate) blocks: Vec<Value>,
}

impl Prompt {
    /// Reads the blocks of a prompt.
    ///
    /// # Errors
    /// It is no list of blocks, or one of them is of a kind that was not offered or not what
    /// it says it is; the error names the block.
    pub(crate) fn read(blocks: &Value) -> Result<Self, Refusal> {
        let Some(blocks) = blocks.as_array() else {
            let why = "`prompt` has to be a list of blocks";
            return Err(Refusal::bad_parameters(why));
        };
        let texts = blocks.iter().enumerate().map(|(index, block)| {
            text(block).map_err(|why| {
                let why = format!("block {index} of `prompt` {why}");
                Refusal::bad_parameters(why).with(json!({"block": index}))
            })
        });
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        if texts.iter().all(|text| text.trim().is_empty()) {
            return Err(Refusal::bad_parameters("`prompt` is empty"));
        }
        Ok(Self {
            text: texts.join("\n\n"),
            blocks: blocks.clone(),
        })
    }

    /// The command that it begins with and the rest of its text, if it begins with one.
    pub(crate) fn command(&self) -> Option<(&str, &str)> {
        let rest = self.text.strip_prefix('/')?;
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (name, arguments) = rest.split_at(end);
        (!name.is_empty()).then(|| (name, arguments.trim_start()))
    }
}

/// A block as text, or what is wrong with it.
fn text(block: &Value) -> Result<String, String> {
    let kind = block["type"].as_str().unwrap_or_default();
    let read = match kind {
        "text" => block["text"].as_str().map(str::to_owned),
        "resource_link" => link(block),
        "resource" => embedded(&block["resource"]),
        "" => return Err("has no `type`".to_owned()),
        other => return Err(format!("is of the kind `{other}`, which was not offered")),
    };
    read.ok_or_else(|| format!("is no `{kind}`"))
}

/// A link is passed on as one; whoever wants to know what it says uses a tool.
fn link(block: &Value) -> Option<String> {
    let (name, uri) = (block["name"].as_str()?, block["uri"].as_str()?);
    let title = block["title"].as_str().unwrap_or(name);
    Some(format!("[{title}]({uri})"))
}

fn embedded(resource: &Value) -> Option<String> {
    let uri = resource["uri"].as_str()?;
    if let Some(text) = resource["text"].as_str() {
        return Some(format!("<resource uri=\"{uri}\">\n{text}\n</resource>"));
    }
    let bytes = resource["blob"].as_str()?.len() / 4 * 3;
    Some(format!("[about {bytes} bytes that are no text]({uri})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(blocks: Value, expected: &str) {
        assert_eq!(Prompt::read(&blocks).unwrap().text, expected);
    }

    #[track_caller]
    fn check_refused(blocks: Value, expected: &str, block: Value) {
        let refusal = Prompt::read(&blocks).unwrap_err();
        assert_eq!((refusal.code, &*refusal.message), (-32602, expected));
        assert_eq!(refusal.data.unwrap_or_default()["block"], block);
    }

    #[test]
    fn texts_links_and_resources_become_one_text() {
        check(json!([{"type": "text", "text": "Hi"}]), "Hi");
        check(
            json!([
                {"type": "text", "text": "Look at"},
                {"type": "resource_link", "name": "a.rs", "uri": "file:///a.rs"},
                {"type": "resource", "resource": {"uri": "file:///b", "text": "b\n"}},
            ]),
            "Look at\n\n[a.rs](file:///a.rs)\n\n<resource uri=\"file:///b\">\nb\n\n</resource>",
        );
        let blob = json!({"uri": "file:///c", "blob": "AAAA"});
        let blob = json!([{"type": "resource", "resource": blob}]);
        check(blob, "[about 3 bytes that are no text](file:///c)");
    }

    #[test]
    fn the_block_that_is_wrong_is_named() {
        check_refused(
            json!("Hi"),
            "`prompt` has to be a list of blocks",
            json!(null),
        );
        check_refused(json!([]), "`prompt` is empty", json!(null));
        let image = json!([{"type": "text", "text": "x"}, {"type": "image", "data": "AA=="}]);
        let why = "block 1 of `prompt` is of the kind `image`, which was not offered";
        check_refused(image, why, json!(1));
        let text = json!([{"type": "text"}]);
        check_refused(text, "block 0 of `prompt` is no `text`", json!(0));
        check_refused(json!([{}]), "block 0 of `prompt` has no `type`", json!(0));
    }

    #[test]
    fn a_command_is_a_slash_and_a_name() {
        let prompt = |text: &str| Prompt {
            text: text.to_owned(),
            blocks: Vec::new(),
        };
        assert_eq!(prompt("/fix  a b").command(), Some(("fix", "a b")));
        assert_eq!(prompt("/fix").command(), Some(("fix", "")));
        assert_eq!(prompt("/ fix").command(), None);
        assert_eq!(prompt("fix /it").command(), None);
    }
}
