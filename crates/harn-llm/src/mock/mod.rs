//! A model that says what it was told to say.
