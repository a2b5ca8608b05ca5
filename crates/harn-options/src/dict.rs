//! What a table of options is made of.

use crate::nearest::{nearest, reach, slip};

/// A dict of options: the keys that it may have, and what becomes of others.
#[derive(Debug)]
pub struct OptionDict {
    /// What it is called: a builtin, or the option that holds it.
    pub name: &'static str,
    /// The keys that it is read for.
    pub keys: &'static [OptionKey],
    /// Dicts whose keys it may have as well. Programs pass one dict to several builtins, and a
    /// key that has a meaning for one of them is no mistake with another.
    pub family: &'static [&'static OptionDict],
    /// What becomes of all others.
    pub others: Others,
}

/// What becomes of a key that no table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// It is refused.
    Refused,
    /// It is refused, and so is a misspelt key of a dict below that keeps those of others: what
    /// may be done is said here, and a rule that got lost would be no rule.
    RefusedByRules,
    /// It is refused unless a provider of models is called that.
    Providers,
    /// It is kept as it is, but for one that is a misspelt key of ours.
    KeptUnlessMisspelt,
    /// It is kept as it is; the checker warns of one that looks like a misspelt key.
    Kept,
}

/// A key that a dict may have.
#[derive(Debug)]
pub struct OptionKey {
    /// Its name.
    pub name: &'static str,
    /// Whether this build does what it asks for.
    pub status: Status,
    /// The dicts that it may hold, whose keys are known too.
    pub holds: Holds,
}

/// Whether this build does what an option asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It does.
    Read,
    /// It does not; a program that asks for it is told so.
    Unavailable(Form),
}

/// What an option looks like that cannot be followed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A function.
    Function,
    /// A switch, or a dict that can say `enabled: false` or `mode: "off"`.
    Switch,
    /// Anything but nil.
    Anything,
}

/// The dicts that an option may hold.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// None whose keys we know.
    Nothing,
    /// One.
    Dict(&'static OptionDict),
    /// A list of them.
    ListOf(&'static OptionDict),
    /// A dict whose keys are free and whose values are such dicts.
    DictOf(&'static OptionDict),
}

impl OptionDict {
    /// A dict in which every other key is a mistake.
    pub(crate) const fn closed(name: &'static str, keys: &'static [OptionKey]) -> Self {
        Self {
            name,
            keys,
            family: &[],
            others: Others::Refused,
        }
    }

    /// A dict of rules about what may be done.
    pub(crate) const fn rules(name: &'static str, keys: &'static [OptionKey]) -> Self {
        Self {
            name,
            keys,
            family: &[],
            others: Others::RefusedByRules,
        }
    }

    /// A dict whose other keys stay.
    pub(crate) const fn open(name: &'static str, keys: &'static [OptionKey]) -> Self {
        Self {
            name,
            keys,
            family: &[],
            others: Others::Kept,
        }
    }

    /// A key of the dict, or of one of its family.
    pub fn find(&self, name: &str) -> Option<&'static OptionKey> {
        let family = self.family.iter().map(|dict| dict.keys);
        let mut all = std::iter::once(self.keys).chain(family).flatten();
        all.find(|key| key.name == name)
    }

    /// The key that is meant by a misspelt one, if one is close.
    pub fn meant_by(&self, name: &str) -> Option<&'static str> {
        // Where others have keys too, only what can hardly be one of theirs counts.
        let limit = match self.others {
            Others::Refused | Others::RefusedByRules | Others::Providers => reach(name),
            Others::KeptUnlessMisspelt | Others::Kept => slip(name),
        };
        let own = nearest(name, limit, self.keys.iter().map(|key| key.name));
        let family = self.family.iter().flat_map(|dict| dict.keys);
        own.or_else(|| nearest(name, limit, family.map(|key| key.name)))
    }

    /// Whether a key is none of ours. Keys that begin with `_` are nobody's: programs and the
    /// modules of `std` keep notes of their own there.
    pub fn lacks(&self, name: &str) -> bool {
        !name.starts_with('_') && self.find(name).is_none()
    }
}

/// A key that is read.
pub(crate) const fn read(name: &'static str) -> OptionKey {
    OptionKey {
        name,
        status: Status::Read,
        holds: Holds::Nothing,
    }
}

/// A key that may hold a dict.
pub(crate) const fn dict(name: &'static str, holds: &'static OptionDict) -> OptionKey {
    OptionKey {
        name,
        status: Status::Read,
        holds: Holds::Dict(holds),
    }
}

/// A key that may hold a list of dicts.
pub(crate) const fn list(name: &'static str, holds: &'static OptionDict) -> OptionKey {
    OptionKey {
        name,
        status: Status::Read,
        holds: Holds::ListOf(holds),
    }
}

/// A key that may hold a dict with free keys, whose values are dicts.
pub(crate) const fn each(name: &'static str, holds: &'static OptionDict) -> OptionKey {
    OptionKey {
        name,
        status: Status::Read,
        holds: Holds::DictOf(holds),
    }
}

/// A key that this build cannot follow.
pub(crate) const fn unavailable(name: &'static str, form: Form) -> OptionKey {
    OptionKey {
        name,
        status: Status::Unavailable(form),
        holds: Holds::Nothing,
    }
}
