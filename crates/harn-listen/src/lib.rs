//! Who may connect to a listener of ours.
