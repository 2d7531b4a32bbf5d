//! `cargo xtask pictures` takes the pictures of the documentation from today's program, with a browser.

use std::process::Command;

use crate::web;

/// The script that opens the pages and takes the pictures.
const SCRIPT: &str = "web/pictures.mjs";

/// Builds the program and its example pages, and writes the pictures into `docs/`.
pub fn take() -> anyhow::Result<()> {
    let browser = web::ready()?;
    let pages = web::pages()?;
    let root = xtask::root();
    xtask::run(
        Command::new("node")
            .arg(root.join(SCRIPT))
            .arg(root.join("docs"))
            .env("CHROMIUM", browser)
            .env("DRUMFIRE_PAGES", pages.path())
            .env("DRUMFIRE_PROGRAM", xtask::target().join("debug/drumfire")),
    )
}
