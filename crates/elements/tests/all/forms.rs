//! Compares the facts with what JMeter's own forms say. `cargo xtask forms` records that anew.

use std::collections::BTreeMap;

use drumfire_elements::{ElementFacts, Kind, Property, Role, Saved, all};

const RECORD: &str = include_str!("../../jmeter-5.6.3.tsv");

/// Forms that edit no element of their own.
const PARTS: [(&str, &str); 3] = [
    ("NamePanel", "the root of JMeter's tree"),
    ("LDAPArgumentsPanel", "a table within LDAP forms"),
    ("HTTPArgumentsPanel", "a table within HTTP forms"),
];

/// Prefixes of properties that only shape charts and tables in JMeter's window.
const WINDOW_ONLY: [&str; 3] = ["RespTimeGraph.", "saveHeaders", "useGroupName"];

/// Inputs whose property the facts describe otherwise, with the reason.
const EXCEPTED: [(&str, &str, &str); 4] = [
    (
        "ResponseAssertion",
        "Assertion.test_type",
        "several radio buttons and check boxes add it up",
    ),
    (
        "HTTPSamplerProxy",
        "HTTPSampler.postBodyRaw",
        "the method of a GraphQL HTTP Request decides it",
    ),
    (
        "SmtpSampler",
        "SMTPSampler.emlMessageToSend",
        "the check box before the input is its label",
    ),
    (
        "ThroughputController",
        "ThroughputController.maxThroughput",
        "the list of styles moves the number between two properties",
    ),
];

/// One form of JMeter.
#[derive(Default)]
struct Form<'r> {
    gui: &'r str,
    class: &'r str,
    name: &'r str,
    /// Kind and value of the properties of a new element.
    new: BTreeMap<&'r str, (&'r str, &'r str)>,
    /// The schema's values for missing properties.
    absent: BTreeMap<&'r str, &'r str>,
    /// Kinds of the properties that changed inputs write.
    kinds: BTreeMap<&'r str, &'r str>,
    /// The labels of the inputs that write a property.
    labels: BTreeMap<&'r str, Vec<&'r str>>,
    /// The values of radio buttons and lists, with their labels.
    choices: BTreeMap<&'r str, Vec<(&'r str, &'r str)>>,
}

fn forms() -> Vec<Form<'static>> {
    let mut forms: Vec<Form> = Vec::new();
    for line in RECORD.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if let ["form", gui, class, name, _] = fields[..] {
            forms.push(Form {
                gui,
                class,
                name,
                ..Form::default()
            });
            continue;
        }
        let form = forms.last_mut().expect("the first line begins a form");
        match fields[..] {
            ["new", name, kind, value] => drop(form.new.insert(name, (kind, value))),
            ["kind", name, kind] => drop(form.kinds.insert(name, kind)),
            ["absent", name, value] => drop(form.absent.insert(name, value)),
            ["input", name, _, label] => form.labels.entry(name).or_default().push(plain(label)),
            ["choice", name, value, label] => {
                let choices = form.choices.entry(name).or_default();
                choices.push((value, plain(label)));
            }
            _ => panic!("a line of another form: {line}"),
        }
    }
    forms
}

/// A label without the colon at its end.
fn plain(label: &str) -> &str {
    label.trim().trim_end_matches(':').trim()
}

fn saved_as(kind: &str) -> Saved {
    Saved::recorded(kind).unwrap_or_else(|| panic!("another kind of property: {kind}"))
}

/// The ways in which one property's facts differ from a form.
fn property_differences(form: &Form, name: &str, property: &Property) -> Vec<String> {
    let mut differences = Vec::new();
    if let Some(kind) = form
        .kinds
        .get(name)
        .filter(|_| !form.new.contains_key(name))
        && property.saved != saved_as(kind)
    {
        differences.push(format!(
            "is saved as {kind}, the facts say {:?}",
            property.saved
        ));
    }
    if let Some((kind, value)) = form.new.get(name) {
        if property.saved != saved_as(kind) {
            differences.push(format!(
                "is saved as {kind}, the facts say {:?}",
                property.saved
            ));
        }
        if property.default != *value {
            differences.push(format!(
                "is `{value}` at first, the facts say `{}`",
                property.default
            ));
        }
    }
    let absent = form.absent.get(name).copied().unwrap_or_default();
    // `false` and the value of a new element go without saying.
    if ![property.absent, property.default, "false"].contains(&absent) && !absent.is_empty() {
        differences.push(format!(
            "is `{absent}` if absent, the facts say `{}`",
            property.absent
        ));
    }
    if let Some(labels) = form.labels.get(name)
        && labels.iter().any(|label| !label.is_empty())
        && !labels.contains(&property.label)
    {
        differences.push(format!(
            "has the label `{}`, the facts say `{}`",
            labels[0], property.label
        ));
    }
    if let (Some(written), Kind::Choice(choices)) = (form.choices.get(name), property.kind) {
        for (value, label) in written {
            let is_same = |choice: &&drumfire_elements::Choice| {
                choice.value == *value && (label.is_empty() || choice.label == *label)
            };
            if !choices.iter().any(|choice| is_same(&choice)) {
                differences.push(format!(
                    "has the choice `{value}` (`{label}`), the facts do not"
                ));
            }
        }
    }
    differences
}

/// The ways in which the facts differ from a form.
fn differences(form: &Form, facts: &ElementFacts) -> Vec<String> {
    let mut differences = Vec::new();
    let mut names: Vec<&str> = form.new.keys().chain(form.labels.keys()).copied().collect();
    names.extend(form.choices.keys());
    names.sort_unstable();
    names.dedup();
    for name in names {
        if WINDOW_ONLY.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        match facts.property(name, name) {
            None => differences.push(format!("{name}: not among the facts")),
            Some(property) => {
                let found = property_differences(form, name, property);
                differences.extend(found.into_iter().map(|text| format!("{name} {text}")));
            }
        }
    }
    let known_name = facts.name == form.name
        || facts.other_guis.contains(&(form.gui, form.name))
        || form.name.trim_end_matches(" (DEPRECATED)") == facts.name;
    if !known_name {
        differences.push(format!(
            "is called `{}`, the facts say `{}`",
            form.name, facts.name
        ));
    }
    differences
}

#[test]
fn the_menu_offers_what_jmeters_menu_offers() {
    let mut offered = std::collections::BTreeSet::new();
    for facts in all().filter(|facts| !matches!(facts.role, Role::Plan)) {
        let first = (facts.gui, facts.name);
        let types = std::iter::once(first).chain(facts.other_guis.iter().copied());
        for (_, name) in types.filter(|(gui, _)| facts.is_in_menu(gui)) {
            let is_new = offered.insert((facts.role.menu(), name));
            assert!(is_new, "two types are called {name}");
        }
        for gui in facts.outside_menu {
            assert!(facts.guis().any(|own| own == *gui), "{} {gui}", facts.class);
        }
    }
    for line in RECORD.lines() {
        let ["form", gui, class, name, menu] = line.split('\t').collect::<Vec<_>>()[..] else {
            continue;
        };
        let mut types = all().filter(|facts| facts.class == class);
        let Some(facts) = types.find(|facts| facts.guis().any(|own| own == gui)) else {
            continue;
        };
        let is_offered = facts.is_in_menu(gui) && facts.role != Role::Plan;
        assert_eq!(is_offered, !menu.is_empty(), "{class} {gui} {name}");
    }
}

#[test]
fn facts_say_what_jmeters_forms_say() {
    let mut found = Vec::new();
    for form in forms() {
        if PARTS.iter().any(|(gui, _)| *gui == form.gui) {
            continue;
        }
        let mut types = all().filter(|facts| facts.class == form.class);
        let Some(facts) = types.find(|facts| facts.guis().any(|gui| gui == form.gui)) else {
            found.push(format!("{} {}: no facts", form.class, form.gui));
            continue;
        };
        let told = differences(&form, facts).into_iter();
        found.extend(told.map(|text| format!("{} {}: {text}", form.class, form.gui)));
    }
    let is_excepted = |text: &String| {
        EXCEPTED.iter().any(|(class, property, _)| {
            text.starts_with(&format!("{class} ")) && text.contains(&format!(": {property} "))
        })
    };
    let unexplained: Vec<&String> = found.iter().filter(|text| !is_excepted(text)).collect();
    assert!(
        unexplained.is_empty(),
        "{} differences:\n{}",
        unexplained.len(),
        unexplained
            .iter()
            .map(|text| text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    );
    for (class, property, why) in EXCEPTED {
        let is_used = found.iter().any(|text| {
            text.starts_with(&format!("{class} ")) && text.contains(&format!(": {property} "))
        });
        assert!(is_used, "{class} {property} differs no more: {why}");
    }
}
