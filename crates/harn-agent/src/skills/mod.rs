//! Skills: what an agent is told when it is about to do something of a kind.
//!
//! ```text
//! files ─► discovery ─► library ─► cards ─┐
//!                          │              ├─► registry of a loop ─► matching ─► active skills
//! program: skill_define ───┼──────────────┘          │                            │
//!                          └─► bodies, when needed ──┴─► load_skill               ├─► block of the prompt
//!                                                                                 └─► scope of the tools
//! ```
//!
//! Nothing here knows a loop: what is decided when is written in `run::skills`.

mod block;
mod discovery;
mod entry;
mod front_matter;
mod library;
mod matching;
mod options;
mod provenance;
mod reading;
mod registry;
mod scope;
mod substitution;

pub use block::prompt_block;
pub use discovery::{
    ManifestSkills, ManifestSource, Means, SkillPlaces, discover, project_skill_folders,
};
pub use entry::Skill;
pub use library::{Body, BodyError, Discovered, Place, Shadowed, SkillLibrary, SkillSetup};
pub use matching::{Candidate, Matcher};
pub use options::{SkillOptions, Strategy};
pub use provenance::{Provenance, SignatureError};
pub use registry::{SkillRegistry, Unresolved};
pub use scope::Scope;
pub use substitution::Substitution;

pub(crate) use matching::host;
