//! Where every name of a program leads, worked out once, so that nobody looks names up while
//! it runs.
//!
//! ```text
//! tree ──► walk: scopes open and close, names are declared and used
//!            ├─► frames: how many slots each function body needs, and what it captures
//!            ├─► declarations: the slot of each name that is bound
//!            └─► uses: for each name that is read, called or assigned, where to look
//! ```
//!
//! A *frame* is the body of something that runs on its own: the file, a function, a closure, a
//! tool, a pipeline, a task. Its variables live in numbered slots, which are used again once
//! their scope is over. What a body mentions of the bodies around it is *captured*: copied when
//! the function is made, as the language wants it.
//!
//! Functions with a name are different: they are found when they are called, also those that
//! are declared later in the same block. So a use can have several places, and the first one
//! that holds something counts: a slot is empty as long as control has not passed its
//! declaration. For a call the first one that holds something callable counts, because a
//! variable that is no function does not hide a builtin.
//!
//! A name that leads nowhere is not an error here. It is one when, and if, it is used.

mod frame;
mod names;
mod patterns;
mod placeholder;
mod walk;

pub use frame::{Capture, Frame, FrameId, FrameKind};
pub use walk::GLOBALS;

use std::collections::HashMap;

use harn_syntax::tree::{EvalPack, Module, Name, Text};
use smol_str::SmolStr;

use crate::builtins::Builtin;
use crate::imported::Imported;

/// As what a file is used. Variables at the top level of the first file of a program are
/// captured by its functions, those of an imported one are shared by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The file that is run.
    Entry,
    /// A file that another one imports.
    Imported,
    /// Something typed at a prompt. It runs like the first file of a program, but its
    /// variables are shared like those of an imported one: what is typed later sees them.
    Session,
}

/// A name from what was typed at a prompt before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The name.
    pub name: SmolStr,
    /// Whether it may be assigned.
    pub is_mutable: bool,
}

/// A place where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A slot of the frame that runs.
    Local(u32),
    /// Something that the frame has captured, by its position in [`Frame::captures`].
    Captured(u32),
    /// Something at the top level of the file, by its position in [`Resolved::top`].
    Top(u32),
    /// Something that is there from the start, such as `argv`.
    Global(&'static str),
    /// A builtin.
    Builtin(&'static Builtin),
}

/// Where a name leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Where to look, in this order. None: it leads nowhere.
    pub places: Vec<Place>,
    /// Whether the first place may not be assigned to.
    pub immutable: bool,
}

/// What happens where a name is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// It is kept there.
    In(Place),
    /// It is `_`, and nothing is kept.
    Nowhere,
    /// The same scope has a binding of that name already, and neither can change: this fails
    /// when it is reached.
    Again,
}

/// Something at the top level of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopName {
    /// Its name.
    pub name: SmolStr,
    /// Whether an import brings it.
    pub is_imported: bool,
}

/// Where every name of a file leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The frames; the first one is the file itself.
    pub frames: Vec<Frame>,
    /// What is at the top level.
    pub top: Vec<TopName>,
    uses: HashMap<u32, Use>,
    declarations: HashMap<u32, Declared>,
    frames_by_start: HashMap<u32, FrameId>,
}

impl Resolved {
    /// Where a name leads that is used.
    pub fn use_of(&self, name: &Name) -> Option<&Use> {
        self.uses.get(&name.span.start)
    }

    /// What happens where a name is bound.
    pub fn declared(&self, name: &Name) -> Option<Declared> {
        self.declarations.get(&name.span.start).copied()
    }

    /// Where the variables `id` and `version` of an eval pack are kept while it runs.
    pub fn declared_in_pack(&self, pack: &EvalPack) -> [Option<Declared>; 2] {
        walk::given_fields(pack).map(|(_, at)| self.declarations.get(&at).copied())
    }

    /// What happens where an eval pack is bound whose name is derived from its id.
    pub fn declared_by_id(&self, id: &Text) -> Option<Declared> {
        self.declarations.get(&id.span.start).copied()
    }

    /// The frame of the body that begins at this byte with its brace.
    pub fn frame_of_body(&self, start: u32) -> Option<FrameId> {
        self.frames_by_start.get(&start).copied()
    }
}

/// Resolves all names of a file.
pub fn resolve(module: &Module, imported: &Imported, role: Role) -> Resolved {
    walk::Walk::new(module, imported, role, &[]).run(module)
}

/// Resolves all names of something that is typed at a prompt, after what was typed before.
/// Everything can be declared again.
pub fn resolve_typed(module: &Module, imported: &Imported, earlier: &[Earlier]) -> Resolved {
    walk::Walk::new(module, imported, Role::Session, earlier).run(module)
}

#[cfg(test)]
mod tests;
