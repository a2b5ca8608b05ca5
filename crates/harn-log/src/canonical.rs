//! JSON in the form that is hashed, of what is no JSON value yet.
//!
//! A record is hashed and stored as compact JSON with sorted keys. What an agent has to tell are
//! structs, whose fields come in the order in which somebody declared them. To make a tree of
//! values of them, sort it and write it would cost several times as much as to write them, so the
//! fields are put in order inside the text, object by object, when the object ends.

use std::cell::RefCell;
use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// Why something cannot be written.
#[derive(Debug)]
pub(crate) enum Unwritable {
    /// It is nested too deeply.
    TooDeep,
    /// It is nothing that JSON can say.
    Other(serde_json::Error),
}

/// Appends the canonical JSON of a value. What was appended before an error is of no use.
pub(crate) fn write<T: Serialize + ?Sized>(
    value: &T,
    text: &mut Vec<u8>,
    levels_max: usize,
) -> Result<(), Unwritable> {
    let shared = RefCell::new(std::mem::take(text));
    let mut serializer =
        Serializer::with_formatter(End(&shared), Sorting::new(&shared, levels_max));
    let written = value.serialize(&mut serializer);
    *text = shared.take();
    written.map_err(|error| match error.io_error_kind() {
        Some(io::ErrorKind::QuotaExceeded) => Unwritable::TooDeep,
        _ => Unwritable::Other(error),
    })
}

/// Writes at the end of the text.
struct End<'a>(&'a RefCell<Vec<u8>>);

impl io::Write for End<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Puts the fields of every object in order.
struct Sorting<'a> {
    text: &'a RefCell<Vec<u8>>,
    /// The fields so far of all objects that have not ended, inner ones after outer ones.
    fields: Vec<Field>,
    /// For each object that has not ended, where its own fields begin.
    objects: Vec<usize>,
    /// How many levels deeper it may get.
    levels_left: usize,
    is_in_key: bool,
    /// Whether there is a key that is not written as it is.
    has_escaped_key: bool,
}

/// Where in the text a field is: `"key":value`.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    colon: usize,
    end: usize,
}

impl Field {
    /// The key between its quotes.
    fn key(self, text: &[u8]) -> &[u8] {
        &text[self.start + 1..self.colon - 1]
    }

    /// The key itself.
    fn unescaped_key(self, text: &[u8]) -> String {
        let key = serde_json::from_slice(&text[self.start..self.colon]);
        key.expect("it was just written")
    }
}

impl<'a> Sorting<'a> {
    fn new(text: &'a RefCell<Vec<u8>>, levels_max: usize) -> Self {
        Self {
            text,
            fields: Vec::with_capacity(16),
            objects: Vec::with_capacity(8),
            levels_left: levels_max,
            is_in_key: false,
            has_escaped_key: false,
        }
    }

    fn at(&self) -> usize {
        self.text.borrow().len()
    }

    fn last_field(&mut self) -> &mut Field {
        self.fields.last_mut().expect("a key comes first")
    }

    fn descend(&mut self) -> io::Result<()> {
        let left = self.levels_left.checked_sub(1);
        self.levels_left = left.ok_or(io::ErrorKind::QuotaExceeded)?;
        Ok(())
    }

    /// Puts the fields of the object that ends in order. Of several with one key, the last
    /// counts.
    fn sort_last_object(&mut self) {
        let own = self.objects.pop().expect("it began");
        let mut text = self.text.borrow_mut();
        let fields = &mut self.fields[own..];
        let is_before = |pair: &[Field]| pair[0].key(&text) < pair[1].key(&text);
        let is_sorted = !self.has_escaped_key && fields.windows(2).all(is_before);
        if is_sorted || fields.len() < 2 {
            self.fields.truncate(own);
            return;
        }
        let begin = fields[0].start;
        match self.has_escaped_key {
            true => fields.sort_by_cached_key(|field| field.unescaped_key(&text)),
            false => fields.sort_by(|one, other| one.key(&text).cmp(other.key(&text))),
        }
        let mut sorted = Vec::with_capacity(text.len() - begin);
        for (at, field) in fields.iter().enumerate() {
            let next = fields.get(at + 1);
            if next.is_some_and(|next| next.key(&text) == field.key(&text)) {
                continue;
            }
            if !sorted.is_empty() {
                sorted.push(b',');
            }
            sorted.extend_from_slice(&text[field.start..field.end]);
        }
        text.truncate(begin);
        text.extend_from_slice(&sorted);
        self.fields.truncate(own);
    }
}

impl Formatter for Sorting<'_> {
    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.descend()?;
        self.objects.push(self.fields.len());
        writer.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        let start = self.at();
        self.fields.push(Field {
            start,
            colon: start,
            end: start,
        });
        self.is_in_key = true;
        Ok(())
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.is_in_key = false;
        self.last_field().colon = self.at();
        writer.write_all(b":")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.last_field().end = self.at();
        Ok(())
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.sort_last_object();
        self.levels_left += 1;
        writer.write_all(b"}")
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.descend()?;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.levels_left += 1;
        writer.write_all(b"]")
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        self.has_escaped_key |= self.is_in_key;
        serde_json::ser::CompactFormatter.write_char_escape(writer, escape)
    }

    /// As a JSON value would keep it.
    fn write_f32<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(writer, f64::from(value))
    }

    /// As a JSON value would keep it, if it can.
    fn write_u128<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: u128) -> io::Result<()> {
        let value = u64::try_from(value).map_err(|_| io::ErrorKind::InvalidData)?;
        self.write_u64(writer, value)
    }

    /// As a JSON value would keep it, if it can.
    fn write_i128<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: i128) -> io::Result<()> {
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => self.write_i64(writer, value),
            (_, Ok(value)) => self.write_u64(writer, value),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// What somebody else has written may have any order and any spaces.
    fn write_raw_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let value: Value = serde_json::from_str(fragment)?;
        let mut text = Vec::with_capacity(fragment.len());
        match write(&value, &mut text, self.levels_left) {
            Ok(()) => writer.write_all(&text),
            Err(Unwritable::TooDeep) => Err(io::ErrorKind::QuotaExceeded.into()),
            Err(Unwritable::Other(error)) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;
    use crate::provenance::write_canonical;

    fn written<T: Serialize + ?Sized>(value: &T) -> String {
        let mut text = b"before ".to_vec();
        write(value, &mut text, usize::MAX).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.strip_prefix("before ").unwrap().to_owned()
    }

    /// What becomes of a value that is made into JSON first.
    fn by_detour<T: Serialize + ?Sized>(value: &T) -> String {
        let mut text = String::new();
        write_canonical(&serde_json::to_value(value).unwrap(), &mut text);
        text
    }

    #[derive(Serialize)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Shape {
        Round { radius: f64, about: Option<u8> },
        Dot,
    }

    #[derive(Serialize)]
    struct Drawing<'a> {
        title: &'a str,
        shapes: Vec<Shape>,
        #[serde(flatten)]
        shape: Shape,
        sizes: (f32, i128, u128),
        notes: BTreeMap<u8, char>,
        #[serde(skip_serializing_if = "Option::is_none")]
        nothing: Option<()>,
        raw: Box<RawValue>,
        last: (),
    }

    #[test]
    fn fields_come_in_the_order_of_their_keys_at_every_level() {
        let drawing = Drawing {
            title: "q\"uote \u{1} ä",
            shapes: vec![
                Shape::Round {
                    radius: 1e300,
                    about: None,
                },
                Shape::Dot,
            ],
            shape: Shape::Round {
                radius: f64::NAN,
                about: Some(3),
            },
            sizes: (0.1, -5, u128::from(u64::MAX)),
            notes: BTreeMap::from([(10, 'x'), (9, '\n')]),
            nothing: None,
            raw: RawValue::from_string(r#"{ "b" : 1.50, "a": [ {"d":1,"c":2} ] }"#.to_owned())
                .unwrap(),
            last: (),
        };
        let expected = concat!(
            r#"{"about":3,"kind":"round","last":null,"notes":{"10":"x","9":"\n"},"radius":null,"#,
            r#""raw":{"a":[{"c":2,"d":1}],"b":1.5},"#,
            r#""shapes":[{"about":null,"kind":"round","radius":1e+300},{"kind":"dot"}],"#,
            r#""sizes":[0.10000000149011612,-5,18446744073709551615],"#,
            r#""title":"q\"uote \u0001 ä"}"#
        );
        assert_eq!(written(&drawing), expected);
        assert_eq!(by_detour(&drawing), expected);
    }

    #[test]
    fn keys_are_ordered_as_they_are_and_not_as_they_are_written() {
        // Written, the first begins with a backslash and would come last.
        let value = json!({"a": 1, "\n": 2, "Z": {"\"": 1, "!": 2}});
        assert_eq!(written(&value), r#"{"\n":2,"Z":{"!":2,"\"":1},"a":1}"#);
    }

    #[test]
    fn of_several_fields_with_one_key_the_last_counts() {
        struct Twice;
        impl Serialize for Twice {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map([("b", 1), ("a", 2), ("b", 3), ("a", 4)])
            }
        }
        assert_eq!(written(&Twice), r#"{"a":4,"b":3}"#);
        assert_eq!(by_detour(&Twice), r#"{"a":4,"b":3}"#);
    }

    #[test]
    fn what_is_too_deep_or_no_json_is_refused() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({"n": [inner]}));
        let write = |value: &Value| write(value, &mut Vec::new(), 4);
        assert!(write(&nested(2)).is_ok());
        assert!(
            write(&json!([[], [[[]]]])).is_ok(),
            "side by side is not deep"
        );
        assert!(matches!(write(&nested(3)), Err(Unwritable::TooDeep)));
        let raw = RawValue::from_string("[[[[[]]]]]".to_owned()).unwrap();
        let deep = super::write(&raw, &mut Vec::new(), 4);
        assert!(matches!(deep, Err(Unwritable::TooDeep)));
        let huge = super::write(&u128::MAX, &mut Vec::new(), 4);
        assert!(matches!(huge, Err(Unwritable::Other(_))));
        let by_pairs = super::write(&BTreeMap::from([((1, 2), 3)]), &mut Vec::new(), 4);
        assert!(matches!(by_pairs, Err(Unwritable::Other(_))));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaves = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaves.prop_recursive(4, 40, 6, |inner| {
            let keys = prop_oneof!["[a-c_\"\\\\\n]{0,3}", any::<String>()];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((keys, inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_is_written_as_it_is_hashed_when_it_is_read_again(value in values()) {
            let text = written(&value);
            prop_assert_eq!(&text, &by_detour(&value));
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&text, &by_detour(&read));
        }
    }
}
