//! Rules about tools that must mean what they say.
