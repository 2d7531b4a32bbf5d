//! One property of an element, and how its facts are written.

/// One property of an element.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// Its name in plans.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// The XML element that holds it.
    pub saved: Saved,
    /// The label in JMeter's form; empty if the form does not show it.
    pub label: &'static str,
    /// The value of a new element.
    pub default: &'static str,
    /// The value that JMeter takes if the property is missing.
    pub absent: &'static str,
    /// Says in a sentence how it acts.
    pub help: &'static str,
    /// The version that brought it; empty if it is as old as its element.
    pub since: &'static str,
    /// What Drumfire does differently; empty if nothing.
    pub differs: &'static str,
    /// Whether its text is a list of variables' names.
    pub names: Option<Names>,
}

/// The kind of a property's value.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// One of these values.
    Choice(&'static [Choice]),
    /// Any text; the form suggests these.
    Suggested(&'static [&'static str]),
    /// An expression or a document in a language.
    Code(Language),
    /// A script that is run.
    Script,
    /// The name of a file.
    File(FileUse),
    /// A password or a key.
    Secret,
    /// A list of texts.
    List,
    /// A table: a list of rows, each a list of texts.
    Rows(&'static [&'static str]),
    /// A list of elements.
    Items(&'static Item),
    /// One element.
    Element(&'static Item),
    /// An object of a Java class, which XStream writes.
    Object,
}

/// A value of a property, with its label in JMeter's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The value in plans.
    pub value: &'static str,
    /// The label.
    pub label: &'static str,
}

/// The language of a text, for editors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// CSS selectors.
    Css,
    /// An expression whose truth is asked: of a function, or of JavaScript.
    Condition,
    /// GraphQL.
    GraphQl,
    /// JMESPath.
    JmesPath,
    /// JSON.
    Json,
    /// JSONPath.
    JsonPath,
    /// A regular expression.
    Regex,
    /// The schedule of an Open Model Thread Group.
    Schedule,
    /// SQL.
    Sql,
    /// XML.
    Xml,
    /// XPath.
    XPath,
}

/// How an element uses a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// Reads rows of data.
    Data,
    /// Sends it.
    Upload,
    /// Runs it as a script.
    Script,
    /// Includes it as a plan.
    Plan,
    /// Loads classes from it.
    Library,
    /// Reads it for another purpose.
    Read,
    /// Writes it.
    Write,
}

/// How a property's text names variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    /// Whether the element sets or reads them.
    pub access: Access,
    /// The separator of several names.
    pub separator: Option<char>,
    /// Whether parts of the variable go with it: `name_1`, `name_matchNr`, `name_g1`.
    pub has_parts: bool,
}

/// How an element uses a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It gives the variable a value.
    Sets,
    /// It uses the variable.
    Reads,
}

/// The XML element in which JMeter saves a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named after its XML element")]
pub enum Saved {
    StringProp,
    BoolProp,
    IntProp,
    LongProp,
    FloatProp,
    DoubleProp,
    CollectionProp,
    ElementProp,
    ObjProp,
}

impl Saved {
    /// The kind of a property by its name in the record of JMeter's forms.
    #[must_use]
    pub fn recorded(kind: &str) -> Option<Saved> {
        Some(match kind {
            "string" => Saved::StringProp,
            "boolean" => Saved::BoolProp,
            "integer" => Saved::IntProp,
            "long" => Saved::LongProp,
            "float" => Saved::FloatProp,
            "double" => Saved::DoubleProp,
            "collection" => Saved::CollectionProp,
            "testelement" => Saved::ElementProp,
            "object" => Saved::ObjProp,
            _ => return None,
        })
    }
}

/// An element within a property.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// Its class.
    pub class: &'static str,
    /// Its properties.
    pub fields: &'static [Property],
}

impl Item {
    fn property(&self, name: &str) -> Option<&'static Property> {
        self.fields
            .iter()
            .find(|field| field.name == name)
            .or_else(|| self.fields.iter().find_map(|field| field.inner(name)))
    }
}

impl Property {
    const fn new(name: &'static str, kind: Kind, saved: Saved) -> Property {
        Property {
            name,
            kind,
            saved,
            label: "",
            default: "",
            absent: "",
            help: "",
            since: "",
            differs: "",
            names: None,
        }
    }

    /// Sets the label of JMeter's form.
    pub const fn label(mut self, label: &'static str) -> Property {
        self.label = label;
        self
    }

    /// Sets the value of a new element.
    pub const fn default(mut self, value: &'static str) -> Property {
        self.default = value;
        self
    }

    /// Sets the value that JMeter takes if the property is missing.
    pub const fn absent(mut self, value: &'static str) -> Property {
        self.absent = value;
        self
    }

    /// Says what it does.
    pub const fn help(mut self, sentence: &'static str) -> Property {
        self.help = sentence;
        self
    }

    /// Says which version brought it.
    pub const fn since(mut self, version: &'static str) -> Property {
        self.since = version;
        self
    }

    /// Says what Drumfire does differently.
    pub const fn differs(mut self, sentence: &'static str) -> Property {
        self.differs = sentence;
        self
    }

    /// Its text is the name of a variable that the element sets.
    pub const fn sets(self) -> Property {
        self.naming(Access::Sets, None, false)
    }

    /// Its text is a list of variables that the element sets.
    pub const fn sets_each(self, separator: char) -> Property {
        self.naming(Access::Sets, Some(separator), false)
    }

    /// Its text is the name of a variable that the element sets with its parts.
    pub const fn sets_with_parts(self) -> Property {
        self.naming(Access::Sets, None, true)
    }

    /// Its text is a list of variables that the element sets with their parts.
    pub const fn sets_each_with_parts(self, separator: char) -> Property {
        self.naming(Access::Sets, Some(separator), true)
    }

    /// Its text is the name of a variable that the element reads.
    pub const fn reads(self) -> Property {
        self.naming(Access::Reads, None, false)
    }

    /// Its text is the name of a variable whose parts the element reads.
    pub const fn reads_parts(self) -> Property {
        self.naming(Access::Reads, None, true)
    }

    const fn naming(
        mut self,
        access: Access,
        separator: Option<char>,
        has_parts: bool,
    ) -> Property {
        self.names = Some(Names {
            access,
            separator,
            has_parts,
        });
        self
    }

    /// The property is saved as another XML element than its kind usually is.
    pub const fn saved(mut self, saved: Saved) -> Property {
        self.saved = saved;
        self
    }

    /// The property of an element within this one.
    pub(crate) fn inner(&self, name: &str) -> Option<&'static Property> {
        match self.kind {
            Kind::Items(item) | Kind::Element(item) => item.property(name),
            _ => None,
        }
    }
}

/// A text.
pub const fn text(name: &'static str) -> Property {
    Property::new(name, Kind::Text, Saved::StringProp)
}

/// A whole number, which JMeter saves as text.
pub const fn whole(name: &'static str) -> Property {
    Property::new(name, Kind::Whole, Saved::StringProp)
}

/// A number, which JMeter saves as text.
pub const fn number(name: &'static str) -> Property {
    Property::new(name, Kind::Number, Saved::StringProp)
}

/// A flag.
pub const fn flag(name: &'static str) -> Property {
    Property::new(name, Kind::Flag, Saved::BoolProp)
}

/// One of several values.
pub const fn choice(name: &'static str, choices: &'static [Choice]) -> Property {
    Property::new(name, Kind::Choice(choices), Saved::StringProp)
}

/// A value of a choice, with its label.
pub const fn is(value: &'static str, label: &'static str) -> Choice {
    Choice { value, label }
}

/// A value of a choice that is its own label.
pub const fn same(value: &'static str) -> Choice {
    is(value, value)
}

/// A text for which the form has suggestions.
pub const fn suggested(name: &'static str, values: &'static [&'static str]) -> Property {
    Property::new(name, Kind::Suggested(values), Saved::StringProp)
}

/// A text in a language.
pub const fn code(name: &'static str, language: Language) -> Property {
    Property::new(name, Kind::Code(language), Saved::StringProp)
}

/// A script.
pub const fn script(name: &'static str) -> Property {
    Property::new(name, Kind::Script, Saved::StringProp)
}

/// A file.
pub const fn file(name: &'static str, used: FileUse) -> Property {
    Property::new(name, Kind::File(used), Saved::StringProp)
}

/// A password or a key.
pub const fn secret(name: &'static str) -> Property {
    Property::new(name, Kind::Secret, Saved::StringProp)
}

/// A list of texts.
pub const fn list(name: &'static str) -> Property {
    Property::new(name, Kind::List, Saved::CollectionProp)
}

/// A table of texts with these columns.
pub const fn rows(name: &'static str, columns: &'static [&'static str]) -> Property {
    Property::new(name, Kind::Rows(columns), Saved::CollectionProp)
}

/// A list of elements.
pub const fn items(name: &'static str, item: &'static Item) -> Property {
    Property::new(name, Kind::Items(item), Saved::CollectionProp)
}

/// An element.
pub const fn inner(name: &'static str, item: &'static Item) -> Property {
    Property::new(name, Kind::Element(item), Saved::ElementProp)
}

/// An object of a Java class.
pub const fn object(name: &'static str) -> Property {
    Property::new(name, Kind::Object, Saved::ObjProp)
}
