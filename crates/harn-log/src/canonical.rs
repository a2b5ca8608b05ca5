//! JSON in the form that is hashed, of what is no JSON value yet.
//!
//! A record is hashed and stored as compact JSON with sorted keys. What an agent has to tell are
//! structs, whose fields come in the order in which somebody declared them. To make a tree of
//! values of them, sort it and write it would cost several times as much as to write them, so the
//! fields are put in order inside the text, object by object, when the object ends.

use std::cmp::Ordering;
use std::fmt::Display;

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Value;

use crate::record::is_plain_text;

/// How `serde_json` names a struct whose one field is JSON that somebody else has written.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Why something cannot be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unwritable {
    /// It is nested too deeply.
    #[error("it is nested too deeply")]
    TooDeep,
    /// It is nothing that JSON can say.
    #[error(transparent)]
    Other(#[from] serde_json::Error),
}

impl serde::ser::Error for Unwritable {
    fn custom<T: Display>(problem: T) -> Self {
        Self::Other(serde::ser::Error::custom(problem))
    }
}

type Written = Result<(), Unwritable>;

/// Appends the canonical JSON of a value. What was appended before an error is of no use.
pub(crate) fn write<T: Serialize + ?Sized>(
    value: &T,
    text: &mut String,
    levels_max: usize,
) -> Written {
    value.serialize(&mut Writer {
        text,
        fields: Vec::with_capacity(16),
        levels_left: levels_max,
        is_last_plain: true,
        has_escaped_key: false,
    })
}

/// Writes values at the end of a text.
struct Writer<'a> {
    text: &'a mut String,
    /// The fields so far of all objects that have not ended, inner ones after outer ones.
    fields: Vec<Field>,
    /// How many levels deeper it may get.
    levels_left: usize,
    /// Whether the last text is written as it is.
    is_last_plain: bool,
    /// Whether there is a key that is not written as it is.
    has_escaped_key: bool,
}

/// Where in the text a field is: `"key":value`.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    colon: usize,
    end: usize,
    /// The first bytes of the key as a number, by which most keys can be told apart.
    prefix: u64,
}

impl Field {
    fn starting(start: usize) -> Self {
        Self {
            start,
            colon: start,
            end: start,
            prefix: 0,
        }
    }

    /// Notes that the key is complete.
    fn end_key(&mut self, text: &str) {
        self.colon = text.len();
        let mut prefix = [0; 8];
        let key = self.key(text).as_bytes();
        let length = key.len().min(prefix.len());
        prefix[..length].copy_from_slice(&key[..length]);
        self.prefix = u64::from_be_bytes(prefix);
    }

    /// The order of two keys as they are written.
    fn order(self, other: Self, text: &str) -> Ordering {
        let by_prefix = self.prefix.cmp(&other.prefix);
        by_prefix.then_with(|| self.key(text).cmp(other.key(text)))
    }

    /// The key between its quotes.
    fn key(self, text: &str) -> &str {
        &text[self.start + 1..self.colon - 1]
    }

    /// The key itself.
    fn unescaped_key(self, text: &str) -> String {
        let key = serde_json::from_str(&text[self.start..self.colon]);
        key.expect("it was just written")
    }
}

impl<'a> Writer<'a> {
    fn word(&mut self, word: &str) -> Written {
        self.text.push_str(word);
        Ok(())
    }

    fn whole_number(&mut self, number: u64) -> Written {
        self.word(itoa::Buffer::new().format(number))
    }

    fn quoted(&mut self, text: &str) -> Written {
        self.is_last_plain = is_plain_text(text);
        if !self.is_last_plain {
            return self.word(&serde_json::to_string(text)?);
        }
        self.text.reserve(text.len() + 2);
        self.text.push('"');
        self.text.push_str(text);
        self.text.push('"');
        Ok(())
    }

    fn descend(&mut self) -> Written {
        let left = self.levels_left.checked_sub(1);
        self.levels_left = left.ok_or(Unwritable::TooDeep)?;
        Ok(())
    }

    fn list<'w>(&'w mut self, end: End) -> Result<List<'w, 'a>, Unwritable> {
        self.descend()?;
        self.text.push('[');
        Ok(List {
            writer: self,
            is_empty: true,
            end,
        })
    }

    fn object<'w>(&'w mut self, end: End) -> Result<Object<'w, 'a>, Unwritable> {
        self.descend()?;
        self.text.push('{');
        let own = self.fields.len();
        Ok(Object {
            writer: self,
            own,
            end,
            is_raw: false,
        })
    }

    /// Begins an object whose one field says which variant of an enum its value is.
    fn variant(&mut self, name: &str) -> Written {
        self.descend()?;
        self.text.push('{');
        self.quoted(name)?;
        self.text.push(':');
        Ok(())
    }

    fn ascend(&mut self, bracket: char, end: End) -> Written {
        self.text.push(bracket);
        self.levels_left += 1;
        if end == End::OfVariant {
            self.text.push('}');
            self.levels_left += 1;
        }
        Ok(())
    }

    /// JSON that somebody else has written, in any order and with any spaces.
    fn raw<T: Serialize + ?Sized>(&mut self, raw: &T) -> Written {
        let mut quoted = String::new();
        write(raw, &mut quoted, 0)?;
        let raw: String = serde_json::from_str(&quoted)?;
        let value: Value = serde_json::from_str(&raw)?;
        write(&value, self.text, self.levels_left)
    }
}

/// What ends with a list or an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Itself.
    OfItself,
    /// Also the object that says which variant it is.
    OfVariant,
}

impl<'w, 'a> Serializer for &'w mut Writer<'a> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = List<'w, 'a>;
    type SerializeTuple = List<'w, 'a>;
    type SerializeTupleStruct = List<'w, 'a>;
    type SerializeTupleVariant = List<'w, 'a>;
    type SerializeMap = Object<'w, 'a>;
    type SerializeStruct = Object<'w, 'a>;
    type SerializeStructVariant = Object<'w, 'a>;

    fn serialize_bool(self, value: bool) -> Written {
        self.word(if value { "true" } else { "false" })
    }

    fn serialize_i8(self, value: i8) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Written {
        if value < 0 {
            self.text.push('-');
        }
        self.whole_number(value.unsigned_abs())
    }

    fn serialize_i128(self, value: i128) -> Written {
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => self.serialize_i64(value),
            (_, Ok(value)) => self.whole_number(value),
            _ => Err(serde::ser::Error::custom("number out of range")),
        }
    }

    fn serialize_u8(self, value: u8) -> Written {
        self.whole_number(value.into())
    }

    fn serialize_u16(self, value: u16) -> Written {
        self.whole_number(value.into())
    }

    fn serialize_u32(self, value: u32) -> Written {
        self.whole_number(value.into())
    }

    fn serialize_u64(self, value: u64) -> Written {
        self.whole_number(value)
    }

    fn serialize_u128(self, value: u128) -> Written {
        match u64::try_from(value) {
            Ok(value) => self.whole_number(value),
            Err(_) => Err(serde::ser::Error::custom("number out of range")),
        }
    }

    /// As a JSON value would keep it.
    fn serialize_f32(self, value: f32) -> Written {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Written {
        self.word(&serde_json::to_string(&value)?)
    }

    fn serialize_char(self, value: char) -> Written {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Written {
        self.quoted(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Written {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Written {
        self.word("null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.word("null")
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Written {
        self.word("null")
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Written {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        self.variant(variant)?;
        value.serialize(&mut *self)?;
        self.ascend('}', End::OfItself)
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<List<'w, 'a>, Unwritable> {
        self.list(End::OfItself)
    }

    fn serialize_tuple(self, _length: usize) -> Result<List<'w, 'a>, Unwritable> {
        self.list(End::OfItself)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> Result<List<'w, 'a>, Unwritable> {
        self.list(End::OfItself)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<List<'w, 'a>, Unwritable> {
        self.variant(variant)?;
        self.list(End::OfVariant)
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Object<'w, 'a>, Unwritable> {
        self.object(End::OfItself)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _length: usize,
    ) -> Result<Object<'w, 'a>, Unwritable> {
        if name == RAW_VALUE {
            return Ok(Object {
                own: self.fields.len(),
                writer: self,
                end: End::OfItself,
                is_raw: true,
            });
        }
        self.object(End::OfItself)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Object<'w, 'a>, Unwritable> {
        self.variant(variant)?;
        self.object(End::OfVariant)
    }
}

/// A list that is being written.
struct List<'w, 'a> {
    writer: &'w mut Writer<'a>,
    is_empty: bool,
    end: End,
}

impl List<'_, '_> {
    fn item<T: Serialize + ?Sized>(&mut self, item: &T) -> Written {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.writer.text.push(',');
        }
        item.serialize(&mut *self.writer)
    }

    fn finish(self) -> Written {
        self.writer.ascend(']', self.end)
    }
}

/// An object that is being written.
struct Object<'w, 'a> {
    writer: &'w mut Writer<'a>,
    /// Where its own fields begin.
    own: usize,
    end: End,
    /// Whether it is none, but JSON that somebody else has written.
    is_raw: bool,
}

impl Object<'_, '_> {
    /// Begins a field, of which the key comes next.
    fn begin(&mut self) {
        if self.writer.fields.len() > self.own {
            self.writer.text.push(',');
        }
        let start = self.writer.text.len();
        self.writer.fields.push(Field::starting(start));
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        let field = self.writer.fields.last_mut();
        field.expect("a key comes first").end_key(self.writer.text);
        self.writer.text.push(':');
        value.serialize(&mut *self.writer)?;
        let field = self.writer.fields.last_mut();
        field.expect("a key comes first").end = self.writer.text.len();
        Ok(())
    }

    fn named<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Written {
        if self.is_raw {
            return self.writer.raw(value);
        }
        self.begin();
        self.writer.quoted(name)?;
        self.writer.has_escaped_key |= !self.writer.is_last_plain;
        self.value(value)
    }

    /// Writes a key, which may be anything that a text can stand for.
    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        self.begin();
        let start = self.writer.text.len();
        key.serialize(&mut *self.writer)?;
        let text = &mut *self.writer.text;
        match text.as_bytes()[start] {
            b'"' => self.writer.has_escaped_key |= !self.writer.is_last_plain,
            b'-' | b'0'..=b'9' | b't' | b'f' => {
                text.insert(start, '"');
                text.push('"');
            }
            _ => return Err(serde::ser::Error::custom("key must be a string")),
        }
        Ok(())
    }

    fn finish(self) -> Written {
        if self.is_raw {
            return Ok(());
        }
        self.writer.sort_from(self.own);
        self.writer.ascend('}', self.end)
    }
}

impl Writer<'_> {
    /// Puts the fields of the object that ends in order. Of several with one key, the last
    /// counts.
    fn sort_from(&mut self, own: usize) {
        let text = &mut *self.text;
        let fields = &mut self.fields[own..];
        let is_before = |pair: &[Field]| pair[0].order(pair[1], text).is_lt();
        let is_sorted = !self.has_escaped_key && fields.windows(2).all(is_before);
        if is_sorted || fields.len() < 2 {
            self.fields.truncate(own);
            return;
        }
        let begin = fields[0].start;
        match self.has_escaped_key {
            true => fields.sort_by_cached_key(|field| field.unescaped_key(text)),
            false => fields.sort_by(|one, other| one.order(*other, text)),
        }
        // Behind what is there, and then over it.
        let end = text.len();
        for (at, field) in fields.iter().enumerate() {
            let next = fields.get(at + 1);
            if next.is_some_and(|next| next.order(*field, text).is_eq()) {
                continue;
            }
            if text.len() > end {
                text.push(',');
            }
            text.extend_from_within(field.start..field.end);
        }
        text.drain(begin..end);
        self.fields.truncate(own);
    }
}

impl SerializeSeq for List<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Written {
        self.item(item)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

impl SerializeTuple for List<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Written {
        self.item(item)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

impl SerializeTupleStruct for List<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> Written {
        self.item(item)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

impl SerializeTupleVariant for List<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> Written {
        self.item(item)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

impl SerializeMap for Object<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.value(value)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

impl SerializeStruct for Object<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Written {
        self.named(name, value)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

impl SerializeStructVariant for Object<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Written {
        self.named(name, value)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

#[cfg(test)]
mod tests;
