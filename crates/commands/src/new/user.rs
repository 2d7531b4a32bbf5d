//! Templates of the user's JMeter: the files that its property `template.files` names, in JMeter's format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use drumfire_jmx::escaped;
use drumfire_platform::files::read_regular_text;
use roxmltree::{Document, Node, ParsingOptions};

/// Where JMeter looks unless the property says otherwise.
const FILES: &str = "/bin/templates/templates.xml";
/// The most XML nodes of a list of templates. Entities could make any number of them.
const MOST_NODES: u32 = 200_000;

/// A template of the user's JMeter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserTemplate {
    pub name: String,
    /// The text of its description, without markup.
    pub about: String,
    pub is_part: bool,
    /// Names and values of its parameters.
    pub parameters: Vec<(String, String)>,
    file: PathBuf,
    /// The folder that must hold the file.
    folder: PathBuf,
}

/// The templates that lists of a JMeter have. A list that cannot be read has none, as in JMeter.
pub fn read(home: &Path, files: Option<&str>) -> Vec<UserTemplate> {
    let mut all: BTreeMap<String, UserTemplate> = BTreeMap::new();
    for list in files
        .unwrap_or(FILES)
        .split(',')
        .filter(|list| !list.is_empty())
    {
        let path = home.join(list.trim().trim_start_matches('/'));
        let Ok(text) = read_regular_text(&path) else {
            continue;
        };
        let folder = path.parent().unwrap_or(home);
        for template in listed(&text, home, folder) {
            all.insert(template.name.clone(), template);
        }
    }
    all.into_values().collect()
}

fn listed(text: &str, home: &Path, folder: &Path) -> Vec<UserTemplate> {
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    let Ok(document) = Document::parse_with_options(text, options) else {
        return Vec::new();
    };
    let templates = document
        .descendants()
        .filter(|node| node.has_tag_name("template"));
    templates
        .filter_map(|node| {
            let of = |name: &str| child(node, name).map(text_of);
            let (name, file) = (of("name")?, of("fileName")?);
            // `TemplateManager`: a name with a slash in front is one of JMeter's folder.
            let (file, folder) = match file.strip_prefix('/') {
                Some(within) => (home.join(within), home),
                None => (folder.join(&file), folder),
            };
            let parameters = child(node, "parameters")
                .into_iter()
                .flat_map(|all| all.children());
            Some(UserTemplate {
                about: plain(&of("description").unwrap_or_default()),
                is_part: node.attribute("isTestPlan") != Some("true"),
                parameters: parameters
                    .filter(|one| one.has_tag_name("parameter"))
                    .filter_map(|one| {
                        let value = one.attribute("defaultValue").unwrap_or_default();
                        Some((one.attribute("key")?.to_owned(), value.to_owned()))
                    })
                    .collect(),
                name,
                file,
                folder: folder.to_owned(),
            })
        })
        .collect()
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|one| one.has_tag_name(name))
}

fn text_of(node: Node<'_, '_>) -> String {
    let pieces = node.descendants().filter(|one| one.is_text());
    let text: String = pieces.filter_map(|one| one.text()).collect();
    text.trim().to_owned()
}

/// A description without its markup, in one line.
fn plain(description: &str) -> String {
    let mut out = String::new();
    for (number, piece) in description.split('<').enumerate() {
        let text = match number {
            0 => piece,
            _ => piece.split_once('>').map(|(_, text)| text).unwrap_or(""),
        };
        out.push(' ');
        out.push_str(text);
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl UserTemplate {
    /// The file with the values of its parameters.
    ///
    /// # Errors
    /// The file cannot be read or is outside of its folder, or it has more of FreeMarker than parameters.
    pub fn made(&self, given: &BTreeMap<String, String>) -> Result<String, String> {
        let shown = self.file.display();
        let whole = |path: &Path| {
            std::fs::canonicalize(path).map_err(|error| format!("`{}`: {error}", path.display()))
        };
        if !whole(&self.file)?.starts_with(whole(&self.folder)?) {
            return Err(format!("`{shown}` is outside of the folder of its list"));
        }
        let text = read_regular_text(&self.file).map_err(|error| format!("`{shown}`: {error}"))?;
        // JMeter gives a template to FreeMarker only if it has parameters.
        if self.parameters.is_empty() {
            return Ok(text);
        }
        let values = self.parameters.iter().map(|(name, default)| {
            let value = given.get(name).unwrap_or(default);
            (name.as_str(), value.as_str())
        });
        filled(&text, &values.collect())
            .map_err(|what| format!("`{shown}` has `{what}`, which only JMeter evaluates"))
    }
}

/// Puts values in the place of `[=name]`. Anything else that FreeMarker would evaluate is an error.
fn filled(text: &str, values: &BTreeMap<&str, &str>) -> Result<String, String> {
    let directive = ["<#", "</#", "<@", "</@", "[#", "[@"];
    if let Some(at) = directive.iter().filter_map(|mark| text.find(mark)).min() {
        return Err(text[at..].chars().take(20).collect());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("[=") {
        out.push_str(&rest[..at]);
        let within = &rest[at + "[=".len()..];
        let end = within.find(']').unwrap_or(within.len());
        let Some(value) = values.get(within[..end].trim()) else {
            return Err(rest[at..].chars().take(end + 3).collect());
        };
        out.push_str(&escaped(value));
        rest = within.get(end + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"<?xml version="1.0"?><!DOCTYPE templates SYSTEM "templates.dtd" [<!ENTITY e SYSTEM "/etc/hostname">]>
<templates><template isTestPlan="true"><name> Mine </name><fileName>mine.jmx</fileName>
<description><![CDATA[<h1>Own   plan</h1><p>of a &lt; team</p>]]></description>
<parameters><parameter key="host" defaultValue="a.example"/><parameter key="path" defaultValue=""/></parameters></template>
<template isTestPlan="false"><name>Part</name><fileName>/bin/part.jmx</fileName><description/></template>
<template isTestPlan="true"><name>Away</name><fileName>../../../away.jmx</fileName><description/></template>
<template isTestPlan="true"><fileName>unnamed.jmx</fileName></template></templates>"#;

    #[test]
    fn lists_of_jmeter_are_read() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("bin/templates");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("templates.xml"), LIST).unwrap();
        std::fs::write(folder.join("mine.jmx"), "<a>[=host][= path ]${host}</a>").unwrap();
        std::fs::write(home.path().join("bin/part.jmx"), "[=host]").unwrap();
        std::fs::write(home.path().parent().unwrap().join("away.jmx"), "secret").unwrap();
        let all = read(home.path(), None);
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["Away", "Mine", "Part"]);
        let [away, mine, part] = &all[..] else {
            panic!("{all:?}")
        };
        assert_eq!(
            (mine.about.as_str(), mine.is_part),
            ("Own plan of a &lt; team", false)
        );
        let given = [("path".to_owned(), "/a&b\"<".to_owned())].into();
        assert_eq!(
            mine.made(&given).unwrap(),
            "<a>a.example/a&amp;b&quot;&lt;${host}</a>"
        );
        // Without parameters the file is taken as it is.
        assert_eq!(
            (part.made(&given).unwrap().as_str(), part.is_part),
            ("[=host]", true)
        );
        assert!(away.made(&given).unwrap_err().contains("outside"));
        assert!(read(home.path(), Some("/bin/none.xml,")).is_empty());
        assert_eq!(
            read(home.path(), Some("bin/templates/templates.xml")).len(),
            3
        );
        let _ = std::fs::remove_file(home.path().parent().unwrap().join("away.jmx"));
    }

    #[test]
    fn more_of_freemarker_is_refused() {
        let values = [("a", "1")].into();
        for text in [
            "<#if a>x</#if>",
            "[=b]",
            "[=a?upper_case]",
            "[=a",
            "[#list a as b]",
        ] {
            assert!(filled(text, &values).is_err() || text == "[=a", "{text}");
        }
        assert_eq!(filled("x[=a]y[0]", &values).unwrap(), "x1y[0]");
    }

    #[test]
    fn entities_do_not_grow_without_end() {
        let mut text = String::from("<!DOCTYPE templates [<!ENTITY a0 \"aaaaaaaaaa\">");
        for level in 1..30 {
            let before = format!("&a{};", level - 1).repeat(10);
            text += &format!("<!ENTITY a{level} \"{before}\">");
        }
        text += "]><templates><template isTestPlan=\"true\"><name>&a29;</name><fileName>x</fileName></template></templates>";
        assert!(listed(&text, Path::new("/"), Path::new("/")).is_empty());
    }
}
