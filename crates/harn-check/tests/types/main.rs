//! The type checker from outside: programs and what is said about them.
//!
//! What is expected is taken from the specification of the language, section by section.

mod assignments;
mod attributes;
mod bindings;
mod calls;
mod compatibility;
mod conformance;
mod deep;
mod editors;
mod exhaustiveness;
mod generated;
mod generics;
mod growth;
mod inference;
mod interfaces;
mod methods;
mod narrowing;
mod operators;
mod options;
mod order;
mod returns;
mod same_names;
mod schemas;
mod strict;
mod structs;
mod support;
mod variance;
mod warnings;
