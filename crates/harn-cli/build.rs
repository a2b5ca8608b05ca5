//! Asks the linker for packed relocations where the loader understands them.
//!
//! A position-independent binary lists every pointer in its tables, and the loader reads that
//! list before `main`. Packed, the list of `harn` shrinks from 1.5 MB to 25 KB, which is memory
//! each run would otherwise hold. glibc can read it since 2.36; an older one would refuse to
//! start the program, so we ask only where the machine that builds has it.

use std::env;
use std::process::Command;

/// The first glibc whose loader reads packed relocations.
const GLIBC_MIN: (u32, u32) = (2, 36);

#[expect(
    clippy::disallowed_methods,
    reason = "variables are how cargo speaks to build scripts"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target_is_glibc = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    let builds_for_itself = env::var("HOST").ok() == env::var("TARGET").ok();
    if target_is_glibc && builds_for_itself && glibc_version() >= Some(GLIBC_MIN) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's glibc: `getconf` says `glibc 2.36`.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
