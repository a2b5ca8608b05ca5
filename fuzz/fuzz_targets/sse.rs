//! However a stream is cut into chunks, its events are those that the standard says.

#![no_main]

use harn_llm::wire::sse::SseDecoder;

/// Names and data of the events.
type Events = Vec<(String, String)>;

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Events {
    let mut decoder = SseDecoder::default();
    let mut events = Events::new();
    for chunk in chunks {
        let fed = decoder.push(chunk, |frame| {
            events.push((frame.event.to_owned(), frame.data.to_owned()));
            Ok(())
        });
        fed.expect("the input is small and nobody complains");
    }
    events
}

/// The standard, word by word and without haste.
fn as_the_standard_says(bytes: &[u8]) -> Events {
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes));
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut events, mut name, mut data) = (Events::new(), String::new(), String::new());
    // What comes after the last end of a line is no line.
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop();
    for line in lines {
        if line.is_empty() {
            if data.pop().is_some() {
                events.push((name.clone(), data.clone()));
            }
            name.clear();
            data.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut name),
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            _ => {}
        }
    }
    events
}

harn_fuzz::target!(|bytes| {
    let expected = as_the_standard_says(bytes);
    assert_eq!(decode([bytes]), expected, "in one chunk");
    assert_eq!(decode(bytes.chunks(1)), expected, "byte by byte");
    assert_eq!(decode(bytes.chunks(7)), expected, "in chunks of seven");
});
