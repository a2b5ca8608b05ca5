//! Functions of programs that are called from outside, and effects that want to be called again.

mod calls;
mod exports;
mod futures;
mod library;
mod resume;
mod world;
