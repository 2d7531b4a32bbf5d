//! Changes settings by name for `drumfire set`.

use std::fmt;

use drumfire_platform::spelling::did_you_mean;

use crate::settings::{item_name, joined, own_path, settings, short_name};
use crate::splice::{Splice, add_property, set_attribute, set_value};
use crate::tree::{Node, Prop, Props, Tree, Value};

/// A change: which elements, which setting, and the new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    element: String,
    setting: String,
    value: String,
}

/// A setting that an element of a class may have.
#[derive(Debug, Clone, PartialEq)]
pub struct PossibleSetting {
    /// The property that holds the element with the setting; `None` if the plan's element has it itself.
    pub within: Option<&'static str>,
    /// The property, with a value of its kind.
    pub prop: Prop,
}

impl PossibleSetting {
    /// The path by which `show` would print it.
    fn path(&self) -> String {
        let within = self.within.map(short_name).unwrap_or_default();
        joined(within, short_name(&self.prop.name))
    }
}

/// Why an edit cannot be applied to a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditError {
    /// The text is not `ELEMENT>SETTING=VALUE`.
    NoChange(String),
    /// No element has the name.
    NoElement {
        /// The name or pattern.
        name: String,
        /// The most similar name in the plan.
        meant: Option<String>,
    },
    /// None of the elements has the setting.
    NoSetting {
        /// The elements' name or pattern.
        element: String,
        /// The setting.
        name: String,
        /// The most similar setting of the elements.
        meant: Option<String>,
    },
    /// The setting is a number, and the value is not.
    WrongKind {
        /// The setting.
        setting: String,
        /// The kind of number, with its article, such as `a whole number`.
        kind: &'static str,
        /// The value.
        value: String,
    },
    /// The setting is true or false, and this value is neither.
    NoBoolean(String),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meant = match self {
            EditError::NoChange(text) => {
                return write!(f, "`{text}` is not a change: write `ELEMENT>SETTING=VALUE`");
            }
            EditError::WrongKind {
                setting,
                kind,
                value,
            } => return write!(f, "`{setting}` is {kind}, which `{value}` is not"),
            EditError::NoBoolean(text) => return write!(f, "`{text}` is neither true nor false"),
            EditError::NoElement { name, meant } => {
                write!(f, "the plan has no element `{name}`")?;
                meant
            }
            EditError::NoSetting {
                element,
                name,
                meant,
            } => {
                write!(f, "`{element}` has no setting `{name}`")?;
                meant
            }
        };
        match meant {
            Some(meant) => write!(f, "; did you mean `{meant}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for EditError {}

/// The splices that enable or disable an element.
pub fn set_enabled(tree: &Tree, node: &Node, is_enabled: bool) -> Vec<Splice> {
    let text = if is_enabled { "true" } else { "false" };
    attribute(
        tree,
        node,
        ("enabled", "TestElement.enabled"),
        text,
        &Value::Bool(is_enabled),
    )
}

/// The splices that give an element a name.
pub fn set_name(tree: &Tree, node: &Node, name: &str) -> Vec<Splice> {
    let value = Value::Str(name.to_owned());
    attribute(tree, node, ("testname", "TestElement.name"), name, &value)
}

/// The splices for an attribute and the property of the same meaning, which outweighs it.
fn attribute(
    tree: &Tree,
    node: &Node,
    (name, property): (&str, &str),
    text: &str,
    value: &Value,
) -> Vec<Splice> {
    let property_node = node.props.iter().find(|prop| prop.name == property);
    let mut splices = vec![set_attribute(tree, node.span, name, text)];
    splices.extend(
        property_node
            .into_iter()
            .flat_map(|prop| set_value(tree, prop, value)),
    );
    splices
}

impl Edit {
    /// Reads `ELEMENT>SETTING=VALUE`. The element is a name in which `*` stands for any text; the setting is a property's
    /// name, with or without the class in front, or a path as `show` prints it, or `enabled`, or `name`.
    ///
    /// # Errors
    /// Names the part of the text that is missing.
    pub fn parse(text: &str) -> Result<Edit, EditError> {
        let wrong = || EditError::NoChange(text.to_owned());
        let (element, rest) = text.split_once('>').ok_or_else(wrong)?;
        let (setting, value) = rest.split_once('=').ok_or_else(wrong)?;
        let (element, setting) = (element.trim().to_owned(), setting.trim().to_owned());
        if element.is_empty() || setting.is_empty() {
            return Err(wrong());
        }
        Ok(Edit {
            element,
            setting,
            value: value.to_owned(),
        })
    }

    /// The change as splices to the text of the plan, a list for each element that it changes. No other byte changes. An element
    /// that lacks the setting gets it, if it is among its `possible` ones.
    ///
    /// # Errors
    /// No element has the name, none of them may have the setting, or the value does not fit its kind.
    pub fn splices(
        &self,
        tree: &Tree,
        possible: &dyn Fn(&Node) -> Vec<PossibleSetting>,
    ) -> Result<Vec<Vec<Splice>>, EditError> {
        let mut names = Vec::new();
        let mut named = Vec::new();
        for root in tree.roots.iter() {
            self.collect(root, &mut names, &mut named);
        }
        if named.is_empty() {
            return Err(EditError::NoElement {
                meant: did_you_mean(&self.element, names).map(str::to_owned),
                name: self.element.clone(),
            });
        }
        let mut all = Vec::new();
        for node in &named {
            let change = match self.of_node(tree, node)? {
                Some(change) => Some(change),
                None => self.added(tree, node, possible(node))?,
            };
            all.extend(change);
        }
        if all.is_empty() {
            let paths = named.iter().flat_map(|node| settings(node));
            let more = named.iter().flat_map(|node| possible(node));
            let paths: Vec<String> = paths
                .map(|setting| setting.path)
                .chain(more.map(|one| one.path()))
                .collect();
            let paths = paths.iter().map(String::as_str);
            return Err(EditError::NoSetting {
                meant: did_you_mean(&self.setting, paths).map(str::to_owned),
                element: self.element.clone(),
                name: self.setting.clone(),
            });
        }
        Ok(all)
    }

    /// Whether every element that the change means has the value, which is so after the splices.
    pub fn is_made(&self, tree: &Tree) -> bool {
        let (mut names, mut named) = (Vec::new(), Vec::new());
        for root in tree.roots.iter() {
            self.collect(root, &mut names, &mut named);
        }
        named.into_iter().all(|node| match self.setting.as_str() {
            "enabled" => node.enabled.to_string() == self.value,
            // The elements have another name now.
            "name" => true,
            _ => self.find("", &node.class, &node.props).is_none_or(|prop| {
                match self.of_kind(&prop.value) {
                    Ok(value) => value == prop.value,
                    Err(_) => false,
                }
            }),
        })
    }

    /// The elements with the name, and the names of all.
    fn collect<'t>(&self, node: &'t Node, names: &mut Vec<&'t str>, named: &mut Vec<&'t Node>) {
        names.push(&node.name);
        if matches(&self.element, &node.name) {
            named.push(node);
        }
        for child in &node.children {
            self.collect(child, names, named);
        }
    }

    /// The change of one element; `None` if it lacks the setting.
    fn of_node(&self, tree: &Tree, node: &Node) -> Result<Option<Vec<Splice>>, EditError> {
        Ok(match self.setting.as_str() {
            "enabled" => Some(set_enabled(tree, node, boolean(&self.value)?)),
            "name" => Some(set_name(tree, node, &self.value)),
            _ => match self.find("", &node.class, &node.props) {
                Some(prop) => Some(set_value(tree, prop, &self.of_kind(&prop.value)?)),
                None => None,
            },
        })
    }

    /// The change of an element that gets the setting; `None` if it may not have it.
    fn added(
        &self,
        tree: &Tree,
        node: &Node,
        possible: Vec<PossibleSetting>,
    ) -> Result<Option<Vec<Splice>>, EditError> {
        let is_meant = |one: &PossibleSetting| {
            one.path() == self.setting || one.prop.name == self.setting.as_str()
        };
        for one in possible.into_iter().filter(is_meant) {
            let value = self.of_kind(&one.prop.value)?;
            let prop = Prop { value, ..one.prop };
            let splice = match one.within {
                None => add_property(tree, node.whole, &node.props, &prop),
                Some(within) => {
                    let holder = node.props.iter().find(|own| own.name == within);
                    holder.and_then(|holder| match &holder.value {
                        Value::Element(element) => {
                            add_property(tree, holder.span, &element.props, &prop)
                        }
                        _ => None,
                    })
                }
            };
            if let Some(splice) = splice {
                return Ok(Some(vec![splice]));
            }
        }
        Ok(None)
    }

    /// The property that is the setting.
    fn find<'t>(&self, path: &str, class: &str, props: &'t Props) -> Option<&'t Prop> {
        let mut props = props.iter();
        props.find_map(|prop| self.within(&own_path(path, class, &prop.name), prop))
    }

    fn within<'t>(&self, path: &str, prop: &'t Prop) -> Option<&'t Prop> {
        match &prop.value {
            Value::Element(element) => self.find(path, &element.class, &element.props),
            Value::List(items) | Value::Map(items) => {
                items.iter().enumerate().find_map(|(place, item)| {
                    let name = item_name(item);
                    let inner = if name.is_empty() {
                        format!("{path}[{}]", place + 1)
                    } else {
                        format!("{path}[{name}]")
                    };
                    self.within(&inner, item)
                })
            }
            Value::Object(_) => None,
            _ => {
                let is_meant = path == self.setting
                    || prop.name == self.setting.as_str()
                    || joined(path, "") == self.setting;
                is_meant.then_some(prop)
            }
        }
    }

    /// Converts the new value to the old one's kind. A value with a variable or a function becomes a string.
    fn of_kind(&self, old: &Value) -> Result<Value, EditError> {
        let text = self.value.as_str();
        let wrong = |kind: &'static str| EditError::WrongKind {
            setting: self.setting.clone(),
            kind,
            value: text.to_owned(),
        };
        Ok(match old {
            _ if text.contains("${") => Value::Str(text.to_owned()),
            Value::Bool(_) => Value::Bool(boolean(text)?),
            Value::Int(_) => Value::Int(text.parse().map_err(|_| wrong("a whole number"))?),
            Value::Long(_) => Value::Long(text.parse().map_err(|_| wrong("a whole number"))?),
            Value::Float(_) => Value::Float(text.parse().map_err(|_| wrong("a number"))?),
            Value::Double(_) => Value::Double(text.parse().map_err(|_| wrong("a number"))?),
            _ => Value::Str(text.to_owned()),
        })
    }
}

fn boolean(text: &str) -> Result<bool, EditError> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(EditError::NoBoolean(text.to_owned())),
    }
}

/// Whether a name fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(first) else {
        return false;
    };
    // Try the shortest text for this star first, then longer ones.
    (0..=name.len())
        .filter(|at| name.is_char_boundary(*at))
        .any(|at| matches(rest, &name[at..]))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tree::Element;
    use crate::{read, spliced_text, write};

    fn plan() -> Tree {
        let controller = Element::new("LoopController").with("LoopController.loops", "1");
        let group = Node::new("ThreadGroup", "ThreadGroupGui", "Users")
            .with("ThreadGroup.num_threads", "5")
            .with("ThreadGroup.scheduler", false)
            .with("ThreadGroup.main_controller", controller);
        let argument = Element::new("Argument")
            .with("Argument.name", "host")
            .with("Argument.value", "a");
        let list = Element::new("Arguments")
            .with("Arguments.arguments", vec![Prop::new("host", argument)]);
        let plan = Node::new("TestPlan", "TestPlanGui", "Shop")
            .with("TestPlan.user_defined_variables", list)
            .above([group]);
        again(&write(&Tree::new(plan)))
    }

    fn again(text: &str) -> Tree {
        read(text.as_bytes(), Path::new("p.jmx"))
            .expect("a plan")
            .tree
    }

    fn edited(text: &str) -> Result<String, EditError> {
        let tree = plan();
        let edit = Edit::parse(text)?;
        let possible = |node: &Node| {
            let one = |within, name: &'static str, value: Value| PossibleSetting {
                within,
                prop: Prop::new(name, value),
            };
            let text = || Value::Str(String::new());
            match node.class.as_str() {
                "ThreadGroup" => vec![
                    one(None, "ThreadGroup.duration", text()),
                    one(None, "ThreadGroup.same_user", Value::Bool(false)),
                    one(
                        Some("ThreadGroup.main_controller"),
                        "LoopController.continue_forever",
                        Value::Bool(false),
                    ),
                    one(Some("ThreadGroup.none"), "X.loops", text()),
                ],
                _ => Vec::new(),
            }
        };
        let splices = edit.splices(&tree, &possible)?.concat();
        let tree = again(&spliced_text(&tree.source.text, &splices));
        assert!(edit.is_made(&tree), "{text}");
        Ok(crate::outline(&tree))
    }

    #[test]
    fn settings_change_by_their_names() {
        for (edit, line) in [
            ("Users>num_threads=50", "num_threads: 50"),
            (
                "Use*>ThreadGroup.num_threads=${__P(users)}",
                "num_threads: ${__P(users)}",
            ),
            ("*>scheduler=true", "scheduler: true"),
            ("Users>main_controller.loops=7", "main_controller.loops: 7"),
            ("Users>LoopController.loops=8", "main_controller.loops: 8"),
            ("Shop>user_defined_variables.arguments[host]=b", "[host]: b"),
            ("Users>enabled=false", "Users (ThreadGroup, disabled)"),
            ("*>duration=60", "duration: 60"),
            ("Users>ThreadGroup.same_user=true", "same_user: true"),
            (
                "Users>main_controller.continue_forever=true",
                "main_controller.continue_forever: true",
            ),
            ("Users>name=Buyers", "Buyers (ThreadGroup)"),
        ] {
            let outline = edited(edit).unwrap_or_else(|why| panic!("{edit}: {why}"));
            assert!(outline.contains(line), "{edit}: {outline}");
        }
    }

    #[test]
    fn edits_of_missing_elements_or_settings_are_refused() {
        assert!(
            edited("User>num_threads=1")
                .expect_err("no element")
                .to_string()
                .contains("did you mean `Users`?")
        );
        assert!(
            edited("Users>num_thread=1")
                .expect_err("no setting")
                .to_string()
                .contains("did you mean `num_threads`?")
        );
        assert!(edited("Users>scheduler=maybe").is_err());
        assert!(edited("Users>same_user=maybe").is_err());
        assert!(edited("Shop>duration=1").is_err() && edited("Users>none.loops=1").is_err());
        let near = edited("Users>duratio=1").expect_err("no setting");
        assert!(near.to_string().contains("did you mean `duration`?"));
        assert!(edited("Users").is_err() && edited(">a=b").is_err());
    }
}
