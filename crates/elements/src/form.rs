//! The form in which each element's facts are written.

use drumfire_jmx::{Node, Props};

pub use crate::property::*;
use crate::when::{FleetRule, May, When};

/// The part that an element plays in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The Test Plan.
    Plan,
    /// A thread group.
    ThreadGroup,
    /// A controller.
    Controller,
    /// A controller that only Module and Include Controllers reach.
    Fragment,
    /// A sampler.
    Sampler,
    /// Merged into samplers, or defines variables before the run.
    Config,
    /// Sets variables again and again while users run. JMeter's menu lists it among the configuration.
    Data,
    /// A timer.
    Timer,
    /// A pre-processor.
    PreProcessor,
    /// A post-processor.
    PostProcessor,
    /// An assertion.
    Assertion,
    /// A listener.
    Listener,
    /// Does nothing in a run.
    NonTest,
}

impl Role {
    /// The title of JMeter's menu that lists such elements.
    pub fn menu(self) -> &'static str {
        match self {
            Role::Plan => "Test Plan",
            Role::ThreadGroup => "Threads (Users)",
            Role::Controller => "Logic Controller",
            Role::Fragment => "Test Fragment",
            Role::Sampler => "Sampler",
            Role::Config | Role::Data => "Config Element",
            Role::Timer => "Timer",
            Role::PreProcessor => "Pre Processors",
            Role::PostProcessor => "Post Processors",
            Role::Assertion => "Assertions",
            Role::Listener => "Listener",
            Role::NonTest => "Non-Test Elements",
        }
    }

    /// Whether JMeter's window lets an element of the role hold one of the other (`MenuFactory#canAddTo`).
    pub fn holds(self, child: Role) -> bool {
        match self {
            Role::Plan => !matches!(child, Role::Plan | Role::Controller | Role::Sampler),
            Role::ThreadGroup | Role::Controller | Role::Fragment => !matches!(
                child,
                Role::Plan | Role::ThreadGroup | Role::Fragment | Role::NonTest
            ),
            Role::Sampler => !matches!(
                child,
                Role::Plan
                    | Role::ThreadGroup
                    | Role::Controller
                    | Role::Fragment
                    | Role::Sampler
                    | Role::NonTest
            ),
            _ => false,
        }
    }
}

/// The facts of one element type.
#[derive(Debug)]
pub struct ElementFacts {
    /// The class, as JMeter writes it into plans.
    pub class: &'static str,
    /// Its name in JMeter's menu.
    pub name: &'static str,
    /// The class of its form (`guiclass`).
    pub gui: &'static str,
    /// Other forms that edit the same type, with their names in the menu.
    pub other_guis: &'static [(&'static str, &'static str)],
    /// Those of its forms that JMeter's menu does not offer: parts of other forms, and types of old plans.
    pub outside_menu: &'static [&'static str],
    /// Its part in a plan.
    pub role: Role,
    /// Says in a sentence how it acts.
    pub help: &'static str,
    /// What Drumfire does differently; empty if nothing.
    pub differs: &'static str,
    /// The version of JMeter, or of the plugin, that brought it; empty if it is older than 3.0.
    pub since: &'static str,
    /// The properties that stand under no heading.
    pub fields: &'static [Property],
    /// The properties that stand under headings.
    pub sections: &'static [Section],
    /// How the machines of a fleet share it.
    pub fleet: &'static [FleetRule],
    /// When it may end its user or the run.
    pub ends_run: When,
    /// When it may end the loop around it.
    pub breaks_loop: When,
    /// Effects that no property tells.
    pub may: &'static [May],
}

/// Properties under a heading of the form.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// The properties.
    pub fields: &'static [Property],
}

/// The properties under a heading.
pub const fn section(title: &'static str, fields: &'static [Property]) -> Section {
    Section { title, fields }
}

impl ElementFacts {
    /// An element type: its role, its class, its name in JMeter's menu, and the class of its form.
    pub const fn new(
        role: Role,
        class: &'static str,
        name: &'static str,
        gui: &'static str,
    ) -> ElementFacts {
        ElementFacts {
            class,
            name,
            gui,
            other_guis: &[],
            outside_menu: &[],
            role,
            help: "",
            differs: "",
            since: "",
            fields: &[],
            sections: &[],
            fleet: &[],
            ends_run: When::Never,
            breaks_loop: When::Never,
            may: &[],
        }
    }

    /// Says what it does.
    pub const fn help(mut self, sentence: &'static str) -> ElementFacts {
        self.help = sentence;
        self
    }

    /// Says what Drumfire does differently.
    pub const fn differs(mut self, sentence: &'static str) -> ElementFacts {
        self.differs = sentence;
        self
    }

    /// Says which version brought it.
    pub const fn since(mut self, version: &'static str) -> ElementFacts {
        self.since = version;
        self
    }

    /// Sets the properties that stand under no heading.
    pub const fn fields(mut self, fields: &'static [Property]) -> ElementFacts {
        self.fields = fields;
        self
    }

    /// Sets the properties that stand under headings.
    pub const fn sections(mut self, sections: &'static [Section]) -> ElementFacts {
        self.sections = sections;
        self
    }

    /// Names other forms of the same type.
    pub const fn also(mut self, guis: &'static [(&'static str, &'static str)]) -> ElementFacts {
        self.other_guis = guis;
        self
    }

    /// Names the forms that JMeter's menu does not offer.
    pub const fn outside_menu(mut self, guis: &'static [&'static str]) -> ElementFacts {
        self.outside_menu = guis;
        self
    }

    /// Says how the machines of a fleet share it.
    pub const fn fleet(mut self, rules: &'static [FleetRule]) -> ElementFacts {
        self.fleet = rules;
        self
    }

    /// Says when it may end its user or the run.
    pub const fn ends_run(mut self, when: When) -> ElementFacts {
        self.ends_run = when;
        self
    }

    /// Says when it may end the loop around it.
    pub const fn breaks_loop(mut self, when: When) -> ElementFacts {
        self.breaks_loop = when;
        self
    }

    /// Says what it may do although no property says so.
    pub const fn may(mut self, may: &'static [May]) -> ElementFacts {
        self.may = may;
        self
    }

    /// All forms of the type.
    pub fn guis(&self) -> impl Iterator<Item = &'static str> {
        let others = self.other_guis.iter().map(|(gui, _)| *gui);
        std::iter::once(self.gui).chain(others)
    }

    /// Whether JMeter's menu offers the type with a form.
    pub fn is_in_menu(&self, gui: &str) -> bool {
        !self.outside_menu.contains(&gui)
    }

    /// All properties, in the order of the form.
    pub fn properties(&self) -> impl Iterator<Item = &'static Property> {
        let under_headings = self.sections.iter().flat_map(|section| section.fields);
        self.fields.iter().chain(under_headings)
    }

    /// A property of the element or of an element within it. `top` is the element's property, `name` the innermost one.
    pub fn property(&self, top: &str, name: &str) -> Option<&'static Property> {
        match self.properties().find(|property| property.name == top) {
            Some(own) if own.name == name => Some(own),
            Some(own) => own.inner(name),
            None => self.properties().find_map(|property| property.inner(name)),
        }
    }

    /// Whether it is a script in the plan.
    pub fn is_script(&self) -> bool {
        self.script_texts().next().is_some()
    }

    /// The properties that hold a script.
    pub fn script_texts(&self) -> impl Iterator<Item = &'static str> {
        self.named(|kind| matches!(kind, Kind::Script))
    }

    /// The properties that name a file with a script.
    pub fn script_files(&self) -> impl Iterator<Item = &'static str> {
        self.named(|kind| matches!(kind, Kind::File(FileUse::Script)))
    }

    /// The property that names a file with rows of data.
    pub fn data_file(&self) -> Option<&'static str> {
        self.named(|kind| matches!(kind, Kind::File(FileUse::Data)))
            .next()
    }

    /// The properties that name a file which the element reads, but for libraries.
    pub fn read_files(&self) -> impl Iterator<Item = &'static str> {
        self.named(|kind| {
            matches!(kind, Kind::File(used) if !matches!(used, FileUse::Write | FileUse::Library))
        })
    }

    fn named(&self, is_it: fn(&Kind) -> bool) -> impl Iterator<Item = &'static str> {
        let properties = self.properties();
        properties
            .filter(move |property| is_it(&property.kind))
            .map(|property| property.name)
    }

    /// The properties whose text names variables that the element sets.
    pub fn set_names(&self) -> impl Iterator<Item = &'static Property> {
        let properties = self.properties();
        properties.filter(|property| {
            property
                .names
                .is_some_and(|names| names.access == Access::Sets)
        })
    }

    /// Whether it puts parts of a response into variables and does nothing else.
    pub fn is_extractor(&self) -> bool {
        self.role == Role::PostProcessor
            && self.set_names().next().is_some()
            && !self.properties().any(sends)
    }

    /// The file whose first line names the variables of its columns, if an element with these properties has one.
    pub fn header_file<'p>(&self, props: &'p Props) -> Option<std::borrow::Cow<'p, str>> {
        let file = self.data_file()?;
        let is_named = self
            .set_names()
            .any(|property| !props.str(property.name).trim().is_empty());
        (!is_named).then(|| props.str(file))
    }

    /// An enabled element of this type with this name, without properties.
    pub fn node(&self, name: &str) -> Node {
        Node::new(self.class, self.gui, name)
    }
}

fn sends(property: &Property) -> bool {
    matches!(property.kind, Kind::Code(Language::Sql))
}

#[cfg(test)]
mod tests {
    use crate::config::{csv_data_set, random_csv_data_set, redis_data_set};

    #[test]
    fn the_first_line_of_a_data_file_names_columns_unless_the_element_does() {
        for facts in [&csv_data_set::FACTS, &random_csv_data_set::FACTS] {
            let unnamed = facts.node("data").with("filename", "users.csv");
            let file = facts.header_file(&unnamed.props);
            assert_eq!(file.as_deref(), Some("users.csv"), "{}", facts.class);
            let named = unnamed.with("variableNames", "user");
            assert_eq!(facts.header_file(&named.props), None, "{}", facts.class);
        }
        let redis = redis_data_set::FACTS.node("data");
        assert_eq!(redis_data_set::FACTS.header_file(&redis.props), None);
    }
}
