//! What a project is made of, as its files tell.
//!
//! ```text
//! folder ──► fingerprint    one look at the whole tree: languages, tools, continuous integration
//!        ├─► scan           one folder by itself, by the catalogue of kinds of project
//!        ├─► walk           the folders of a tree, and those of them that are projects
//!        └─► evidence       what a model is shown of a folder
//! ```
//!
//! `std/project` puts these together.

mod catalogue;
mod config;
mod evidence;
mod fingerprint;
mod folder;
mod ignore;
mod scan;
mod walk;

use harn_machine::Registry;

pub(crate) fn register(registry: &mut Registry) {
    registry.file("project", include_str!("../../harn/project.harn"));
    catalogue::register(registry);
    evidence::register(registry);
    fingerprint::register(registry);
    scan::register(registry);
    walk::register(registry);
}
