//! Commands that a rule must judge part by part.
