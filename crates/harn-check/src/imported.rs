//! What a file gets from the files it imports.

use std::sync::Arc;

use harn_syntax::tree::Item;
use smol_str::SmolStr;

/// What the imports of one file bring into it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Whether one of its imports could not be found or read, or passes something on from a
    /// module that could not. Then nothing can be said about names.
    pub unresolved: bool,
    /// Every name that is brought in, functions as well as types, in the order of the imports.
    pub names: Vec<SmolStr>,
    /// The declarations behind those names that matter to types: `type`, `interface`, `struct`
    /// and `enum`. After them, so that they mean something, come the types they are made of,
    /// unless the file declares one of that name. No name comes twice. Where they say they
    /// stand is in another file.
    pub types: Vec<Arc<Item>>,
}
