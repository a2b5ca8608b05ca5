//! Events out of the octets of a stream.
//!
//! ```text
//! octets ─► lines (LF, CR LF or CR) ─► fields ─► an event at every empty line
//! ```

/// An event as a server sent it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Its name; `None`: `message`.
    pub(super) event: Option<String>,
    pub(super) data: String,
    pub(super) id: Option<String>,
    pub(super) retry_ms: Option<i64>,
}

/// An event is larger than allowed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Takes octets and gives events.
#[derive(Debug)]
pub(super) struct Parser {
    octets: Vec<u8>,
    /// Where the line begins that is not complete.
    start: usize,
    /// How far the search for its end has come.
    searched: usize,
    /// Whether a line feed that comes next belongs to the line before.
    follows_return: bool,
    is_begun: bool,
    event: Event,
    has_data: bool,
    bytes_max: usize,
}

impl Parser {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            octets: Vec::new(),
            start: 0,
            searched: 0,
            follows_return: false,
            is_begun: false,
            event: Event::default(),
            has_data: false,
            bytes_max,
        }
    }

    /// Takes what has arrived.
    pub(super) fn push(&mut self, octets: &[u8]) {
        self.octets.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.octets.extend_from_slice(octets);
    }

    /// The next event that is complete.
    pub(super) fn next(&mut self) -> Result<Option<Event>, TooLarge> {
        while let Some(line) = self.line() {
            if let Some(event) = self.take(&line)? {
                return Ok(Some(event));
            }
        }
        match self.octets.len() - self.start > self.bytes_max {
            true => Err(TooLarge),
            false => Ok(None),
        }
    }

    /// The next line without its end.
    fn line(&mut self) -> Option<String> {
        if self.follows_return && self.octets.get(self.start) == Some(&b'\n') {
            self.start += 1;
            self.searched = self.searched.max(self.start);
        }
        if self.start < self.octets.len() {
            self.follows_return = false;
        }
        let rest = &self.octets[self.searched..];
        let Some(at) = rest.iter().position(|octet| matches!(octet, b'\n' | b'\r')) else {
            self.searched = self.octets.len();
            return None;
        };
        let end = self.searched + at;
        let mut line = &self.octets[self.start..end];
        if !self.is_begun {
            self.is_begun = true;
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        let line = String::from_utf8_lossy(line).into_owned();
        self.follows_return = self.octets[end] == b'\r';
        self.start = end + 1;
        self.searched = self.start;
        Some(line)
    }

    /// Takes a line; an empty one completes an event.
    fn take(&mut self, line: &str) -> Result<Option<Event>, TooLarge> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            let is_one = std::mem::take(&mut self.has_data);
            return Ok(is_one.then_some(event));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event.event = Some(value.to_owned()).filter(|name| !name.is_empty()),
            "data" => {
                let data = &mut self.event.data;
                if self.has_data {
                    data.push('\n');
                }
                data.push_str(value);
                self.has_data = true;
                if data.len() > self.bytes_max {
                    return Err(TooLarge);
                }
            }
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" if value.bytes().all(|octet| octet.is_ascii_digit()) => {
                self.event.retry_ms = value.parse().ok();
            }
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of all events, however the text is cut into pieces.
    fn parsed(text: &str) -> Vec<Event> {
        let whole = in_pieces(text, text.len());
        for size in 1..text.len() {
            assert_eq!(in_pieces(text, size), whole, "in pieces of {size}");
        }
        whole
    }

    fn in_pieces(text: &str, size: usize) -> Vec<Event> {
        let mut parser = Parser::new(1000);
        let mut events = Vec::new();
        for piece in text.as_bytes().chunks(size.max(1)) {
            parser.push(piece);
            while let Some(event) = parser.next().unwrap() {
                events.push(event);
            }
        }
        events
    }

    #[test]
    fn lines_end_in_three_ways() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "event: a\ndata: 1\ndata:2\nid: 7\nretry: 50\n\n: note\ndata\n\ndata: x\n\n";
            let events = parsed(&text.replace('\n', end));
            let first = Event {
                event: Some("a".to_owned()),
                data: "1\n2".to_owned(),
                id: Some("7".to_owned()),
                retry_ms: Some(50),
            };
            assert_eq!(events.len(), 3, "{end:?}");
            assert_eq!(events[0], first);
            assert_eq!(events[1], Event::default());
            assert_eq!(events[2].data, "x");
        }
    }

    #[test]
    fn what_has_no_data_is_no_event() {
        assert_eq!(parsed("event: a\n\nid: 1\n\n: hello\n\n"), []);
    }

    #[test]
    fn a_mark_at_the_beginning_is_skipped() {
        assert_eq!(parsed("\u{feff}data: é\n\n")[0].data, "é");
    }

    #[test]
    fn an_event_that_never_ends_is_too_large() {
        let mut parser = Parser::new(10);
        parser.push(b"data: 12345\n");
        assert_eq!(parser.next(), Ok(None));
        parser.push(b"data: 67890\n");
        assert_eq!(parser.next(), Err(TooLarge));
        let mut parser = Parser::new(10);
        parser.push(b"data: 1234567");
        assert_eq!(parser.next(), Err(TooLarge));
    }
}
