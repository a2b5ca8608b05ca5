//! What a file gets from the files it imports.

use std::sync::Arc;

use harn_syntax::tree::Item;
use smol_str::SmolStr;

/// What the imports of one file bring into it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Whether one of its imports could not be found. Then nothing can be said about names.
    pub unresolved: bool,
    /// Every name that is brought in, functions as well as types, in the order of the imports.
    pub names: Vec<SmolStr>,
    /// The declarations behind those names that matter to types: `type`, `interface`, `struct`
    /// and `enum`.
    pub types: Vec<Arc<Item>>,
}
