//! The description of one function: its name, its parameters, and what it does.

use crate::call::Build;
use crate::scope::ScriptLanguage;

/// Where a function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionRung {
    /// In this crate.
    Native,
    /// In a JVM in the process.
    Jvm,
    /// Nowhere: JMeter 5.6.3 has no such function, so it needs a plugin.
    Unknown,
}

/// The origin of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionOrigin {
    /// JMeter itself.
    Core,
    /// The Custom JMeter Functions or Inter-Thread Communication plugins of jmeter-plugins.org.
    Plugin,
}

/// A parameter of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its meaning, in a few words.
    pub name: &'static str,
    /// Whether it is mandatory.
    pub required: bool,
}

/// One function.
#[derive(Debug)]
pub struct FunctionSpec {
    /// The name with its two underscores.
    pub name: &'static str,
    /// The parameters in their order; the last one repeats if `max` is `None`.
    pub parameters: &'static [Parameter],
    /// The smallest number of arguments.
    pub min: usize,
    /// The largest number of arguments; `None` if there is no limit.
    pub max: Option<usize>,
    /// A description of one sentence.
    pub doc: &'static str,
    /// How it differs from JMeter's function; empty if it does not.
    pub differs: &'static str,
    /// An effect beyond its user's variables, as a sentence without the function; empty if it has none.
    pub effect: &'static str,
    /// The function's origin.
    pub origin: FunctionOrigin,
    pub(crate) build: Build,
}

impl FunctionSpec {
    /// Where the function runs.
    pub fn rung(&self) -> FunctionRung {
        match self.build {
            Build::Plain(_) | Build::Stateful(_) => FunctionRung::Native,
            Build::Script(_) => FunctionRung::Jvm,
        }
    }

    /// Whether a plugin's class provides it, so that it is not in the built-in table.
    pub fn is_foreign(&self) -> bool {
        matches!(self.build, Build::Script(ScriptLanguage::Function))
    }

    /// The function's syntax, such as `__P(property name[, default])`.
    pub fn usage(&self) -> String {
        let mut usage = format!("{}(", self.name);
        for (index, parameter) in self.parameters.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            if parameter.required {
                usage += &format!("{comma}{}", parameter.name);
            } else {
                usage += &format!("[{comma}{}]", parameter.name);
            }
        }
        usage + ")"
    }

    /// The message of `AbstractFunction.checkParameterCount` and `checkMinParameterCount`, if
    /// the number of arguments is wrong.
    pub(crate) fn wrong_count(&self, actual: usize) -> Option<String> {
        let (name, min) = (self.name, self.min);
        if actual >= min && self.max.is_none_or(|max| actual <= max) {
            return None;
        }
        let expected = match self.max {
            None => format!("Expected at least: {min}."),
            Some(max) if max == min => format!("Expected: {min}."),
            Some(max) => format!("Expected: >= {min} and <= {max}"),
        };
        Some(format!(
            "{name} called with wrong number of parameters. Actual: {actual}. {expected}"
        ))
    }
}
