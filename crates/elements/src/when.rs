//! Facts that depend on an element's settings: when it may end a run, and how the machines of a fleet share it.

use drumfire_jmx::Props;

/// A condition on one property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// The flag is true.
    On(&'static str),
    /// The flag is false or missing.
    Off(&'static str),
    /// The text is one of these; a missing property is the empty text.
    Is(&'static str, &'static [&'static str]),
    /// The text is not empty.
    Filled(&'static str),
}

impl Test {
    /// Whether an element with these properties meets the condition.
    pub fn holds(&self, props: &Props) -> bool {
        match *self {
            Test::On(name) => props.bool(name, false),
            Test::Off(name) => !props.bool(name, false),
            Test::Is(name, values) => values.contains(&props.str(name).trim()),
            Test::Filled(name) => !props.str(name).is_empty(),
        }
    }

    /// Whether it may meet the condition: a text that the run computes may become anything.
    pub fn may_hold(&self, props: &Props) -> bool {
        self.holds(props) || props.str(self.property()).contains("${")
    }

    /// The property that decides.
    pub fn property(&self) -> &'static str {
        match *self {
            Test::On(name) | Test::Off(name) | Test::Is(name, _) | Test::Filled(name) => name,
        }
    }
}

/// When an element does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// It never does.
    Never,
    /// It may at any time.
    Always,
    /// It may if its settings meet a condition.
    If(Test),
}

impl When {
    /// Whether an element with these properties may do it.
    pub fn may_hold(&self, props: &Props) -> bool {
        match self {
            When::Never => false,
            When::Always => true,
            When::If(test) => test.may_hold(props),
        }
    }
}

/// How the machines of a fleet share an element whose settings meet all of the conditions. The first rule that fits applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FleetRule {
    /// The conditions; none if the rule always fits.
    pub tests: &'static [Test],
    /// How they share it, as `plan --agents` shows it; empty if there is nothing to share.
    pub rule: &'static str,
    /// Whether the plan then behaves differently than on one machine.
    pub differs: bool,
}

impl FleetRule {
    /// A rule under which several machines behave as one does.
    pub const fn same(tests: &'static [Test], rule: &'static str) -> FleetRule {
        FleetRule {
            tests,
            rule,
            differs: false,
        }
    }

    /// A rule under which several machines behave differently than one.
    pub const fn differs(tests: &'static [Test], rule: &'static str) -> FleetRule {
        FleetRule {
            tests,
            rule,
            differs: true,
        }
    }

    /// Settings under which the machines share nothing.
    pub const fn nothing(tests: &'static [Test]) -> FleetRule {
        FleetRule::same(tests, "")
    }
}

/// Something that an element may do although no property of it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum May {
    /// Set variables whose names its properties do not show.
    SetAnyVariable,
    /// Read any variable.
    ReadAnyVariable,
    /// Read any property of the run.
    ReadAnyProperty,
    /// Write files whose names its properties do not show.
    WriteFiles,
}

#[cfg(test)]
mod tests {
    use drumfire_jmx::Node;

    use super::*;

    #[test]
    fn a_condition_reads_one_property_and_a_computed_text_may_meet_it() {
        let node = Node::new("X", "", "x")
            .with("flag", true)
            .with("mode", " 3 ")
            .with("computed", "${mode}");
        let tests = [
            (Test::On("flag"), true),
            (Test::Off("flag"), false),
            (Test::Off("none"), true),
            (Test::Is("mode", &["3", "4"]), true),
            (Test::Is("none", &["3"]), false),
            (Test::Is("none", &[""]), true),
            (Test::Filled("none"), false),
            (Test::Is("computed", &["3"]), false),
        ];
        for (test, holds) in tests {
            assert_eq!(test.holds(&node.props), holds, "{test:?}");
        }
        assert!(When::If(Test::Is("computed", &["3"])).may_hold(&node.props));
        assert!(!When::If(Test::Is("mode", &["4"])).may_hold(&node.props));
        assert!(When::Always.may_hold(&node.props) && !When::Never.may_hold(&node.props));
    }
}
