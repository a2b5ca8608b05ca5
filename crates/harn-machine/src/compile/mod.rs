//! stub
use std::rc::Rc;
use harn_check::{Imported, resolve::{Resolved, Role}};
use harn_syntax::tree::Module;
use crate::code::{Function, Source};
use crate::value::Text;
use crate::load::Entry;
pub(crate) const PREDEFINED: [&str; 8] = ["argv","pi","e","stream","event_log","workflow","mcp","skills"];
pub(crate) struct Unit { pub(crate) source: Rc<Source>, pub(crate) role: Role, pub(crate) globals: u32, pub(crate) module: u32 }
#[derive(Default)]
pub(crate) struct Interner;
impl Interner { pub(crate) fn text(&mut self, t: &str) -> Text { Text::new(t) } pub(crate) fn entry_names(&mut self) -> [Text; 2] { [Text::new("key"), Text::new("value")] } }
pub(crate) fn compile(_m: &Module, _r: &Resolved, _i: &Imported, _u: &Unit, _e: &Entry, _n: &mut Interner) -> Result<Rc<Function>, String> { Err(String::new()) }
