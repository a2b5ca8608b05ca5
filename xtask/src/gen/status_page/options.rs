//! The options that are refused, as the tables of options have them.

use std::collections::{BTreeMap, BTreeSet};

use harn_options::{Holds, OptionDict, OptionPlace, PLACES, Status};

/// The options that are refused, by the builtin that refuses them. One of a dict inside of the
/// options is named with its path.
pub(super) fn refused() -> BTreeMap<String, Vec<String>> {
    refused_in(PLACES)
}

fn refused_in(places: &[OptionPlace]) -> BTreeMap<String, Vec<String>> {
    let mut refused: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for place in places {
        let options = refused.entry(place.builtin.to_owned()).or_default();
        add(options, place.dict, "", &mut Vec::new());
    }
    let refused = refused.into_iter();
    refused
        .filter(|(_, options)| !options.is_empty())
        .map(|(builtin, options)| (builtin, options.into_iter().collect()))
        .collect()
}

/// Adds what a dict refuses. `around` are the dicts that it stands in, for some may hold
/// themselves.
fn add(
    refused: &mut BTreeSet<String>,
    dict: &'static OptionDict,
    path: &str,
    around: &mut Vec<&'static str>,
) {
    if around.contains(&dict.name) {
        return;
    }
    around.push(dict.name);
    for key in dict.keys {
        let name = format!("{path}{}", key.name);
        if let Status::Unavailable(_) = key.status {
            refused.insert(name);
            continue;
        }
        let inside = match key.holds {
            Holds::Nothing => continue,
            Holds::Dict(inside) => (inside, "."),
            Holds::ListOf(inside) => (inside, "[]."),
            Holds::DictOf(inside) => (inside, ".*."),
        };
        add(refused, inside.0, &format!("{name}{}", inside.1), around);
    }
    around.pop();
}

#[cfg(test)]
mod tests {
    use harn_options::{Form, OptionKey, Others};

    use super::*;

    const fn key(name: &'static str, status: Status, holds: Holds) -> OptionKey {
        OptionKey {
            name,
            status,
            holds,
        }
    }

    const fn dict(name: &'static str, keys: &'static [OptionKey]) -> OptionDict {
        OptionDict {
            name,
            keys,
            family: &[],
            others: Others::Refused,
        }
    }

    static INSIDE_KEYS: [OptionKey; 2] = [
        key("later", Status::Unavailable(Form::Function), Holds::Nothing),
        key("itself", Status::Read, Holds::Dict(&INSIDE)),
    ];
    static INSIDE: OptionDict = dict("inside", &INSIDE_KEYS);

    static OUTSIDE_KEYS: [OptionKey; 3] = [
        key("now", Status::Read, Holds::Nothing),
        key("compass", Status::Unavailable(Form::Switch), Holds::Nothing),
        key("parts", Status::Read, Holds::ListOf(&INSIDE)),
    ];
    static OUTSIDE: OptionDict = dict("outside", &OUTSIDE_KEYS);

    static ALL_READ_KEYS: [OptionKey; 1] = [key("now", Status::Read, Holds::Nothing)];
    static ALL_READ: OptionDict = dict("all_read", &ALL_READ_KEYS);

    #[test]
    fn options_that_are_not_built_are_listed_with_their_paths() {
        let place = |builtin, dict| OptionPlace {
            builtin,
            argument: 0,
            dict,
        };
        let places = [place("ask", &OUTSIDE), place("look", &ALL_READ)];
        let refused: Vec<_> = refused_in(&places).into_iter().collect();
        let of_ask = ["compass", "parts[].later"].map(str::to_owned).to_vec();
        assert_eq!(refused, [("ask".to_owned(), of_ask)]);
    }
}
