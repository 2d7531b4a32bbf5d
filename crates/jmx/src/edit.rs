//! Changes settings by name for `drumfire set`.

use std::fmt;

use drumfire_platform::spelling::did_you_mean;

use crate::settings::{item_name, joined, own_path, settings};
use crate::source::Span;
use crate::tree::{Element, Node, Prop, Props, Tree, Value};

/// A change: which elements, which setting, and the new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    element: String,
    setting: String,
    value: String,
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

    /// Makes the change and returns how many elements it changed.
    ///
    /// # Errors
    /// No element has the name, none of them has the setting, or the value does not fit its kind.
    pub fn apply(&self, tree: &mut Tree) -> Result<usize, EditError> {
        let mut roots = tree.roots.to_vec();
        let mut state = EditState::default();
        for root in &mut roots {
            self.node(root, &mut state)?;
        }
        tree.roots = roots.into();
        if state.named == 0 {
            let known = state.names.iter().map(String::as_str);
            return Err(EditError::NoElement {
                meant: did_you_mean(&self.element, known).map(str::to_owned),
                name: self.element.clone(),
            });
        }
        if state.changed == 0 {
            let known = state.settings.iter().map(String::as_str);
            return Err(EditError::NoSetting {
                meant: did_you_mean(&self.setting, known).map(str::to_owned),
                element: self.element.clone(),
                name: self.setting.clone(),
            });
        }
        Ok(state.changed)
    }

    fn node(&self, node: &mut Node, state: &mut EditState) -> Result<(), EditError> {
        state.names.push(node.name.to_string());
        if matches(&self.element, &node.name) {
            state.named += 1;
            state
                .settings
                .extend(settings(node).into_iter().map(|setting| setting.path));
            if self.change(node)? {
                state.changed += 1;
                // The element's text in the source is out of date.
                node.whole = Span::default();
            }
        }
        for child in &mut node.children {
            self.node(child, state)?;
        }
        Ok(())
    }

    fn change(&self, node: &mut Node) -> Result<bool, EditError> {
        match self.setting.as_str() {
            "enabled" => node.enabled = boolean(&self.value)?,
            "name" => node.name = self.value.as_str().into(),
            _ => match self.props("", &node.class, &node.props)? {
                Some(props) => node.props = props,
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    /// The properties after the change; `None` if the setting is not among them.
    fn props(&self, path: &str, class: &str, props: &Props) -> Result<Option<Props>, EditError> {
        for prop in props {
            let own = own_path(path, class, &prop.name);
            if let Some(value) = self.value(&own, prop)? {
                let mut changed = props.clone();
                changed.set(Prop {
                    value,
                    ..prop.clone()
                });
                return Ok(Some(changed));
            }
        }
        Ok(None)
    }

    fn value(&self, path: &str, prop: &Prop) -> Result<Option<Value>, EditError> {
        match &prop.value {
            Value::Element(element) => {
                let changed = self.props(path, &element.class, &element.props)?;
                Ok(changed.map(|props| {
                    Value::Element(Element {
                        props,
                        ..element.clone()
                    })
                }))
            }
            Value::List(items) | Value::Map(items) => {
                for (place, item) in items.iter().enumerate() {
                    let name = item_name(item);
                    let inner = match name.is_empty() {
                        true => format!("{path}[{}]", place + 1),
                        false => format!("{path}[{name}]"),
                    };
                    if let Some(value) = self.value(&inner, item)? {
                        let mut changed = items.clone();
                        changed[place].value = value;
                        return Ok(Some(match &prop.value {
                            Value::Map(_) => Value::Map(changed),
                            _ => Value::List(changed),
                        }));
                    }
                }
                Ok(None)
            }
            Value::Object(_) => Ok(None),
            _ if path != self.setting
                && prop.name != self.setting.as_str()
                && joined(path, "") != self.setting =>
            {
                Ok(None)
            }
            old => self.of_kind(old).map(Some),
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

#[derive(Default)]
struct EditState {
    named: usize,
    changed: usize,
    names: Vec<String>,
    settings: Vec<String>,
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
    use super::*;

    fn plan() -> Tree {
        let controller = Element::new("LoopController").with("LoopController.loops", "1");
        let group = Node::new("ThreadGroup", "", "Users")
            .with("ThreadGroup.num_threads", "5")
            .with("ThreadGroup.scheduler", false)
            .with("ThreadGroup.main_controller", controller);
        let argument = Element::new("Argument")
            .with("Argument.name", "host")
            .with("Argument.value", "a");
        let list = Element::new("Arguments")
            .with("Arguments.arguments", vec![Prop::new("host", argument)]);
        Tree::new(
            Node::new("TestPlan", "", "Shop")
                .with("TestPlan.user_defined_variables", list)
                .above([group]),
        )
    }

    fn edited(text: &str) -> Result<String, EditError> {
        let mut tree = plan();
        Edit::parse(text)?.apply(&mut tree)?;
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
            ("Users>name=Buyers", "Buyers (ThreadGroup)"),
        ] {
            let outline = edited(edit).unwrap_or_else(|why| panic!("{edit}: {why}"));
            assert!(outline.contains(line), "{edit}: {outline}");
        }
    }

    #[test]
    fn what_is_not_there_is_told() {
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
        assert!(edited("Users").is_err() && edited(">a=b").is_err());
    }
}
