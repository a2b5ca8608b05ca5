//! Texts that pretend to be a frame of ours, or steer the terminal.
