//! How files find each other, and what they have from each other.

mod bad_input;
mod exports;
mod files;
mod incremental;
mod load_plan;
mod model;
mod problems;
mod resolution;
mod standard;
