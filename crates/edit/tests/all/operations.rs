//! Single operations and what they write.

use drumfire_edit::operations::amend::{Versions, amend};
use drumfire_edit::operations::defaults::ElementType;
use drumfire_edit::operations::structure::{self, Branch, Target};
use drumfire_edit::operations::table::table;
use drumfire_edit::operations::{extract, modules, rename, retype, search, set};
use drumfire_edit::{Refused, Session, Step};

use crate::plans::{id, plan, session};

const TIMER: &str = r#"        <ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="NAME">
          <stringProp name="ConstantTimer.delay">300</stringProp>
        </ConstantTimer>
        <hashTree/>"#;

const SAMPLER: &str = r#"        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="NAME"/>
        <hashTree/>"#;

fn named(xml: &str, name: &str) -> String {
    xml.replace("NAME", name)
}

fn make(session: &mut Session, step: Result<Step, Refused>) -> String {
    let step = step.unwrap_or_else(|refused| panic!("{refused:?}"));
    session
        .make(step)
        .unwrap_or_else(|refused| panic!("{refused:?}"));
    session.model().text().to_owned()
}

fn kind(key: &str) -> ElementType {
    ElementType::of_key(key).unwrap_or_else(|| panic!("{key}"))
}

#[test]
fn a_new_sampler_is_written_as_jmeter_writes_it() {
    let (_folder, mut session) = session(&plan(&named(TIMER, "t")));
    let node = kind("HTTPSamplerProxy").node();
    let target = Target {
        parent: id(&session, "users"),
        index: 0,
    };
    let step = structure::insert(
        session.model(),
        target,
        &[Branch::new(&node, "\n")],
        &[&node],
        "Insert".to_owned(),
    );
    let text = make(&mut session, step);
    let expected = r#"      <hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="HTTP Request" enabled="true">
          <elementProp name="HTTPsampler.Arguments" elementType="Arguments" guiclass="HTTPArgumentsPanel" testclass="Arguments" testname="User Defined Variables">
            <collectionProp name="Arguments.arguments"/>
          </elementProp>
          <stringProp name="HTTPSampler.method">GET</stringProp>
          <boolProp name="HTTPSampler.follow_redirects">true</boolProp>
          <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
          <boolProp name="HTTPSampler.postBodyRaw">false</boolProp>
        </HTTPSamplerProxy>
        <hashTree/>
        <ConstantTimer"#;
    assert!(text.contains(expected), "{text}");
}

#[test]
fn elements_move_with_their_numbers_and_their_text() {
    let inside = format!(
        "{}\n{}\n{}",
        named(TIMER, "a"),
        named(SAMPLER, "s"),
        named(TIMER, "b")
    );
    let (_folder, mut session) = session(&plan(&inside));
    let (a, s, b) = (id(&session, "a"), id(&session, "s"), id(&session, "b"));
    let before = session.model().text().to_owned();
    let into = Target {
        parent: s,
        index: 0,
    };
    let step = structure::relocate(session.model(), &[b, a], into);
    let text = make(&mut session, step);
    let inner = |name: &str| {
        named(TIMER, name)
            .replace("\n  ", "\n    ")
            .replacen("        <C", "          <C", 1)
    };
    let expected = format!(
        "testname=\"s\"/>\n        <hashTree>\n{}\n{}\n        </hashTree>\n      </hashTree>",
        inner("a"),
        inner("b")
    );
    assert!(
        text.contains(&expected.replace("            <hashTree/>", "          <hashTree/>")),
        "{text}"
    );
    assert_eq!((id(&session, "a"), id(&session, "b")), (a, b));
    let back = Target {
        parent: id(&session, "users"),
        index: 0,
    };
    let step = structure::relocate(session.model(), &[a], back);
    make(&mut session, step);
    let back = Target {
        parent: id(&session, "users"),
        index: 9,
    };
    let step = structure::relocate(session.model(), &[b], back);
    assert_eq!(make(&mut session, step), before);
    let step = structure::relocate(session.model(), &[b], back).expect("it fits");
    assert!(step.is_empty(), "it is there already");
    let refused = structure::relocate(
        session.model(),
        &[s],
        Target {
            parent: a,
            index: 0,
        },
    );
    let message = refused.expect_err("a timer holds nothing").message;
    assert_eq!(
        message,
        "`a` cannot hold `s`: a sampler goes into a thread group or a controller"
    );
}

#[test]
fn elements_are_wrapped_unwrapped_duplicated_and_removed() {
    let inside = format!("{}\n{}", named(SAMPLER, "one"), named(SAMPLER, "two"));
    let (_folder, mut session) = session(&plan(&inside));
    let before = session.model().text().to_owned();
    let (one, two) = (id(&session, "one"), id(&session, "two"));
    let step = structure::wrap(session.model_mut(), &[one, two], kind("LoopController"));
    let text = make(&mut session, step);
    assert!(text.contains("          <HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"two\"/>\n          <hashTree/>\n        </hashTree>"), "{text}");
    let controller = id(&session, "Loop Controller");
    let step = structure::unwrap(session.model(), controller);
    assert_eq!(make(&mut session, step), before);
    assert_eq!((id(&session, "one"), id(&session, "two")), (one, two));
    let step = structure::duplicate(session.model(), &[one]);
    let text = make(&mut session, step);
    assert_eq!(text.matches("testname=\"one\"").count(), 2);
    let users = id(&session, "users");
    let all = session
        .model()
        .outline()
        .entry(users)
        .expect("it is there")
        .children
        .clone();
    let step = structure::remove(session.model(), &all);
    let text = make(&mut session, step);
    assert!(
        text.contains("testname=\"users\"/>\n      <hashTree/>\n    </hashTree>"),
        "{text}"
    );
    let root = session.model().root();
    assert!(structure::remove(session.model(), &[root]).is_err());
}

#[test]
fn tables_change_rows_and_cells_only() {
    let manager = r#"        <HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="h">
          <collectionProp name="HeaderManager.headers">
            <elementProp name="" elementType="Header">
              <stringProp name="Header.name">a</stringProp><!-- kept -->
              <stringProp name="Header.value">1</stringProp>
            </elementProp>
          </collectionProp>
        </HeaderManager>
        <hashTree/>"#;
    let (_folder, mut session) = session(&plan(manager));
    let before = session.model().text().to_owned();
    let h = id(&session, "h");
    let fill = |session: &mut Session, rows: &[&[&str]]| -> Result<String, Refused> {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
            .collect();
        let step = table(session.model(), h, "HeaderManager.headers", &rows)?;
        Ok(make(session, Ok(step)))
    };
    let text = fill(&mut session, &[&["a", "2"], &["b", "<"]]).expect("it fits");
    let expected = before.replace(">1<", ">2<").replace(
        "            </elementProp>\n          </coll",
        "            </elementProp>\n            <elementProp name=\"\" elementType=\"Header\">\n              <stringProp name=\"Header.name\">b</stringProp>\n              <stringProp name=\"Header.value\">&lt;</stringProp>\n            </elementProp>\n          </coll",
    );
    assert_eq!(text, expected);
    let text = fill(&mut session, &[]).expect("it fits");
    assert!(
        text.contains("<collectionProp name=\"HeaderManager.headers\"/>"),
        "{text}"
    );
    let text = fill(&mut session, &[&["c", "3"]]).expect("it fits");
    assert!(
        text.contains("headers\">\n            <elementProp name=\"\" elementType=\"Header\">\n"),
        "{text}"
    );
    let refused = fill(&mut session, &[&["x"]]);
    assert_eq!(
        refused.expect_err("a cell is missing").message,
        "row 1 has 1 cells, and the table 2 columns"
    );
}

#[test]
fn a_table_is_made_where_the_file_has_none() {
    let (_folder, mut session) = session(&plan(&named(SAMPLER, "s")));
    let s = id(&session, "s");
    let row = ["q", "1", "true", "", "", ""].map(str::to_owned).to_vec();
    let step = table(session.model(), s, "HTTPsampler.Arguments", &[row]);
    let text = make(&mut session, step);
    assert!(
        text.contains(r#"<elementProp name="q" elementType="HTTPArgument">"#),
        "{text}"
    );
    // JMeter's table does not show `Argument.metadata`, and an empty flag is the default of a new row.
    for written in [
        r#"<boolProp name="HTTPArgument.always_encode">true</boolProp>"#,
        r#"<boolProp name="HTTPArgument.use_equals">true</boolProp>"#,
        r#"<stringProp name="Argument.metadata">=</stringProp>"#,
    ] {
        assert!(text.contains(written), "{written}: {text}");
    }
    let step = set::set(
        session.model(),
        &[s],
        "HTTPsampler.Arguments/Arguments.arguments/0/Argument.value",
        Some("2"),
    );
    assert!(
        make(&mut session, step).contains(r#"<stringProp name="Argument.value">2</stringProp>"#)
    );
}

#[test]
fn module_controllers_follow_a_name() {
    let inside = format!(
        "{}\n{}",
        r#"        <GenericController guiclass="LogicControllerGui" testclass="GenericController" testname="target"/>
        <hashTree/>"#,
        r#"        <ModuleController guiclass="ModuleControllerGui" testclass="ModuleController" testname="m">
          <collectionProp name="ModuleController.node_path">
            <stringProp name="1">Test Plan</stringProp>
            <stringProp name="2">plan</stringProp>
            <stringProp name="3">users</stringProp>
            <stringProp name="4">target</stringProp>
          </collectionProp>
        </ModuleController>
        <hashTree/>"#
    );
    let (_folder, mut session) = session(&plan(&inside));
    let target = id(&session, "target");
    let step = rename::rename(session.model(), target, "A & B");
    let text = make(&mut session, step);
    assert!(
        text.contains(r#"<stringProp name="4">A &amp; B</stringProp>"#),
        "{text}"
    );
    assert_eq!(id(&session, "A & B"), target);
    assert!(rename::rename(session.model(), target, " ").is_err());
}

/// A plan in which the Module Controller `m` leads to `target`, both in the controller `outer`.
const MODULE: &str = r#"        <GenericController guiclass="LogicControllerGui" testclass="GenericController" testname="outer"/>
        <hashTree>
          <GenericController guiclass="LogicControllerGui" testclass="GenericController" testname="target"/>
          <hashTree/>
          <ModuleController guiclass="ModuleControllerGui" testclass="ModuleController" testname="m">
            <collectionProp name="ModuleController.node_path">
              <stringProp name="1">Test Plan</stringProp>
              <stringProp name="2">plan</stringProp>
              <stringProp name="3">users</stringProp>
              <stringProp name="4">outer</stringProp>
              <stringProp name="5">target</stringProp>
            </collectionProp>
          </ModuleController>
          <hashTree/>
        </hashTree>"#;

/// The path of the only Module Controller that leads to a target, from the Test Plan down.
fn module_names(text: &str) -> Vec<&str> {
    let list = text
        .split("ModuleController.node_path")
        .nth(1)
        .expect("a path");
    let list = list.split("</collectionProp>").next().expect("its end");
    list.split("</stringProp>")
        .filter_map(|line| Some(line.rsplit_once('>')?.1))
        .filter(|name| !name.trim().is_empty())
        .skip(1)
        .collect()
}

#[test]
fn module_controllers_follow_a_target_that_is_wrapped_moved_or_extracted() {
    let before = plan(MODULE);
    let (_folder, mut session) = session(&before);
    let (target, outer) = (id(&session, "target"), id(&session, "outer"));
    let around = kind("IfController");
    let step = structure::wrap(session.model_mut(), &[target], around);
    let step = step.map(|step| modules::followed(session.model(), step));
    let text = make(&mut session, step);
    let wrapped = ["plan", "users", "outer", "If Controller", "target"];
    assert_eq!(module_names(&text), wrapped);

    // The Module Controller moves with its target.
    let step = extract::extract(session.model_mut(), &[outer], Some("part"));
    let step = step.map(|step| modules::followed(session.model(), step));
    let text = make(&mut session, step);
    let inner = text
        .split(r#"testname="part""#)
        .last()
        .expect("the fragment");
    assert_eq!(
        module_names(inner),
        ["plan", "part", "outer", "If Controller", "target"]
    );
    assert_eq!(id(&session, "target"), target);

    for _ in 0..2 {
        session.undo().expect("a step");
    }
    assert_eq!(session.model().text(), before);
    for _ in 0..2 {
        session.redo().expect("a step");
    }
    assert_eq!(session.model().text(), text);
}

#[test]
fn a_changed_type_keeps_what_both_have() {
    let (_folder, mut session) = session(&plan(&named(TIMER, "t")));
    let t = id(&session, "t");
    let uniform = kind("UniformRandomTimer");
    let step = set::set(session.model(), &[t], "TestPlan.comments", Some("why"));
    make(&mut session, step);
    let seen = retype::preview(session.model(), t, uniform).expect("it is there");
    assert_eq!(seen.kept, ["ConstantTimer.delay", "TestPlan.comments"]);
    let step = retype::retype(session.model(), t, uniform);
    let text = make(&mut session, step);
    assert!(text.contains(r#"<UniformRandomTimer guiclass="UniformRandomTimerGui" testclass="UniformRandomTimer" testname="t""#), "{text}");
    assert!(
        text.contains(r#"<stringProp name="ConstantTimer.delay">300</stringProp>"#),
        "{text}"
    );
    assert_eq!(id(&session, "t"), t);
    assert!(retype::retype(session.model(), t, kind("ThreadGroup")).is_err());
}

#[test]
fn texts_are_found_and_replaced_with_groups() {
    let inside = format!("{}\n{}", named(TIMER, "pause 300"), named(SAMPLER, "s"));
    let (_folder, mut session) = session(&plan(&inside));
    let everywhere = search::Where {
        names: true,
        values: true,
    };
    let regex = search::Reading {
        regex: true,
        ..search::Reading::default()
    };
    let query = search::Query::new("(3)(00)", regex, everywhere).expect("it is right");
    let (hits, more) = search::find(session.model(), &query).expect("it searches");
    let places: Vec<_> = hits
        .iter()
        .map(|hit| (hit.property.as_deref(), hit.start, hit.end))
        .collect();
    assert_eq!(places, [(None, 6, 9), (Some("ConstantTimer.delay"), 0, 3)]);
    assert!(!more);
    let (shown, _) =
        search::preview(session.model(), &query, "${2}-$1", true).expect("it searches");
    assert_eq!(shown[0].after, "pause 00-3");
    let step = search::replace(session.model(), &query, "${2}-$1", true, &[0]);
    let text = make(&mut session, step);
    assert!(
        text.contains("pause 300") && text.contains(">00-3<"),
        "{text}"
    );
    let refused = search::Query::new("(", regex, everywhere).expect_err("it is open");
    assert!(
        refused.message.contains("`(` is no regular expression"),
        "{}",
        refused.message
    );
    let plain = search::Query::new(
        "00-3",
        search::Reading {
            word: true,
            ..search::Reading::default()
        },
        everywhere,
    )
    .expect("it is right");
    assert_eq!(
        search::find(session.model(), &plain)
            .expect("it searches")
            .0
            .len(),
        1
    );
}

#[test]
fn every_type_can_be_inserted_somewhere_and_is_what_it_says() {
    let (_folder, mut session) = session(&plan(&named(SAMPLER, "s")));
    let homes = [session.model().root(), id(&session, "users")];
    let mut count = 0;
    for kind in ElementType::all() {
        let node = kind.node();
        let home = homes
            .iter()
            .find(|home| structure::fits(session.model(), **home, &node).is_ok());
        let Some(home) = home else { continue };
        let target = Target {
            parent: *home,
            index: usize::MAX,
        };
        let step = structure::insert(
            session.model(),
            target,
            &[Branch::new(&node, "\n")],
            &[&node],
            "Insert".to_owned(),
        );
        make(&mut session, step);
        let own = *session
            .model()
            .outline()
            .entry(*home)
            .expect("it is there")
            .children
            .last()
            .expect("a child");
        let made = session.model().node(own).expect("it is there");
        let again = ElementType::of(made).unwrap_or_else(|| panic!("{}", kind.key()));
        assert_eq!(
            (again.facts.class, again.name),
            (kind.facts.class, kind.name)
        );
        assert_eq!(
            ElementType::of_key(&kind.key()).map(|own| own.name),
            Some(kind.name),
            "{}",
            kind.key()
        );
        count += 1;
    }
    assert!(count > 150, "{count}");
}

#[test]
fn what_differs_between_two_versions_is_changed_and_the_rest_stays() {
    let sampler = |path: &str, token: &str, below: &[drumfire_jmx::Node]| {
        let mut node = kind("HTTPSamplerProxy").node();
        node.name = "Cart".into();
        node.props.put("HTTPSampler.path", path);
        let mut headers = kind("HeaderManager").node();
        headers.props.put("token", token);
        node.children.push(headers);
        node.children.extend(below.iter().cloned());
        node
    };
    let extractor = kind("RegexExtractor").node();
    let before = sampler("/cart?t=1", "1", &[]);
    let after = sampler("/cart?t=${t}", "${t}", &[extractor]);
    let text = plan(&drumfire_jmx::write_elements(std::slice::from_ref(&before)));
    // The user gave another method meanwhile.
    let text = text.replace(">GET<", ">POST<");
    let (_folder, mut session) = session(&text);
    let cart = id(&session, "Cart");
    let versions = |before, after| {
        [Versions {
            id: cart,
            before,
            after,
        }]
    };
    let step = amend(
        session.model(),
        &versions(&before, &after),
        "Amend".to_owned(),
    );
    let made = make(&mut session, step);
    for part in ["/cart?t=${t}", ">${t}<", ">POST<", "RegexExtractor"] {
        assert!(made.contains(part), "{part}: {made}");
    }
    session.undo().expect("a step");
    assert_eq!(session.model().text(), text);
    let unchanged = amend(
        session.model(),
        &versions(&before, &before),
        "Amend".to_owned(),
    );
    assert!(unchanged.is_ok_and(|step| step.is_empty()));
    // A change of the user is not overwritten, and a removed part is told.
    let own = set::set(session.model(), &[cart], "HTTPSampler.path", Some("/mine"));
    make(&mut session, own);
    let refused = amend(
        session.model(),
        &versions(&before, &after),
        "Amend".to_owned(),
    );
    let refused = refused.expect_err("it was changed");
    assert_eq!(refused.property.as_deref(), Some("HTTPSampler.path"));
    assert!(
        refused
            .hint
            .is_some_and(|hint| hint.contains("/cart?t=${t}"))
    );
    session.undo().expect("a step");
    let manager = id(&session, "HTTP Header Manager");
    let removed = structure::remove(session.model(), &[manager]);
    make(&mut session, removed);
    let refused = amend(
        session.model(),
        &versions(&before, &after),
        "Amend".to_owned(),
    );
    let message = refused.expect_err("it is gone").message;
    assert!(message.contains("no longer"), "{message}");
}
