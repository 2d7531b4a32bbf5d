//! `cargo xtask gen`: generates the reference pages under `docs/reference/` from the catalogues and the doc comments of the
//! code.

mod elements;
mod functions;
mod properties;
mod secrets;

use std::path::Path;

use anyhow::Context as _;

/// The folder of the pages, relative to the root of the workspace.
const FOLDER: &str = "docs/reference";

/// The file name and the text of each page.
fn pages(root: &Path) -> anyhow::Result<Vec<(&'static str, String)>> {
    Ok(vec![
        ("edit.md", drumfire_edit::protocol::reference()),
        ("elements.md", elements::page(root)?),
        ("functions.md", functions::page()),
        ("properties.md", properties::page()),
        ("secrets.md", secrets::page()),
    ])
}

/// Writes all pages.
pub fn generate() -> anyhow::Result<()> {
    let root = xtask::root();
    let folder = root.join(FOLDER);
    std::fs::create_dir_all(&folder)?;
    for (name, text) in pages(&root)? {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        println!("{FOLDER}/{name}");
    }
    Ok(())
}

/// A text escaped for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A text as code in a cell of a table; empty if the text is empty.
fn code_cell(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("`{}`", cell(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_that_the_code_says() {
        let root = xtask::root();
        for (name, text) in pages(&root).expect("every element has a doc comment") {
            let path = root.join(FOLDER).join(name);
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                found == text,
                "{FOLDER}/{name} is stale: run `cargo xtask gen`"
            );
        }
    }

    #[test]
    fn cells_keep_their_table_whole() {
        assert_eq!(cell("a|b\nc"), "a\\|b c");
        assert_eq!(code_cell("a|b"), "`a\\|b`");
        assert_eq!(code_cell(""), "");
    }
}
