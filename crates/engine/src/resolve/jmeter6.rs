//! Plans that JMeter 6 saved. The version in the file decides by which rules they run.
//!
//! JMeter 6 can disable single arguments (`Arguments#getEnabledArguments`), which JMeter 5.6.3 sends; they are removed here. The
//! rules that elements follow have their place there: see `DecodingContext::follows_jmeter6`.

use drumfire_elements::config::user_defined_variables::VARIABLES;
use drumfire_jmx::{Diagnostic, Node, Prop, Props, Tree, Value};
use drumfire_platform::words::counted;

/// The tree as the JMeter that saved it would run it, and a note on what differs from JMeter 5.6.3.
pub fn as_saved(mut tree: Tree) -> (Tree, Option<Diagnostic>) {
    if !tree.is_of_jmeter6() {
        return (tree, None);
    }
    let mut roots = tree.roots.to_vec();
    let left_out: u64 = roots.iter_mut().map(leave_out).sum();
    if left_out == 0 {
        return (tree, None);
    }
    tree.roots = roots.into();
    let message = format!(
        "{} not used, as in JMeter 6, which saved this plan; JMeter 5.6.3 uses them",
        match left_out {
            1 => "1 disabled argument is".to_owned(),
            _ => format!("{} are", counted(left_out, "disabled argument")),
        }
    );
    let note = Diagnostic::note("jmeter-6-arguments", message)
        .help("enable them in JMeter 6 if they are to be used")
        .in_file(&tree.source);
    (tree, Some(note))
}

/// Removes disabled arguments from an element and those below it, and counts them.
fn leave_out(node: &mut Node) -> u64 {
    let below: u64 = node.children.iter_mut().map(leave_out).sum();
    below + enabled(&mut node.props)
}

fn enabled(props: &mut Props) -> u64 {
    let mut left_out = 0;
    let changed: Vec<Prop> = props
        .iter()
        .filter_map(|prop| {
            let mut prop = prop.clone();
            let count = match &mut prop.value {
                Value::Element(element) => enabled(&mut element.props),
                Value::List(items) if prop.name == VARIABLES.name => {
                    let all = items.len();
                    items
                        .retain(|item| !matches!(&item.value, Value::Element(one) if !one.enabled));
                    (all - items.len()) as u64
                }
                _ => 0,
            };
            left_out += count;
            (count > 0).then_some(prop)
        })
        .collect();
    for prop in changed {
        props.set(prop);
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(version: &str) -> Tree {
        let argument = |name: &str, enabled: &str| {
            format!(
                r#"<elementProp name="{name}" elementType="HTTPArgument"{enabled}><stringProp name="Argument.name">{name}</stringProp></elementProp>"#
            )
        };
        let text = format!(
            r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="{version}"><hashTree><TestPlan guiclass="g" testclass="TestPlan" testname="p"/><hashTree>
<HTTPSamplerProxy guiclass="g" testclass="HTTPSamplerProxy" testname="r"><elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{}{}</collectionProp></elementProp></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></jmeterTestPlan>"#,
            argument("a", ""),
            argument("b", r#" enabled="false""#),
        );
        drumfire_jmx::read(text.as_bytes(), "p.jmx".as_ref())
            .unwrap()
            .tree
    }

    #[test]
    fn the_version_of_the_file_decides_about_disabled_arguments() {
        for (version, expected) in [
            ("5.6.3", 2),
            ("6.0.0", 1),
            ("6.0.0-SNAPSHOT", 1),
            ("2.13", 2),
            ("10.1", 1),
        ] {
            let (tree, note) = as_saved(plan(version));
            let sampler = &tree.roots[0].children[0];
            let arguments = sampler.props.element("HTTPsampler.Arguments").unwrap();
            let names = arguments.props.list("Arguments.arguments");
            assert_eq!(names.len(), expected, "{version}");
            assert_eq!(note.is_some(), expected == 1, "{version}");
        }
    }
}
