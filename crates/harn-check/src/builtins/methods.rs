//! The methods that values have from the start, by what has them.
//!
//! Nothing is checked against these: what the checker infers for a method follows from its
//! name alone. They are for whoever wants to know or is about to type one.

/// A method that values of a kind have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its declaration in Harn, without the receiver.
    pub signature: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it does, in a sentence.
    pub doc: &'static str,
}

impl Method {
    /// Its name.
    pub fn name(&self) -> &'static str {
        let end = self.signature.find('(').unwrap_or(self.signature.len());
        &self.signature[..end]
    }
}

/// The methods of each kind of value, both sorted by name.
pub fn methods() -> &'static [(&'static str, &'static [Method])] {
    &[
        ("dict", DICT),
        ("iter", ITER),
        ("list", LIST),
        ("range", RANGE),
        ("set", SET),
        ("string", STRING),
    ]
}

macro_rules! methods {
    ($($signature:literal $([$($alias:literal)*])? $doc:literal;)*) => {
        &[$(Method { signature: $signature, aliases: &[$($($alias),*)?], doc: $doc },)*]
    };
}

const STRING: &[Method] = methods! {
    "char_at(index: int) -> string | nil" "Gives the character at a position, or nil.";
    "chars() -> list<string>" "Lists the characters.";
    "contains(part: string) -> bool" "Tells whether a text occurs in it.";
    "count() -> int" ["len"] "Counts the characters.";
    "empty() -> bool" "Tells whether there is no character.";
    "ends_with(part: string) -> bool" "Tells whether it ends with a text.";
    "index_of(part: string) -> int" "Gives the position of a text, or -1.";
    "iter() -> iter<string>" "Makes an iterator over the characters.";
    "last_index_of(part: string) -> int" "Gives the last position of a text, or -1.";
    "lines() -> list<string>" "Lists the lines, without their ends.";
    "lowercase() -> string" ["lower" "to_lower"] "Gives it in lower case.";
    r#"pad_left(width: int, fill: string = " ") -> string"# "Fills it from the left up to a width.";
    r#"pad_right(width: int, fill: string = " ") -> string"# "Fills it from the right up to a width.";
    "repeat(times: int = 1) -> string" "Gives it several times in a row.";
    "replace(old: string, new: string) -> string" "Replaces every occurrence of a text.";
    "reverse() -> string" "Gives it backwards.";
    r#"split(separator: string = ",") -> list<string>"# "Lists the parts between separators.";
    "starts_with(part: string) -> bool" "Tells whether it starts with a text.";
    "substring(start: int = 0, end: int | nil = nil) -> string" "Gives the characters from a position up to another.";
    "trim() -> string" "Removes white space from both ends.";
    "trim_end() -> string" "Removes white space from the end.";
    "trim_start() -> string" "Removes white space from the start.";
    "uppercase() -> string" ["upper" "to_upper"] "Gives it in upper case.";
};

const LIST: &[Method] = methods! {
    "all(f: closure) -> bool" ["every"] "Tells whether a function is true for every item.";
    "any(f: closure) -> bool" "Tells whether a function is true for an item.";
    "chunk(size: int = 1) -> list<list>" ["each_slice"] "Cuts it into lists of a size.";
    "compact() -> list" "Leaves out what is nil.";
    "contains(value: any) -> bool" "Tells whether a value is in it.";
    "count() -> int" "Counts the items.";
    "empty() -> bool" "Tells whether there is no item.";
    "enumerate() -> list<dict>" "Lists the items as `{index, value}`.";
    "filter(f: closure) -> list" "Keeps the items for which a function is true.";
    "find(f: closure) -> any" "Gives the first item for which a function is true, or nil.";
    "find_index(f: closure) -> int" "Gives the position of the first item for which a function is true, or -1.";
    "first(count: int | nil = nil) -> any" "Gives the first item, or a list of the first ones.";
    "flat_map(f: closure) -> list" "Joins the lists that a function makes of the items.";
    "flatten() -> list" "Joins the lists in it, one level deep.";
    "group_by(f: closure) -> dict" "Groups the items by what a function makes of them.";
    "index_of(value: any) -> int" "Gives the position of a value, or -1.";
    "iter() -> iter" "Makes an iterator over the items.";
    r#"join(separator: string = "") -> string"# "Joins the items to a text.";
    "last(count: int | nil = nil) -> any" "Gives the last item, or a list of the last ones.";
    "map(f: closure) -> list" "Lists what a function makes of the items.";
    "max() -> any" "Gives the largest item, or nil.";
    "max_by(f: closure) -> any" "Gives the item of which a function makes the largest value, or nil.";
    "min() -> any" "Gives the smallest item, or nil.";
    "min_by(f: closure) -> any" "Gives the item of which a function makes the smallest value, or nil.";
    "none(f: closure) -> bool" "Tells whether a function is true for no item.";
    "partition(f: closure) -> list<list>" "Gives the items for which a function is true, and the others.";
    "pop() -> list" "Gives the list without its last item.";
    "push(value: any) -> list" "Gives the list with a value at its end.";
    "reduce(initial: any, f: closure) -> any" "Combines the items from left to right.";
    "reverse() -> list" "Gives the items backwards.";
    "skip(count: int = 0) -> list" "Leaves out the first items.";
    "slice(start: int = 0, end: int | nil = nil) -> list" "Gives the items from a position up to another.";
    "sort() -> list" "Sorts the items.";
    "sort_by(f: closure) -> list" "Sorts the items by what a function makes of them.";
    "sum() -> int | float" "Adds the numbers.";
    "take(count: int = 0) -> list" "Keeps the first items.";
    "tally() -> dict" "Counts how often each item occurs.";
    "unique() -> list" "Keeps the first of equal items.";
    "window(size: int = 2, step: int = 1) -> list<list>" ["each_cons" "sliding_window"] "Lists neighbouring items.";
    "zip(other: list) -> list<list>" "Lists the items of both side by side.";
};

const SET: &[Method] = methods! {
    "add(value: any) -> set" "Gives the set with a value.";
    "all(f: closure) -> bool" ["every"] "Tells whether a function is true for every item.";
    "any(f: closure) -> bool" "Tells whether a function is true for an item.";
    "contains(value: any) -> bool" "Tells whether a value is in it.";
    "count() -> int" ["len"] "Counts the items.";
    "difference(other: set) -> set" "Gives what is not in the other.";
    "empty() -> bool" "Tells whether there is no item.";
    "filter(f: closure) -> set" "Keeps the items for which a function is true.";
    "intersect(other: set) -> set" ["intersection"] "Gives what is in both.";
    "is_disjoint(other: set) -> bool" "Tells whether nothing is in both.";
    "is_subset(other: set) -> bool" "Tells whether everything is in the other.";
    "is_superset(other: set) -> bool" "Tells whether it has everything of the other.";
    "iter() -> iter" "Makes an iterator over the items.";
    "map(f: closure) -> set" "Gives the set of what a function makes of the items.";
    "remove(value: any) -> set" ["delete"] "Gives the set without a value.";
    "symmetric_difference(other: set) -> set" "Gives what is in one of them only.";
    "to_list() -> list" "Lists the items.";
    "union(other: set) -> set" "Gives what is in either.";
};

const DICT: &[Method] = methods! {
    "count() -> int" "Counts the entries.";
    "entries() -> list<dict>" "Lists the entries as `{key, value}`.";
    "filter(f: closure) -> dict" "Keeps the entries for whose value a function is true.";
    "get(key: string, fallback: any = nil) -> any" "Gives the value of a key, or the fallback.";
    "has(key: string) -> bool" "Tells whether there is a key.";
    "iter() -> iter" "Makes an iterator over pairs of keys and values.";
    "keys() -> list<string>" "Lists the keys.";
    "map_values(f: closure) -> dict" "Replaces each value by what a function makes of it.";
    "merge(other: dict) -> dict" "Adds the entries of another, which win.";
    "rekey(f: closure) -> dict" ["map_keys"] "Replaces each key by what a function makes of it.";
    "remove(key: string) -> dict" "Gives the dict without a key.";
    "values() -> list" "Lists the values.";
};

const RANGE: &[Method] = methods! {
    "contains(value: int) -> bool" "Tells whether a number is in it.";
    "count() -> int" ["len"] "Counts the numbers.";
    "empty() -> bool" "Tells whether there is no number.";
    "first() -> int | nil" "Gives the first number, or nil.";
    "last() -> int | nil" "Gives the last number, or nil.";
    "to_string() -> string" "Gives its display form.";
};

const ITER: &[Method] = methods! {
    "all(f: closure) -> bool" "Tells whether a function is true for every item.";
    "any(f: closure) -> bool" "Tells whether a function is true for an item.";
    "chain(other: any) -> iter" "Goes on with the items of another.";
    "chunks(size: int) -> iter" "Gives lists of a size.";
    "count() -> int" "Counts the items.";
    "enumerate() -> iter" "Gives pairs of position and item.";
    "filter(f: closure) -> iter" "Keeps the items for which a function is true.";
    "find(f: closure) -> any" "Gives the first item for which a function is true, or nil.";
    "first() -> any" "Gives the first item, or nil.";
    "flat_map(f: closure) -> iter" "Gives the items of what a function makes of each.";
    "for_each(f: closure) -> nil" "Calls a function with every item.";
    "iter() -> iter" "Gives itself.";
    "last() -> any" "Gives the last item, or nil.";
    "map(f: closure) -> iter" "Gives what a function makes of the items.";
    "max() -> any" "Gives the largest item, or nil.";
    "min() -> any" "Gives the smallest item, or nil.";
    "reduce(initial: any, f: closure) -> any" "Combines the items.";
    "skip(count: int) -> iter" "Leaves out the first items.";
    "skip_while(f: closure) -> iter" "Leaves out the first items for which a function is true.";
    "sum() -> int | float" "Adds the numbers.";
    "take(count: int) -> iter" "Keeps the first items.";
    "take_while(f: closure) -> iter" "Keeps the first items for which a function is true.";
    "to_dict() -> dict" "Makes a dict of pairs.";
    "to_list() -> list" "Lists the items.";
    "to_set() -> set" "Makes a set of the items.";
    "windows(size: int) -> iter" "Gives lists of neighbouring items.";
    "zip(other: any) -> iter" "Gives pairs with the items of another.";
};
