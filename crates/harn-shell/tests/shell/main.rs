//! Commands as people and models write them.

mod corpus;
