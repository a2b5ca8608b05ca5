//! Writing and copying registers.
//!
//! A value is two words: its tag and what it holds. The processor hands a word that was just
//! written to whoever reads the same word next, but not to whoever reads both words at once,
//! who has to wait until they have reached the cache. Values that are copied as a whole would
//! make the interpreter spend most of its time on such waits, so registers are written and
//! copied word by word.

#![allow(
    unsafe_code,
    reason = "registers are written word by word; each function says what it relies on"
)]

use std::mem::MaybeUninit;

use crate::value::Value;

/// A value as two words. The first byte is the tag, the rest of the first word is anything.
pub(super) type Words = [MaybeUninit<u64>; 2];

/// The tags of the values that are written here. `#[repr(u8)]` numbers variants in order.
const NIL: u64 = 0;
const BOOL: u64 = 2;
const INT: u64 = 3;
const FLOAT: u64 = 4;

/// The words of a value. They are read one by one, which the compiler would not do by itself.
///
/// # Safety
///
/// There must be a value.
#[inline(always)]
unsafe fn words(from: *const Value) -> Words {
    // SAFETY: a value is two words, of which some bytes may be anything.
    unsafe {
        let from = from.cast::<MaybeUninit<u64>>();
        [from.read_volatile(), from.add(1).read_volatile()]
    }
}

#[inline(always)]
unsafe fn write(register: *mut Value, tag: u64, payload: u64) {
    // SAFETY: the caller says that the register may be written, and that tag and payload are
    // a value that needs no dropping.
    unsafe {
        if (*register).is_counted() {
            std::ptr::drop_in_place(register);
        }
        let words = register.cast::<u64>();
        words.write(tag);
        words.add(1).write(payload);
    }
}

/// Writes an int.
///
/// # Safety
///
/// The register must hold a value.
#[inline(always)]
pub(super) unsafe fn put_int(register: *mut Value, value: i64) {
    // SAFETY: an int holds its bits in the second word.
    unsafe { write(register, INT, value as u64) }
}

/// Writes a float.
///
/// # Safety
///
/// The register must hold a value.
#[inline(always)]
pub(super) unsafe fn put_float(register: *mut Value, value: f64) {
    // SAFETY: a float holds its bits in the second word.
    unsafe { write(register, FLOAT, value.to_bits()) }
}

/// Writes a bool.
///
/// # Safety
///
/// The register must hold a value.
#[inline(always)]
pub(super) unsafe fn put_bool(register: *mut Value, value: bool) {
    // SAFETY: a bool is the byte after the tag; both are in the first word.
    unsafe { write(register, BOOL | u64::from(value) << 8, 0) }
}

/// Writes a value.
///
/// # Safety
///
/// The register must hold a value.
#[inline(always)]
pub(super) unsafe fn put(register: *mut Value, value: Value) {
    // SAFETY: the caller says that it holds a value. Most values need no dropping, and asking
    // first is cheaper than dropping them.
    unsafe {
        if (*register).is_counted() {
            std::ptr::drop_in_place(register);
        }
        std::ptr::write(register, value);
    }
}

/// Copies a value into a register.
///
/// # Safety
///
/// Both must hold values, and the register must not be `from`.
#[inline(always)]
pub(super) unsafe fn copy(register: *mut Value, from: *const Value) {
    // SAFETY: what is not counted is its two words; what is counted is cloned.
    unsafe {
        if (*from).is_counted() {
            let value = (*from).clone();
            put(register, value);
        } else {
            let words = words(from);
            if (*register).is_counted() {
                std::ptr::drop_in_place(register);
            }
            let to = register.cast::<MaybeUninit<u64>>();
            to.write(words[0]);
            to.add(1).write(words[1]);
        }
    }
}

/// Moves a value into another register and leaves nil.
///
/// # Safety
///
/// Both must hold values.
#[inline(always)]
pub(super) unsafe fn transfer(register: *mut Value, from: *mut Value) {
    // SAFETY: as the caller says. If both are the same register it is read first and written
    // last, with nil in between.
    unsafe {
        let words = lift(from);
        give(register, words);
    }
}

/// Takes a value out of a register as words, which have to be given to [`give`]: nobody drops
/// them otherwise. The register is nil.
///
/// # Safety
///
/// The register must hold a value.
#[inline(always)]
pub(super) unsafe fn lift(from: *mut Value) -> Words {
    // SAFETY: the caller says that it holds a value, and then it holds nil.
    unsafe {
        let words = words(from);
        from.cast::<u64>().write(NIL);
        words
    }
}

/// Takes a value out of a register, which is nil then.
///
/// # Safety
///
/// The register must hold a value.
#[inline(always)]
pub(super) unsafe fn take(from: *mut Value) -> Value {
    // SAFETY: the words are a value that nobody else owns.
    unsafe { std::mem::transmute::<Words, Value>(lift(from)) }
}

/// A copy of a value.
///
/// # Safety
///
/// There must be a value.
#[inline(always)]
pub(super) unsafe fn duplicate(from: *const Value) -> Value {
    // SAFETY: what is not counted is its two words; what is counted is cloned.
    unsafe {
        match (*from).is_counted() {
            true => (*from).clone(),
            false => std::mem::transmute::<Words, Value>(words(from)),
        }
    }
}

/// Writes a value that was lifted.
///
/// # Safety
///
/// The register must hold a value, and the words must come from [`lift`], each only once.
#[inline(always)]
pub(super) unsafe fn give(register: *mut Value, words: Words) {
    // SAFETY: the words are a value that nobody else owns.
    unsafe {
        if (*register).is_counted() {
            std::ptr::drop_in_place(register);
        }
        let to = register.cast::<MaybeUninit<u64>>();
        to.write(words[0]);
        to.add(1).write(words[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tags above are the ones that the compiler of this program chose.
    #[test]
    fn what_is_written_is_what_is_read() {
        let mut register = Value::text("something that is counted and long enough");
        // SAFETY: it holds a value.
        unsafe {
            put_int(&raw mut register, -5);
            assert!(matches!(register, Value::Int(-5)));
            put_float(&raw mut register, 2.5);
            assert!(matches!(register, Value::Float(value) if value == 2.5));
            put_bool(&raw mut register, true);
            assert!(matches!(register, Value::Bool(true)));
            put_bool(&raw mut register, false);
            assert!(matches!(register, Value::Bool(false)));
        }
    }

    #[test]
    fn copies_and_moves_keep_counts() {
        let text = Value::text("x");
        let mut one = Value::list(vec![text.clone()]);
        let mut other = Value::Int(1);
        // SAFETY: both hold values.
        unsafe {
            copy(&raw mut other, &raw const one);
            assert_eq!(one, other);
            transfer(&raw mut one, &raw mut other);
            assert!(other.is_nil());
            let same = &raw mut one;
            transfer(same, same);
        }
        assert_eq!(one, Value::list(vec![text]));
        let Value::List(mut list) = one else {
            panic!("it is a list");
        };
        let before = list.address();
        list.items_mut().push(Value::Nil);
        assert_eq!(list.address(), before, "nobody else has it");
    }
}
