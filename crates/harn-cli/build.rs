//! What the linker is asked for so that `harn` starts with little memory.
//!
//! **Packed relocations**, where the loader understands them. A position-independent binary lists every pointer in its tables, and the loader reads that
//! list before `main`. Packed, the list of `harn` shrinks from 1.5 MB to 25 KB, which is memory
//! each run would otherwise hold. glibc can read it since 2.36; an older one would refuse to
//! start the program, so we ask only where the machine that builds has it.
//!
//! **The functions of a start beside each other**, and equal functions only once. The system
//! brings a program into memory in pieces around what is touched; `cargo xtask start-order`
//! writes the list. Only LLVM's linker can do either, which is the one that rustc brings along
//! for this system, so neither is asked for when somebody has named another.

use std::env;
use std::process::Command;

/// The functions of a start, beside this file.
const START_ORDER: &str = "start.order";

/// The first glibc whose loader reads packed relocations.
const GLIBC_MIN: (u32, u32) = (2, 36);

#[expect(
    clippy::disallowed_methods,
    reason = "variables are how cargo speaks to build scripts"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={START_ORDER}");
    let target_is_glibc = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    let builds_for_itself = env::var("HOST").ok() == env::var("TARGET").ok();
    if target_is_glibc && builds_for_itself && glibc_version() >= Some(GLIBC_MIN) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if is_release && builds_for_itself && links_with_llvm() {
        let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
        let order = format!("--symbol-ordering-file={folder}/{START_ORDER}");
        // A name that is not there is no mistake: the list was written for one compiler.
        for argument in ["--icf=all", "--no-warn-symbol-ordering", &order] {
            println!("cargo::rustc-link-arg-bins=-Wl,{argument}");
        }
    }
}

/// Whether the linker is the one that comes with rustc.
#[expect(
    clippy::disallowed_methods,
    reason = "variables are how cargo speaks to build scripts"
)]
fn links_with_llvm() -> bool {
    let is_default = env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let names_another = ["linker", "fuse-ld"]
        .iter()
        .any(|word| flags.contains(word));
    is_default && !names_another && env::var_os("RUSTC_LINKER").is_none()
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
