use std::path::Path;

use super::*;
use crate::draft::Draft;
use crate::elements;
use crate::exchange::{Exchange, Request, Response};
use crate::tidy::{self, Recording};
use crate::url::Address;

/// A plan with a recorder of these properties, and a timer below it.
fn plan(properties: &str, has_target: bool) -> Tree {
    let target = if has_target {
        "<RecordingController guiclass=\"RecordController\" testname=\"Here\" enabled=\"true\"/><hashTree/>"
    } else {
        ""
    };
    let text = format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="TestPlanGui" testname="P" enabled="true">
<elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="host" elementType="Argument"><stringProp name="Argument.name">host</stringProp>
<stringProp name="Argument.value">shop.example</stringProp></elementProp>
<elementProp name="user" elementType="Argument"><stringProp name="Argument.name">user</stringProp>
<stringProp name="Argument.value">ann</stringProp></elementProp></collectionProp></elementProp></TestPlan><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testname="Users" enabled="true"/><hashTree>
<ConfigTestElement guiclass="HttpDefaultsGui" testname="D" enabled="true"><stringProp name="HTTPSampler.protocol">https</stringProp></ConfigTestElement><hashTree/>
{target}</hashTree>
<ProxyControl guiclass="ProxyControlGui" testname="R" enabled="false">{properties}</ProxyControl><hashTree>
<UniformRandomTimer guiclass="UniformRandomTimerGui" testname="T" enabled="true"><stringProp name="ConstantTimer.delay">${{T}}</stringProp></UniformRandomTimer><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    );
    drumfire_jmx::read(text.as_bytes(), Path::new("plan.jmx"))
        .expect("a plan")
        .tree
}

fn exchange(method: &str, url: &str, mime: &str, at: i64) -> Exchange {
    let mut request = Request::new(method, Address::parse(url).expect("an address"));
    request
        .headers
        .push(("X-User".into(), "annabel ann".into()));
    Exchange {
        request,
        response: Some(Response {
            status: 200,
            mime: mime.to_owned(),
            ..Response::default()
        }),
        started_ms: Some(at),
        elapsed_ms: 10,
        ..Exchange::default()
    }
}

/// A recorded visit.
fn recorded(tree: &Tree) -> Draft {
    let recorder = Recorder::find(tree).expect("a recorder");
    let recording = Recording {
        exchanges: vec![
            exchange("GET", "https://shop.example/?a=1", "text/html", 1_000),
            exchange("GET", "https://shop.example/logo.png", "image/png", 1_100),
            exchange("GET", "https://cdn.example/x.js", "text/javascript", 1_200),
            exchange(
                "POST",
                "https://shop.example/login?b=2",
                "application/json",
                9_000,
            ),
            exchange("GET", "https://shop.example/page", "text/html", 9_100),
        ],
        ..Recording::default()
    };
    let mut warnings = Vec::new();
    let options = recorder.options(ImportOptions::default(), &mut warnings);
    let draft = tidy::draft(recording, &options);
    assert_eq!(warnings, Vec::<String>::new());
    draft
}

/// The plan with the recorded visit in it.
fn placed(tree: &Tree) -> Tree {
    let recorder = Recorder::find(tree).expect("a recorder");
    let placed = recorder.placed(tree, &recorded(tree), "data.csv");
    placed.expect("a place")
}

/// Name and class of each element below the thread group, indented.
fn outline(tree: &Tree) -> Vec<String> {
    fn lines(node: &Node, depth: usize, out: &mut Vec<String>) {
        out.push(format!("{}{} {}", " ".repeat(depth), node.class, node.name));
        node.children
            .iter()
            .for_each(|child| lines(child, depth + 1, out));
    }
    let group = &tree.roots[0].children[0];
    let mut out = Vec::new();
    group
        .children
        .iter()
        .filter(|child| child.class != "ConfigTestElement")
        .for_each(|child| lines(child, 0, &mut out));
    out
}

fn text(name: &str, value: &str) -> String {
    format!("<stringProp name=\"ProxyControlGui.{name}\">{value}</stringProp>")
}

fn list(name: &str, value: &str) -> String {
    format!(
        "<collectionProp name=\"ProxyControlGui.{name}\"><stringProp name=\"1\">{value}</stringProp></collectionProp>"
    )
}

#[test]
fn filters_groups_and_names_are_those_of_the_recorder() {
    let settings = [
        list("exclude_list", r"(?i).*\.(js|png)"),
        text("grouping_mode", "4"),
        text("proxy_http_sampler_naming_mode", "3"),
        text(
            "proxy_http_sampler_format",
            "#{counter,number,000} #{method} #{path} #{port} #{other}",
        ),
        text("add_assertion", "true"),
    ];
    assert_eq!(
        outline(&placed(&plan(&settings.concat(), true))),
        [
            "RecordingController Here",
            " TransactionController GET /",
            "  HTTPSamplerProxy 001 GET / 443 #{other}",
            "   HeaderManager HTTP Header Manager",
            "   ResponseAssertion Response Assertion",
            "   UniformRandomTimer T",
            " TransactionController POST /login",
            "  HTTPSamplerProxy 002 POST /login?b=2 443 #{other}",
            "   HeaderManager HTTP Header Manager",
            "   ResponseAssertion Response Assertion",
            "   UniformRandomTimer T",
            "  HTTPSamplerProxy 003 GET /page 443 #{other}",
            "   HeaderManager HTTP Header Manager",
        ]
    );
}

#[test]
fn other_groupings_and_places() {
    let settings = [
        list("include_list", r"shop\.example:443/.*"),
        text("content_type_exclude", "image/.*"),
        text("grouping_mode", "1"),
        text("capture_http_headers", "false"),
    ];
    let samplers = |settings: &str| -> Vec<String> {
        outline(&placed(&plan(settings, false)))
            .into_iter()
            .filter(|line| !line.contains("Timer") && !line.contains("HeaderManager"))
            .collect()
    };
    assert_eq!(
        samplers(&settings.concat()),
        [
            "HTTPSamplerProxy /-1",
            "GenericController -------------------",
            "HTTPSamplerProxy /login?b=2-2",
            "HTTPSamplerProxy /page-3",
        ]
    );
    let first_only = [
        text("grouping_mode", "3"),
        text("proxy_http_sampler_naming_mode", "2"),
        text("proxy_prefix_http_sampler_name", "Shop"),
    ];
    assert_eq!(
        samplers(&first_only.concat()),
        [
            "HTTPSamplerProxy Shop-1 /",
            "HTTPSamplerProxy Shop-4 /login?b=2"
        ]
    );
    let draft = recorded(&plan(&first_only.concat(), false));
    assert_eq!(draft.steps().count(), 2);
    let others = "requests after the first of their group";
    assert_eq!(draft.left_out.get(others), Some(&3));
}

#[test]
fn values_become_the_plans_variables_and_defaults_are_left_out() {
    let settings = [
        list("exclude_list", ".*logo.*"),
        text("regex_match", "true"),
        text("use_keepalive", "false"),
        text("sampler_follow_redirects", "false"),
        text("sampler_redirect_automatically", "true"),
    ];
    let tree = placed(&plan(&settings.concat(), true));
    let target = &tree.roots[0].children[0].children[1];
    let sampler = &target.children[0];
    assert_eq!(sampler.props.str("HTTPSampler.domain"), "${host}");
    assert_eq!(sampler.props.str("HTTPSampler.protocol"), "");
    assert!(!sampler.props.bool("HTTPSampler.use_keepalive", true));
    assert!(!sampler.props.bool("HTTPSampler.follow_redirects", true));
    assert!(sampler.props.bool("HTTPSampler.auto_redirects", false));
    let headers = sampler.children[0].props.list("HeaderManager.headers");
    let Value::Element(header) = &headers[0].value else {
        panic!("a header")
    };
    assert_eq!(header.props.str("Header.value"), "annabel ${user}");
    // The user thought for 8 seconds before the third request.
    let later = &target.children[2];
    let timer = later.children.last().expect("a timer");
    assert_eq!(timer.props.str("TestPlan.comments"), "Recorded:7790ms");
    assert_eq!(timer.props.str("ConstantTimer.delay"), "7790");
}

#[test]
fn a_plan_without_a_recorder_or_a_place() {
    let tree = Tree::new(Node::new("TestPlan", "TestPlanGui", "P"));
    assert!(Recorder::find(&tree).is_none());
    let recorder = Recorder::find(&plan(&text("port", "9999"), true)).expect("a recorder");
    assert_eq!(recorder.port(), Some(9999));
    assert!(recorder.placed(&tree, &Draft::default(), "d.csv").is_err());
    let mut warnings = Vec::new();
    let broken = plan(&list("exclude_list", "("), true);
    let recorder = Recorder::find(&broken).expect("a recorder");
    recorder.options(ImportOptions::default(), &mut warnings);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn without_a_recorder_pages_become_transactions_with_the_pauses_before_them() {
    let tree = plan("", true);
    let recorder = Recorder::usual();
    let mut recording = Recording {
        exchanges: vec![
            exchange("GET", "https://shop.example/", "text/html", 1_000),
            exchange("GET", "https://shop.example/logo.png", "image/png", 1_100),
            exchange("GET", "https://other.example/x", "text/html", 1_200),
            exchange(
                "GET",
                "https://shop.example/api/items",
                "application/json",
                3_000,
            ),
            exchange(
                "GET",
                "https://shop.example/page?by=ann",
                "text/html",
                9_000,
            ),
        ],
        ..Recording::default()
    };
    let cookie = ("Set-Cookie".to_owned(), "visit=1".to_owned());
    let first = recording.exchanges[0].response.as_mut();
    first.expect("a response").headers.push(cookie);
    for (place, exchange) in recording.exchanges.iter_mut().enumerate() {
        exchange.entry = place;
    }
    let options = recorder.options(ImportOptions::default(), &mut Vec::new());
    let draft = tidy::draft(recording, &options);
    let omitted: Vec<(usize, &str)> = draft
        .omitted
        .iter()
        .map(|(entry, reason)| (*entry, &reason[..15]))
        .collect();
    assert_eq!(omitted, [(1, "images, scripts"), (2, "requests to oth")]);
    let insertion = Insertion::new(recorder, &tree, &[0, 0, 1]);
    let nodes = insertion.elements(&draft);
    let names: Vec<(&str, Vec<&str>)> = nodes
        .iter()
        .map(|node| {
            let children = node.children.iter().map(|child| child.name.as_str());
            (node.name.as_str(), children.collect())
        })
        .collect();
    let expected = [
        ("GET /", vec!["GET /", "Think", "GET /api/items"]),
        ("Think", vec![]),
        ("GET /page", vec!["GET /page"]),
    ];
    assert_eq!(names, expected);
    let all = samplers(&nodes);
    // The plan's defaults and variables apply.
    assert_eq!(all[0].props.str("HTTPSampler.domain"), "${host}");
    assert_eq!(all[0].props.str("HTTPSampler.protocol"), "");
    // The variable `user` has a value that stands in other places by chance.
    assert!(all[2].props.str("HTTPSampler.path").ends_with("by=ann"));
    let of_page = |at: usize| all[at].props.bool("HTTPSampler.image_parser", false);
    assert_eq!([of_page(0), of_page(1), of_page(2)], [true, false, true]);
    assert!(insertion.cookie_manager(&draft).is_some());
    let mut with_cookies = tree.clone();
    let mut roots = with_cookies.roots.to_vec();
    let manager = elements::cookie_manager(&[]);
    roots[0].children[0].children.push(manager);
    with_cookies.roots = roots.into();
    let insertion = Insertion::new(Recorder::usual(), &with_cookies, &[0, 0, 1]);
    assert!(insertion.cookie_manager(&draft).is_none());
}
