//! Commands as people and models write them.

mod argv;
mod bounds;
mod corpus;
mod properties;
mod real_shells;
mod rules;
mod trees;
