//! Changes of single properties: for all plans of this repository, only the lines of the property differ, and the plan reads
//! back with the value.

use std::path::Path;

use drumfire_jmx::{
    Node, Prop, Props, Splice, Tree, Value, add_property, set_attribute, set_value, spliced,
};
use fastrand::Rng;

use crate::writer::plans;

/// The simple properties of a plan: the element's number and the property's number within it.
fn places(tree: &Tree) -> Vec<(usize, usize)> {
    let nodes = nodes(tree).into_iter().enumerate();
    nodes
        .flat_map(|(at, node)| {
            let count = leaves(&node.props).len();
            (0..count).map(move |leaf| (at, leaf))
        })
        .collect()
}

fn nodes(tree: &Tree) -> Vec<&Node> {
    let mut found = Vec::new();
    let mut open: Vec<&Node> = tree.roots.iter().rev().collect();
    while let Some(node) = open.pop() {
        found.push(node);
        open.extend(node.children.iter().rev());
    }
    found
}

fn leaves(props: &Props) -> Vec<&Prop> {
    let mut found = Vec::new();
    for prop in props {
        leaf(prop, &mut found);
    }
    found
}

fn leaf<'t>(prop: &'t Prop, found: &mut Vec<&'t Prop>) {
    match &prop.value {
        Value::Element(element) => found.extend(leaves(&element.props)),
        Value::List(items) | Value::Map(items) => items.iter().for_each(|item| leaf(item, found)),
        Value::Object(_) | Value::Null => {}
        _ => found.push(prop),
    }
}

/// A value that a person might type, of the property's kind or with a variable.
fn value(old: &Value, random: &mut Rng) -> Value {
    const TEXTS: [&str; 9] = [
        "",
        "a",
        "${a b}",
        "<b a=\"1\">&amp;</b>",
        "one\ntwo\n",
        " \t\r\n ",
        "]]>",
        "\u{e9}\u{1f600}\u{1}",
        "a'b\"c\\",
    ];
    let text = Value::Str(random.choice(TEXTS).expect("a text").to_owned());
    let whole = random.i32(..);
    match old {
        Value::Str(_) => text,
        _ if random.u8(..4) == 0 => Value::Str("${variable}".to_owned()),
        Value::Bool(old) => Value::Bool(!old),
        Value::Int(_) => Value::Int(whole),
        Value::Long(_) => Value::Long(i64::from(whole) << 8),
        Value::Float(_) => Value::Float(1.5),
        _ => Value::Double(f64::from(whole) / 4.0),
    }
}

/// The bytes before the first and after the last difference are at least those outside of the range.
fn assert_only(before: &[u8], after: &[u8], start: usize, end: usize, told: &str) {
    assert_eq!(before[..start], after[..start], "{told}: the bytes before");
    let rest = before.len() - end;
    assert!(after.len() >= rest, "{told}");
    assert_eq!(
        before[end..],
        after[after.len() - rest..],
        "{told}: the bytes after"
    );
}

fn read(bytes: &[u8], path: &Path) -> Option<Tree> {
    drumfire_jmx::read(bytes, path).ok().map(|read| read.tree)
}

/// As some other program may have saved the plan.
fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let marked = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    marked.into_bytes()
}

#[test]
fn one_property_changes_and_no_other_byte() {
    let mut random = Rng::with_seed(44);
    let mut changed = 0;
    for path in plans() {
        let plain = std::fs::read(&path).expect("a plan");
        let has_mark = plain.starts_with(b"\xef\xbb\xbf");
        let is_odd = has_mark || plain.windows(2).any(|pair| pair == b"\r\n");
        // Every other plan has the line ends of Windows and a byte order mark.
        let variant = if !is_odd && random.bool() {
            with_crlf(&plain)
        } else {
            plain
        };
        if let Some(tree) = read(&variant, &path) {
            let bytes = &variant;
            let mark = if bytes.starts_with(b"\xef\xbb\xbf") {
                3
            } else {
                0
            };
            let places = places(&tree);
            if tree.source.text.contains(" reference=") || places.is_empty() {
                continue;
            }
            for _ in 0..3 {
                let (node, number) = places[random.usize(..places.len())];
                let element = nodes(&tree)[node];
                let prop = leaves(&element.props)[number];
                let new = value(&prop.value, &mut random);
                let told = format!("{}: {} = {new:?}", path.display(), prop.name);
                let after = spliced(bytes, &set_value(&tree, prop, &new));
                assert_only(
                    bytes,
                    &after,
                    mark + prop.span.start,
                    mark + prop.span.end,
                    &told,
                );
                let again = read(&after, &path).unwrap_or_else(|| panic!("{told}: unreadable"));
                let own = nodes(&again)[node];
                // A name or a flag among the properties outweighs the attribute, and is kept there.
                let special = matches!(
                    prop.name.as_str(),
                    "TestElement.name" | "TestElement.enabled"
                );
                let own = leaves(&own.props);
                assert!(
                    special || own[number].value == new,
                    "{told}: {:?}",
                    own[number].value
                );
                changed += 1;
            }
        }
    }
    assert!(changed > 500, "{changed}");
}

#[test]
fn elements_get_names_flags_and_properties_and_no_other_byte_changes() {
    let mut random = Rng::with_seed(45);
    for path in plans() {
        let plain = std::fs::read(&path).expect("a plan");
        let bytes = if random.bool() {
            with_crlf(&plain)
        } else {
            plain
        };
        if let Some(tree) = read(&bytes, &path) {
            if tree.source.text.contains(" reference=") {
                continue;
            }
            let mark = if bytes.starts_with(b"\xef\xbb\xbf") {
                3
            } else {
                0
            };
            let number = random.usize(..nodes(&tree).len());
            let node = nodes(&tree)[number];
            let new = Prop::new("Added.property", "a <b>\nc");
            let told = format!("{}: {}", path.display(), node.name);
            let splices: [Splice; 3] = [
                set_attribute(&tree, node.span, "testname", "a \"b\" <c>"),
                set_attribute(&tree, node.span, "enabled", "false"),
                add_property(&tree, node.whole, &node.props, &new).expect("a place"),
            ];
            let after = spliced(&bytes, &splices);
            assert_only(
                &bytes,
                &after,
                mark + node.whole.start,
                mark + node.whole.end,
                &told,
            );
            let again = read(&after, &path).unwrap_or_else(|| panic!("{told}: unreadable"));
            let own = nodes(&again)[number];
            assert_eq!(
                own.props.value("Added.property"),
                Some(&new.value),
                "{told}"
            );
            let has = |name| node.props.value(name).is_some();
            assert!(
                has("TestElement.name") || own.name.as_str() == "a \"b\" <c>",
                "{told}"
            );
            assert!(has("TestElement.enabled") || !own.enabled, "{told}");
        }
    }
}
