//! `cargo xtask web` builds the report's page and the editor's from `web/`; `cargo xtask test` tests them in a browser.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// The pages' source folder, relative to the root of the workspace.
const SOURCE: &str = "web";
/// The built pages, and the files that the program embeds.
const PAGES: [(&str, &str); 2] = [
    ("web/dist/index.html", "crates/report/assets/report.html"),
    ("web/dist/edit.html", "crates/serve/assets/edit.html"),
];
/// Browsers that can run the tests; the first one that is installed is used.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

/// Builds the pages and copies them to where the program embeds them from.
pub fn build() -> anyhow::Result<()> {
    let root = xtask::root();
    install(&root)?;
    build_pages(&root)?;
    for (built, asset) in PAGES {
        fs::copy(root.join(built), root.join(asset)).context(asset)?;
        println!("{asset}");
    }
    Ok(())
}

/// Checks that the pages were built from their source, and tests them in a browser. A missing browser or Node.js is reported
/// but is not a failure: the pages themselves need neither.
pub fn test() -> anyhow::Result<()> {
    let root = xtask::root();
    let browser = match ready() {
        Ok(browser) => browser,
        Err(missing) => return skipped(&format!("{missing:#}")),
    };
    build_pages(&root)?;
    for (built, asset) in PAGES {
        if fs::read(root.join(built))? != fs::read(root.join(asset))? {
            bail!("{asset} is not what {SOURCE}/ builds: cargo xtask web");
        }
    }
    let pages = pages()?;
    let playwright = root.join(SOURCE).join("node_modules/.bin/playwright");
    xtask::run(
        Command::new(playwright)
            .arg("test")
            .current_dir(root.join(SOURCE))
            .env("CHROMIUM", browser)
            .env("DRUMFIRE_PAGES", pages.path())
            .env("DRUMFIRE_PROGRAM", xtask::target().join("debug/drumfire")),
    )
}

/// The browser, once everything that the tests need is installed.
pub fn ready() -> anyhow::Result<PathBuf> {
    for program in ["node", "npm"] {
        if found(program).is_none() {
            bail!("{program} is not installed");
        }
    }
    let browser = browser().context("there is no Chromium (the variable CHROMIUM may name one)")?;
    install(&xtask::root()).context("its packages cannot be fetched")?;
    Ok(browser)
}

/// Builds the program and its example pages, and writes the pages into a new folder.
pub fn pages() -> anyhow::Result<xtask::ScratchFolder> {
    let pages = xtask::ScratchFolder::new("pages")?;
    // Build the whole workspace, so that its features equal those of the earlier tests and little is built again.
    xtask::run(super::cargo().args(["build", "--quiet", "--workspace", "--examples"]))?;
    xtask::run(super::cargo().args(["build", "--quiet", "--workspace", "--bins"]))?;
    let example = xtask::target().join("debug/examples/pages");
    xtask::run(Command::new(example).arg(pages.path()))?;
    Ok(pages)
}

fn skipped(why: &str) -> anyhow::Result<()> {
    eprintln!("xtask: SKIPPED: the browser's tests of the pages, since {why}");
    Ok(())
}

/// Installs the packages of `package-lock.json`, once.
fn install(root: &Path) -> anyhow::Result<()> {
    let folder = root.join(SOURCE);
    let lock = "package-lock.json";
    // npm records what it installed in this file.
    let is_fresh = modified(&folder.join("node_modules/.package-lock.json"))
        .is_some_and(|there| modified(&folder.join(lock)).is_some_and(|wanted| wanted <= there));
    if is_fresh {
        return Ok(());
    }
    // `npm ci` requires packages for other systems, which a lock file written on one system does not have.
    let quiet = [
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ];
    xtask::run(
        Command::new("npm")
            .args(quiet)
            .current_dir(folder)
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"),
    )
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

fn build_pages(root: &Path) -> anyhow::Result<()> {
    let folder = root.join(SOURCE);
    let mut npm = Command::new("npm");
    npm.args(["run", "--silent", "build"]).current_dir(folder);
    xtask::run(npm.stdout(Stdio::null()))
}

fn browser() -> Option<PathBuf> {
    let named = env::var_os("CHROMIUM").map(PathBuf::from);
    named.or_else(|| BROWSERS.into_iter().find_map(found))
}

/// The path of a program that is on the path.
fn found(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let places = env::split_paths(&path).map(|folder| folder.join(program));
    places.into_iter().find(|place| place.is_file())
}
