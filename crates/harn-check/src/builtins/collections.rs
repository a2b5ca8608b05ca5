//! Lists, dicts, sets, iterators and streams.

use super::table::builtins;

builtins! {
    "chunk(items: list, size: int = 1) -> list<list>" [list] Pure "Cuts a list into pieces of a size.";
    "dedup_by(items: list, key: closure) -> list" [list] Pure "Keeps the first item of every key.";
    "entries(dict: dict) -> list<{key: string, value: any}>" [list] Pure "Gives the entries of a dict.";
    "flat_map(items: list, f: closure) -> list" [list] Pure "Joins the lists a function makes of items.";
    "group_by(items: list, key: closure) -> dict" [dict] Pure "Sorts items into lists by a key.";
    "iter(source: any) -> iter" [iter] Pure "Makes a lazy iterator over a value.";
    "keys(dict: dict) -> list<string>" [list] Pure "Gives the keys of a dict.";
    "pair(first: any, second: any) -> pair" [pair] Pure "Makes a pair.";
    "partition(items: list, test: closure) -> dict" [dict] Pure "Separates the items that pass a test from the others.";
    "set(...values: any) -> set" [] Pure "Makes a set; lists and sets add their elements.";
    "set_add(set: set, value: any) -> set" [] Pure "Gives a set with a value more.";
    "set_contains(set: set, value: any) -> bool" [bool] Pure "Tells whether a set has a value.";
    "set_difference(a: set, b: set) -> set" [] Pure "Gives what is in the first set only.";
    "set_intersect(a: set, b: set) -> set" [] Pure "Gives what is in both sets.";
    "set_is_disjoint(a: set, b: set) -> bool" [bool] Pure "Tells whether two sets have nothing in common.";
    "set_is_subset(a: set, b: set) -> bool" [bool] Pure "Tells whether all of the first set is in the second.";
    "set_is_superset(a: set, b: set) -> bool" [bool] Pure "Tells whether all of the second set is in the first.";
    "set_remove(set: set, value: any) -> set" [] Pure "Gives a set without a value.";
    "set_symmetric_difference(a: set, b: set) -> set" [] Pure "Gives what is in one of the sets only.";
    "set_union(a: set, b: set) -> set" [] Pure "Gives what is in either set.";
    "stream: dict" [dict] Pure "What one does with streams: `stream.map` and its siblings.";
    "stream.broadcast(source: any, count: int) -> list<iter>" [list] Pure "Lets several readers see every item of one source.";
    "stream.collect(source: any, limit: int | dict = 10000) -> list" [list] Pure "Gives all items as a list, up to a limit.";
    "stream.debounce(source: any, window_ms: int) -> iter" [] Clock "Gives the last item of each burst.";
    "stream.filter(source: any, test: closure) -> iter" [] Pure "Gives the items that pass a test.";
    "stream.first(source: any) -> any" [] Pure "Gives the first item.";
    "stream.fold(source: any, initial: any, f: closure) -> any" [] Pure "Gives the result of an accumulation.";
    "stream.interleave(...sources: any) -> iter" [] Pure "Gives an item of each source in turn.";
    "stream.map(source: any, f: closure) -> iter" [] Pure "Gives what a function makes of each item.";
    "stream.merge(...sources: any) -> iter" [] Pure "Gives items of whichever source is ready, in turn.";
    "stream.race(...sources: any) -> iter" [] Pure "Gives the items of the source that is first.";
    "stream.scan(source: any, initial: any, f: closure) -> iter" [] Pure "Gives every step of an accumulation.";
    "stream.take(source: any, count: int) -> iter" [] Pure "Gives the first items.";
    "stream.take_until(source: any, test: closure) -> iter" [] Pure "Gives the items before the first that passes a test.";
    "stream.tap(source: any, f: closure) -> iter" [] Pure "Shows each item to a function and passes it on.";
    "stream.throttle(source: any, per_second: int | float) -> iter" [] Clock "Gives so many items a second at most.";
    "stream.zip(a: any, b: any) -> iter" [] Pure "Gives pairs of items.";
    "values(dict: dict) -> list" [list] Pure "Gives the values of a dict.";
    "window(items: list, size: int = 2, step: int = 1) -> list<list>" [list] Pure "Slides over a list.";
}
