//! What methods give, by their names.
//!
//! The receiver hardly matters: the names say what methods give most of the time, so that
//! `reverse` is taken for a string although lists have it too. Only methods that the file
//! itself declares for a struct are known better, and then nothing is claimed.

use crate::types::checker::Checker;
use crate::types::lower::container_name;
use crate::types::ty::Ty;

impl Checker {
    /// The type a method gives for a receiver of that type.
    pub(super) fn infer_method(&self, receiver: &Ty, method: &str) -> Ty {
        let head = receiver.head().map_or("", |name| name.as_str());
        let own = self.known.declarations.methods.get(head);
        if own.is_some_and(|methods| methods.contains_key(method)) {
            return Ty::Dynamic;
        }
        if container_name(head) == Some("iter") {
            let element = match receiver {
                Ty::Applied(applied) if applied.arguments.len() == 1 => {
                    applied.arguments[0].clone().as_whole()
                }
                _ => Ty::Dynamic,
            };
            return method_of_iter(&element, method);
        }
        method_by_name(receiver, method)
    }
}

fn method_by_name(receiver: &Ty, method: &str) -> Ty {
    match method {
        "contains" | "starts_with" | "ends_with" | "empty" | "has" | "any" | "all" => Ty::BOOL,
        "count" | "index_of" | "to_int" => Ty::INT,
        "to_float" => Ty::FLOAT,
        "trim" | "lowercase" | "uppercase" | "reverse" | "replace" | "substring" | "pad_left"
        | "pad_right" | "repeat" | "join" | "to_string" => Ty::STRING,
        "split" | "chars" | "map" | "flat_map" | "sort" | "keys" | "values" | "entries" => Ty::LIST,
        "filter" if is_dict(receiver) => Ty::DICT,
        "filter" => Ty::LIST,
        "window" | "each_cons" | "sliding_window" => match receiver.arguments_of::<1>("list") {
            Some(_) => Ty::list_of(receiver.clone()),
            None => Ty::LIST,
        },
        "merge" | "map_values" | "rekey" | "map_keys" => match receiver.arguments_of("dict") {
            Some([_, value]) => Ty::applied("dict", vec![Ty::STRING, value.clone()]),
            None => Ty::DICT,
        },
        "iter" => iter_over(receiver),
        _ => Ty::Dynamic,
    }
}

fn is_dict(ty: &Ty) -> bool {
    matches!(ty, Ty::Shape(_)) || ty.head().is_some_and(|name| name == "dict")
}

fn iter_over(receiver: &Ty) -> Ty {
    if let Some([key, value]) = receiver.arguments_of("dict") {
        let pair = Ty::applied("Pair", vec![key.clone(), value.clone()]);
        return Ty::container("iter", pair);
    }
    for name in ["list", "Generator", "Stream"] {
        if let Some([element]) = receiver.arguments_of(name) {
            return Ty::container("iter", element.clone());
        }
    }
    match receiver.name().map(|name| name.as_str()) {
        Some("list" | "dict" | "set" | "string") => Ty::named("iter"),
        _ => Ty::Dynamic,
    }
}

fn method_of_iter(element: &Ty, method: &str) -> Ty {
    let iter = |ty: Ty| Ty::container("iter", ty);
    let pair = |first: Ty, second: Ty| Ty::applied("Pair", vec![first, second]);
    let part = element.clone().as_part();
    match method {
        "iter" | "filter" | "take" | "skip" | "take_while" | "skip_while" | "chain" => {
            iter(element.clone())
        }
        "map" | "flat_map" => Ty::named("iter"),
        "zip" => iter(pair(part, Ty::ANY)),
        "enumerate" => iter(pair(Ty::INT, part)),
        "chunks" | "windows" => iter(Ty::list_of(element.clone())),
        "to_list" => Ty::list_of(element.clone()),
        "to_set" => Ty::container("set", element.clone()),
        "to_dict" => Ty::DICT,
        "count" => Ty::INT,
        "sum" => Ty::union(vec![Ty::INT, Ty::FLOAT]),
        "min" | "max" | "first" | "last" | "find" => Ty::merged([element.clone(), Ty::NIL]),
        "any" | "all" => Ty::BOOL,
        "for_each" => Ty::NIL,
        _ => Ty::Dynamic,
    }
}
