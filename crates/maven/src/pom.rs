//! Reads a POM as written: its dependencies, before parents and properties are resolved.

use std::collections::BTreeMap;

use drumfire_platform::message_error;
use roxmltree::{Document, Node, ParsingOptions};

use crate::profile::Activation;

/// Properties by name.
pub(crate) type Values = BTreeMap<String, String>;

/// A project, or the additions of one of its profiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct PomPart {
    pub properties: Values,
    pub dependencies: Vec<Dependency>,
    /// `dependencyManagement`.
    pub managed: Vec<Dependency>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Pom {
    pub parent: Option<PomCoordinates>,
    pub packaging: Option<String>,
    pub part: PomPart,
    pub profiles: Vec<(Activation, PomPart)>,
    /// The project's new coordinates; missing parts stay the same.
    pub relocation: Option<PomCoordinates>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct PomCoordinates {
    pub group: Option<String>,
    pub name: Option<String>,
    pub version: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Dependency {
    pub group: String,
    pub name: String,
    pub version: Option<String>,
    /// `type`
    pub kind: Option<String>,
    pub classifier: Option<String>,
    pub scope: Option<String>,
    pub optional: Option<String>,
    pub exclusions: Vec<Exclusion>,
}

/// A project that is excluded; `*` matches any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exclusion {
    pub group: String,
    pub name: String,
}

impl Exclusion {
    pub fn covers(&self, group: &str, name: &str) -> bool {
        is(&self.group, group) && is(&self.name, name)
    }
}

fn is(pattern: &str, word: &str) -> bool {
    pattern == "*" || pattern == word
}

impl Dependency {
    /// The `type`; `jar` by default.
    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or("jar")
    }

    /// The key that a dependency shares with its entry in the managed list.
    pub fn key(&self) -> (&str, &str, &str, Option<&str>) {
        (
            &self.group,
            &self.name,
            self.kind(),
            self.classifier.as_deref(),
        )
    }

    /// Its texts, in which properties are to be resolved.
    pub fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let exclusions = self.exclusions.iter_mut();
        [&mut self.group, &mut self.name]
            .into_iter()
            .chain(&mut self.version)
            .chain(&mut self.kind)
            .chain(&mut self.classifier)
            .chain(&mut self.scope)
            .chain(&mut self.optional)
            .chain(exclusions.flat_map(|one| [&mut one.group, &mut one.name]))
    }
}

message_error! {
    /// Why a text is not a POM.
    pub struct PomError;
}

impl Pom {
    /// Parses a POM.
    pub fn parse(text: &str) -> Result<Pom, PomError> {
        let options = ParsingOptions {
            allow_dtd: true,
            ..ParsingOptions::default()
        };
        let text = text.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
        let document =
            Document::parse_with_options(text, options).map_err(|error| error.to_string())?;
        let project = document.root_element();
        if project.tag_name().name() != "project" {
            return Err(
                format!("its root is <{}>, not <project>", project.tag_name().name()).into(),
            );
        }
        let moved =
            child(project, "distributionManagement").and_then(|node| child(node, "relocation"));
        let profiles = list(project, "profiles")
            .map(|node| (activation(child(node, "activation")), part(node)));
        Ok(Pom {
            parent: child(project, "parent").map(names),
            packaging: text_of(project, "packaging"),
            part: part(project),
            profiles: profiles.collect(),
            relocation: moved.map(names),
        })
    }
}

fn names(node: Node<'_, '_>) -> PomCoordinates {
    PomCoordinates {
        group: text_of(node, "groupId"),
        name: text_of(node, "artifactId"),
        version: text_of(node, "version"),
    }
}

fn part(node: Node<'_, '_>) -> PomPart {
    let properties = list(node, "properties").map(|property| {
        let value = property.text().unwrap_or_default().trim();
        (property.tag_name().name().to_owned(), value.to_owned())
    });
    let managed = child(node, "dependencyManagement");
    PomPart {
        properties: properties.collect(),
        dependencies: list(node, "dependencies").map(dependency).collect(),
        managed: managed
            .into_iter()
            .flat_map(|node| list(node, "dependencies"))
            .map(dependency)
            .collect(),
    }
}

fn dependency(node: Node<'_, '_>) -> Dependency {
    let exclusions = list(node, "exclusions").map(|node| Exclusion {
        group: text_of(node, "groupId").unwrap_or_default(),
        name: text_of(node, "artifactId").unwrap_or_default(),
    });
    Dependency {
        group: text_of(node, "groupId").unwrap_or_default(),
        name: text_of(node, "artifactId").unwrap_or_default(),
        version: text_of(node, "version"),
        kind: text_of(node, "type"),
        classifier: text_of(node, "classifier"),
        scope: text_of(node, "scope"),
        optional: text_of(node, "optional"),
        exclusions: exclusions.collect(),
    }
}

fn activation(node: Option<Node<'_, '_>>) -> Activation {
    let Some(node) = node else {
        return Activation::default();
    };
    let property = child(node, "property")
        .and_then(|property| Some((text_of(property, "name")?, text_of(property, "value"))));
    let system = child(node, "os").into_iter().flat_map(|os| os.children());
    let system = system.filter(Node::is_element).map(|one| {
        let value = one.text().unwrap_or_default().trim();
        (one.tag_name().name().to_owned(), value.to_owned())
    });
    Activation {
        is_default: text_of(node, "activeByDefault").as_deref() == Some("true"),
        java: text_of(node, "jdk"),
        system: system.collect(),
        property,
        has_file: child(node, "file").is_some(),
    }
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children()
        .find(|child| child.tag_name().name() == name)
}

/// The elements in a child.
fn list<'a, 'i>(node: Node<'a, 'i>, name: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    let list = child(node, name);
    list.into_iter()
        .flat_map(|list| list.children())
        .filter(Node::is_element)
}

fn text_of(node: Node<'_, '_>, name: &str) -> Option<String> {
    let text = child(node, name)?.text()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pom_is_read_as_written() {
        let pom = Pom::parse(
            "\u{feff}<?xml version='1.0'?><project xmlns='http://maven.apache.org/POM/4.0.0'>
             <parent><groupId>g</groupId><artifactId>parent</artifactId><version>1</version></parent>
             <artifactId>a</artifactId><properties><v> 2 </v></properties>
             <dependencies><dependency><groupId>g</groupId><artifactId>b</artifactId><version>${v}</version>
             <exclusions><exclusion><groupId>*</groupId><artifactId>c</artifactId></exclusion></exclusions>
             </dependency></dependencies></project>",
        )
        .expect("a POM");
        assert_eq!(
            pom.parent.expect("a parent").name.as_deref(),
            Some("parent")
        );
        assert_eq!(pom.part.properties["v"], "2");
        let dependency = &pom.part.dependencies[0];
        assert_eq!(dependency.key(), ("g", "b", "jar", None));
        assert!(dependency.exclusions[0].covers("any", "c"));
        assert!(!dependency.exclusions[0].covers("any", "d"));
        let why = Pom::parse("<html/>").expect_err("no POM");
        assert_eq!(why.as_ref(), "its root is <html>, not <project>");
    }
}
