//! Some lines of a file, with their numbers, without the rest of it in memory.

use std::io::{self, BufRead};

/// How far to look in a file for the lines that are wanted. That takes a second or so.
pub(crate) const LOOKED_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// What to do about bytes that are no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damaged {
    /// Fail as the standard library does.
    Refuse,
    /// Show a replacement character.
    Replace,
}

/// Which lines to show, and how much of them.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// The number of the first line, from 1.
    pub(crate) offset: u64,
    /// How many lines to show.
    pub(crate) limit: usize,
    /// A longer line is cut.
    pub(crate) line_bytes_max: usize,
    /// No line begins after this many bytes.
    pub(crate) text_bytes_max: usize,
    /// How far to go at all to find the lines and their ends. A file may be one endless line.
    pub(crate) looked_bytes_max: u64,
    /// How far to go on to count the lines that are left.
    pub(crate) counted_bytes_max: u64,
    /// What to do about bytes that are no text.
    pub(crate) damaged: Damaged,
}

/// What a window shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// Lines `N<TAB>text`.
    pub(crate) text: String,
    /// The number of the first line after those.
    pub(crate) next_line: u64,
    /// How many lines come after those.
    pub(crate) lines_left: u64,
    /// Whether there are even more, which were not counted.
    pub(crate) is_uncounted: bool,
}

/// Whether the first bytes of a file say that it is no text.
pub(crate) fn is_binary(start: &[u8]) -> bool {
    start.contains(&0)
}

impl Window {
    /// Reads a file up to its end, or to where looking or counting stops.
    ///
    /// # Errors
    /// It cannot be read, or there is nothing to show as far as one may look.
    pub(crate) fn view(&self, reader: &mut impl BufRead) -> io::Result<View> {
        let mut view = View::default();
        let mut line = Line::default();
        let mut number = 1;
        let (mut looked_bytes, mut counted_bytes) = (0, 0);
        loop {
            let chunk = reader.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            let is_counting = view.is_full(self, number);
            if is_counting && counted_bytes >= self.counted_bytes_max {
                view.is_uncounted = true;
                view.next_line = view.next_line.max(number - view.lines_left);
                return Ok(view);
            }
            if !is_counting && looked_bytes >= self.looked_bytes_max {
                return view.ended_at(number, self.looked_bytes_max);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            line.push(
                part,
                if view.shows(self, number) {
                    self.line_bytes_max
                } else {
                    0
                },
            );
            let used = part.len() + usize::from(end.is_some());
            reader.consume(used);
            looked_bytes += used as u64;
            counted_bytes += if is_counting { used as u64 } else { 0 };
            if end.is_some() {
                line.drop_carriage_return();
                view.take(self, number, &line)?;
                line = Line::default();
                number += 1;
            }
        }
        if line.bytes > 0 {
            view.take(self, number, &line)?;
        }
        Ok(view)
    }
}

impl View {
    fn is_full(&self, window: &Window, number: u64) -> bool {
        let end = window.offset.saturating_add(window.limit as u64);
        number >= end || self.text.len() > window.text_bytes_max || self.lines_left > 0
    }

    fn shows(&self, window: &Window, number: u64) -> bool {
        number >= window.offset && !self.is_full(window, number)
    }

    /// What there is to see before a line whose end is too far away.
    fn ended_at(mut self, number: u64, bytes: u64) -> io::Result<Self> {
        if self.text.is_empty() {
            let problem =
                format!("the first {bytes} bytes of it do not reach the end of line {number}");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        (self.next_line, self.is_uncounted) = (number, true);
        Ok(self)
    }

    fn take(&mut self, window: &Window, number: u64, line: &Line) -> io::Result<()> {
        if number < window.offset {
            return Ok(());
        }
        if self.is_full(window, number) {
            if self.lines_left == 0 {
                self.next_line = number;
            }
            self.lines_left += 1;
            return Ok(());
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += &format!("{number}\t{}", line.decode(window.damaged)?);
        Ok(())
    }
}

/// A line as far as it was read.
#[derive(Default)]
struct Line {
    /// Its start; the rest is only counted.
    start: Vec<u8>,
    bytes: u64,
}

impl Line {
    fn push(&mut self, part: &[u8], bytes_max: usize) {
        let room = bytes_max.saturating_sub(self.start.len());
        self.start.extend_from_slice(&part[..part.len().min(room)]);
        self.bytes += part.len() as u64;
    }

    fn drop_carriage_return(&mut self) {
        if !self.is_cut() && self.start.last() == Some(&b'\r') {
            self.start.pop();
            self.bytes -= 1;
        }
    }

    fn is_cut(&self) -> bool {
        (self.start.len() as u64) < self.bytes
    }

    fn decode(&self, damaged: Damaged) -> io::Result<String> {
        let mut start = &*self.start;
        if let Err(error) = std::str::from_utf8(start) {
            let is_cut_in_a_character = self.is_cut() && error.error_len().is_none();
            if is_cut_in_a_character {
                start = &start[..error.valid_up_to()];
            } else if damaged == Damaged::Refuse {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "stream did not contain valid UTF-8",
                ));
            }
        }
        let mut text = String::from_utf8_lossy(start).into_owned();
        if self.is_cut() {
            text += &format!("… [line cut: it has {} bytes]", self.bytes);
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    const WINDOW: Window = Window {
        offset: 1,
        limit: 10,
        line_bytes_max: 8,
        text_bytes_max: 100,
        looked_bytes_max: u64::MAX,
        counted_bytes_max: u64::MAX,
        damaged: Damaged::Replace,
    };

    #[track_caller]
    fn view(window: &Window, content: &[u8]) -> View {
        // A small buffer, so that lines are pieced together.
        window
            .view(&mut BufReader::with_capacity(3, content))
            .unwrap()
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let shown = view(&WINDOW, "1234567ü890\nshort\n".as_bytes());
        assert_eq!(
            shown.text,
            "1\t1234567… [line cut: it has 12 bytes]\n2\tshort"
        );
        let refusing = Window {
            damaged: Damaged::Refuse,
            ..WINDOW
        };
        let shown = view(&refusing, "1234567ü890".as_bytes());
        assert_eq!(shown.text, "1\t1234567… [line cut: it has 12 bytes]");
    }

    #[test]
    fn damaged_text_is_replaced_or_refused() {
        assert_eq!(view(&WINDOW, b"a\xffb").text, "1\ta\u{fffd}b");
        let refusing = Window {
            damaged: Damaged::Refuse,
            ..WINDOW
        };
        assert!(refusing.view(&mut &b"a\xffb"[..]).is_err());
        let below = Window {
            offset: 2,
            ..refusing
        };
        assert_eq!(view(&below, b"a\xffb\nc").text, "2\tc");
    }

    #[test]
    fn much_text_is_left_for_the_next_call() {
        let small = Window {
            text_bytes_max: 4,
            ..WINDOW
        };
        let shown = view(&small, b"aaa\nbbb\nccc\n");
        assert_eq!(shown.text, "1\taaa");
        assert_eq!((shown.next_line, shown.lines_left), (2, 2));
    }

    #[test]
    fn an_endless_line_is_not_followed_to_its_end() {
        let window = Window {
            looked_bytes_max: 20,
            ..WINDOW
        };
        let endless = || BufReader::new(std::io::repeat(b'a'));
        let error = window.view(&mut endless()).unwrap_err();
        let expected = "the first 20 bytes of it do not reach the end of line 1";
        assert_eq!(error.to_string(), expected);
        let after_one = window.view(&mut b"one\n".chain(endless())).unwrap();
        assert_eq!(after_one.text, "1\tone");
        assert!(after_one.is_uncounted);
        assert_eq!(after_one.next_line, 2);
        // The same where the lines are that are wanted, and not those before.
        let below = Window {
            offset: 99,
            ..window
        };
        let lines = BufReader::new(std::io::repeat(b'\n'));
        assert!(below.view(&mut { lines }).is_err());
    }

    #[test]
    fn counting_stops_in_time() {
        let window = Window {
            limit: 1,
            counted_bytes_max: 10,
            ..WINDOW
        };
        // An endless file: if counting did not stop, nor would this test.
        let endless = io::repeat(b'\n');
        let shown = window
            .view(&mut BufReader::with_capacity(4, endless))
            .unwrap();
        assert_eq!(shown.text, "1\t");
        assert!(shown.is_uncounted);
        assert_eq!((shown.next_line, shown.lines_left), (2, 10));
    }

    #[test]
    fn a_huge_line_does_not_fill_the_memory() {
        let huge = io::repeat(b'x').take(8 * 1024 * 1024);
        let shown = WINDOW.view(&mut BufReader::new(huge)).unwrap();
        assert_eq!(shown.text, "1\txxxxxxxx… [line cut: it has 8388608 bytes]");
    }
}
