//! The store: values by key, in one file of the project.

use std::path::PathBuf;

use harn_machine::{Context, Registry};

use super::kept::Change;
use super::shelf::{Shelf, change, get, list, remove, set};
use super::state_root;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("store_clear", |context, _| {
            change::<Store>(context, &Change::Clear)
        }),
        ("store_delete", remove::<Store>),
        ("store_get", get::<Store>),
        ("store_list", list::<Store>),
        ("store_save", |context, _| {
            change::<Store>(context, &Change::Nothing)
        }),
        ("store_set", set::<Store>),
    ]);
}

struct Store;

impl Shelf for Store {
    const NAME: &'static str = "store";

    fn path(context: &mut Context<'_>) -> PathBuf {
        state_root(context).join("store.json")
    }
}
