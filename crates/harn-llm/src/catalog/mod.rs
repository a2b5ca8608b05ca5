//! Which providers and models there are, and what they can do.
