//! Options for the linker of optimized programs for Linux with glibc on x86_64, where rustc's own linker is the default.

use std::env;
use std::path::Path;

/// Made by `cargo xtask layout`.
const LAYOUT: &str = "hot_code.ld";
/// The file that is to list the program's sections with their addresses; `cargo xtask layout` sets it.
const LINK_MAP: &str = "DRUMFIRE_LINK_MAP";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={LAYOUT}");
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    println!("cargo:rerun-if-env-changed={LINK_MAP}");
    let target = ["OS", "ENV", "ARCH"]
        .map(|part| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default());
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    // The packages choose the code model themselves. Other linkers, such as mold, do not read scripts.
    let is_chosen = ["relocation-model=", "linker", "fuse-ld"];
    let is_chosen = is_chosen.iter().any(|option| flags.contains(option));
    if !is_release
        || target != ["linux", "gnu", "x86_64"]
        || is_chosen
        || env::var_os("RUSTC_LINKER").is_some()
    {
        return;
    }
    // As in the packages: a position-independent program has 100,000 relocations, whose 4 MiB each start would read and write.
    println!("cargo:rustc-link-arg-bins=-no-pie");
    if let Ok(map) = env::var(LINK_MAP) {
        println!("cargo:rustc-link-arg-bins=-Wl,-Map,{map}");
    }
    // A profile lays the program out by itself.
    if !flags.contains("profile-use=") {
        let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        let layout = Path::new(&folder).join(LAYOUT);
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", layout.display());
    }
}
