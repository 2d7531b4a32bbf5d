//! The writer, held against what JMeter 5.6.3 saves: `saved/` has a plan in odd handwriting and the file that
//! `SaveService` made of it.

use std::path::{Path, PathBuf};

use drumfire_jmx::{Node, Prop, Props, Read, Value, read, read_file, write};

fn parsed(text: &str) -> Read {
    read(text.as_bytes(), Path::new("plan.jmx"))
        .unwrap_or_else(|findings| panic!("{}", findings[0].render(false)))
}

fn formatted(text: &str) -> String {
    write(&parsed(text).tree)
}

/// All plans of the repository.
pub fn plans() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut plans = Vec::new();
    let mut folders = vec![root.join("compat"), root.join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "jmx" => plans.push(path),
                _ => {}
            }
        }
    }
    assert!(plans.len() > 50, "{}", plans.len());
    plans
}

/// Whether two nodes say the same, wherever they stand. JMeter adds what its constructors set and drops empty comments.
fn same(one: &Node, other: &Node) -> bool {
    one.class == other.class
        && one.gui_class == other.gui_class
        && one.name == other.name
        && one.enabled == other.enabled
        && one
            .props
            .iter()
            .filter(|prop| prop.name != "TestPlan.comments")
            .all(|prop| has(&other.props, prop))
        && one.children.len() == other.children.len()
        && one
            .children
            .iter()
            .zip(&other.children)
            .all(|(a, b)| same(a, b))
}

fn has(props: &Props, prop: &Prop) -> bool {
    props
        .get(&prop.name)
        .is_some_and(|other| same_value(&prop.value, &other.value))
}

fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Element(a), Value::Element(b)) => {
            a.class == b.class && a.name == b.name && a.props.iter().all(|p| has(&b.props, p))
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(&a.value, &b.value))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().all(|a| b.iter().any(|b| a.name == b.name))
        }
        (Value::Object(_), Value::Object(_)) => true,
        _ => one == other,
    }
}

#[test]
fn every_class_is_written_as_jmeter_saves_it() {
    let saved = include_str!("../saved/classes.saved.jmx");
    let written = formatted(include_str!("../saved/classes.jmx"));
    for (number, (ours, jmeters)) in written.lines().zip(saved.lines()).enumerate() {
        assert_eq!(ours, jmeters, "line {}", number + 1);
    }
    assert!(written == saved);
}

#[test]
fn writing_changes_no_meaning_and_settles_at_once() {
    for plan in plans() {
        let Ok(first) = read_file(&plan) else {
            continue;
        };
        let written = write(&first.tree);
        let again = parsed(&written);
        let pairs = first.tree.roots.iter().zip(again.tree.roots.iter());
        assert_eq!(first.tree.roots.len(), again.tree.roots.len());
        for (one, other) in pairs {
            assert!(same(one, other), "{}", plan.display());
        }
        assert!(write(&again.tree) == written, "{}", plan.display());
    }
}

#[test]
fn elements_of_plugins_are_kept_byte_by_byte() {
    let foreign = "<com.example.Sampler a='1'  guiclass=\"com.example.Gui\" testname=\"x\">\n  <!-- kept -->\n\
                   <stringProp\tname='y'>\"z\"</stringProp></com.example.Sampler>";
    let plan = format!(
        "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan guiclass=\"TestPlanGui\"/><hashTree>{foreign}\
         <hashTree><ConstantTimer guiclass=\"ConstantTimerGui\"/></hashTree></hashTree></hashTree></jmeterTestPlan>"
    );
    let expected = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">\n  \
           <hashTree>\n    \
             <TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\"/>\n    \
             <hashTree>\n      \
               {foreign}\n      \
               <hashTree>\n        \
                 <ConstantTimer guiclass=\"ConstantTimerGui\" testclass=\"ConstantTimer\"/>\n        \
                 <hashTree/>\n      \
               </hashTree>\n    \
             </hashTree>\n  \
           </hashTree>\n\
         </jmeterTestPlan>\n"
    );
    assert_eq!(formatted(&plan), expected);
    assert_eq!(formatted(&expected), expected);
}

#[test]
fn texts_of_version_1_0_are_decoded_once() {
    let plan = "<jmeterTestPlan version=\"1.0\"><hashTree><TestPlan guiclass=\"TestPlanGui\" testname=\"a%20b\"/><hashTree>\
                <com.example.X guiclass=\"com.example.G\" testname=\"n\"><stringProp name=\"p\">1%2B1</stringProp></com.example.X>\
                <hashTree/></hashTree></hashTree></jmeterTestPlan>";
    let written = formatted(plan);
    assert!(written.contains("testname=\"a b\""), "{written}");
    assert!(
        written.contains("<stringProp name=\"p\">1+1</stringProp>"),
        "{written}"
    );
}
