//! A process whose memory nobody reads.

use std::io;

/// Keeps other processes of the same user out of this one: they cannot read its memory, its
/// environment or its open files, nor trace it, and no crash leaves its memory on a disk. What is
/// started from here can be looked into as usual.
///
/// `harn` calls this before it reads a key. A program that embeds Harn does so itself, if it
/// wants to; debuggers and profilers of the same user have to be attached before.
///
/// # Errors
/// The system does not allow it. Elsewhere than on Linux nothing is done.
pub fn close_to_other_processes() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior};

        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        let limit = rustix::process::getrlimit(Resource::Core);
        // Whoever is started from here may raise it again.
        let none = Rlimit {
            current: Some(0),
            ..limit
        };
        rustix::process::setrlimit(Resource::Core, none)?;
    }
    Ok(())
}
