//! Generates the page of properties from the list of known ones.

use std::fmt::Write as _;

use drumfire_jmx::{Effect, KNOWN_PROPERTIES, PropertySection};

use super::{cell, code_cell};

const HEAD: &str = "\
# Properties

<!-- Made by `cargo xtask gen` from crates/jmx/src/known_properties/. -->

Where properties come from, and which win, is in [the command line](../command_line.md). The defaults are those that hold when
nobody sets the property. A plan may set and read any other property (`__P`, `__property`, `__setProperty`).
";

/// Generates the page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    KNOWN_PROPERTIES
        .iter()
        .for_each(|section| honoured(section, &mut page));
    page.push_str(
        "\n## Read by Java\n\nJMeter's own classes read these where Java runs them.\n\n| property | meaning |\n|---|---|\n",
    );
    let all = || {
        KNOWN_PROPERTIES
            .iter()
            .flat_map(|section| section.properties)
    };
    for property in all().filter(|property| property.effect == Effect::Java) {
        let _ = writeln!(page, "| `{}` | {} |", property.name, cell(property.doc));
    }
    page.push_str(
        "\n## Without effect\n\nProperties of JMeter that change nothing here.\n\n| property | why |\n|---|---|\n",
    );
    for property in all() {
        if let Effect::None(why) = property.effect {
            let _ = writeln!(page, "| `{}` | {} |", property.name, cell(why));
        }
    }
    page
}

fn honoured(section: &PropertySection, page: &mut String) {
    let rows: Vec<_> = section
        .properties
        .iter()
        .filter(|property| property.effect == Effect::Honoured)
        .collect();
    if rows.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "\n## {}\n\n| property | default | meaning |\n|---|---|---|\n",
        section.title
    );
    for property in rows {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} |",
            property.name,
            code_cell(property.default),
            cell(property.doc)
        );
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use drumfire_jmx::known_property;

    use super::*;
    use crate::reference::elements::sources;

    /// The names of properties that the code reads: the first text after each call that reads one.
    fn asked_for(source: &str) -> Vec<String> {
        let product = source.split("#[cfg(test)]").next().unwrap_or(source);
        let ways = [
            "get_bool(",
            "get_long(",
            "get_trimmed(",
            "properties.get(",
            "properties().get(",
            "flag(",
            "long(",
        ];
        let mut names = Vec::new();
        for way in ways {
            for (at, _) in product.match_indices(way) {
                // Calls such as `d.flag("…")` read the plan's own properties.
                if !way.contains("get") && product[..at].ends_with(['.', '_']) {
                    continue;
                }
                let rest = product[at + way.len()..].trim_start();
                let Some((name, _)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'))
                else {
                    continue;
                };
                let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
                if name.contains('.') && name.chars().all(is_name) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }

    #[test]
    fn every_property_that_the_code_asks_for_is_listed_as_honoured() {
        let root = xtask::root();
        let (mut asked, mut wrong) = (0, Vec::new());
        // The facts name the properties of elements, with functions of the same names.
        let facts = root.join("crates/elements");
        let is_product = |path: &Path| {
            !path.starts_with(&facts) && path.components().all(|part| part.as_os_str() != "tests")
        };
        for (path, source) in sources(&root.join("crates")).expect("the sources") {
            if !is_product(&path) {
                continue;
            }
            for name in asked_for(&source) {
                asked += 1;
                if known_property(&name).is_none_or(|known| known.effect != Effect::Honoured) {
                    wrong.push(format!("{}: {name}", path.display()));
                }
            }
        }
        assert!(
            wrong.is_empty(),
            "not listed as honoured:\n{}",
            wrong.join("\n")
        );
        assert!(asked > 30, "only {asked} were found");
    }

    #[test]
    fn every_property_that_is_honoured_is_named_by_the_code() {
        let root = xtask::root();
        let list = std::ffi::OsStr::new("known_properties");
        let mut missing = Vec::new();
        let sources: Vec<_> = sources(&root.join("crates"))
            .expect("the sources")
            .into_iter()
            .filter(|(path, _)| path.iter().all(|part| part != list))
            .collect();
        for property in KNOWN_PROPERTIES
            .iter()
            .flat_map(|section| section.properties)
        {
            let quoted = match property.name.strip_suffix('*') {
                Some(beginning) => format!("\"{beginning}"),
                None => format!("\"{}\"", property.name),
            };
            // A macro may join a common prefix and the last word.
            let parts = property.name.rsplit_once('.');
            let parts = parts.map(|(start, end)| (format!("\"{start}.\""), format!("\"{end}\"")));
            let named = sources.iter().any(|(_, source)| {
                let is_joined = |(start, end): &(String, String)| {
                    source.contains(start) && source.contains(end)
                };
                source.contains(&quoted) || parts.as_ref().is_some_and(is_joined)
            });
            if property.effect == Effect::Honoured && !named {
                missing.push(property.name);
            }
        }
        assert!(missing.is_empty(), "not in the code: {missing:?}");
    }

    #[test]
    fn the_page_says_what_is_honoured_and_what_is_not() {
        let page = page();
        assert!(page.contains("| `summariser.interval` | `30` | Seconds between its lines. |"));
        assert!(page.contains(
            "| `oro.patterncache.size` | compiled expressions are kept for the whole run |"
        ));
    }
}
