//! A plan whose HTTP requests all go to the target of known times: the users, timers, controllers and extractors stay.

use drumfire_elements::controllers::once_only_controller;
use drumfire_elements::samplers::{flow_control_action, http_request};
use drumfire_elements::shared::http;
use drumfire_elements::{Property, Role, of_form, type_name};
use drumfire_jmx::{Node, Prop, Tree, Value};

use super::round::CONNECT;

/// A plan whose requests go to the target.
#[derive(Debug, Default)]
pub struct Shape {
    /// The plan.
    pub plan: String,
    /// How many requests go to the target.
    pub requests: usize,
    /// The types of samplers that do not run, each once.
    pub left_out: Vec<String>,
}

/// Sends the HTTP requests of a plan to a path of the target. Other samplers do not run, since the target knows no times of
/// theirs; assertions and listeners neither, since the answers are the target's.
pub fn redirected(tree: &Tree, host: &str, port: &str, path: &str) -> Shape {
    let mut shape = Shape::default();
    let target = [
        (&http::PROTOCOL, "http"),
        (&http::DOMAIN, host),
        (&http::PORT, port),
        (&http::PATH, path),
        (&http::PROXY_HOST, ""),
        (&http::EMBEDDED_RESOURCES, "false"),
    ];
    let mut roots = tree.roots.to_vec();
    for node in &mut roots {
        redirect(node, &target, &mut shape);
    }
    let tree = Tree {
        roots: roots.into(),
        ..tree.clone()
    };
    shape.plan = drumfire_jmx::write(&tree);
    shape
}

fn redirect(node: &mut Node, own: &[(&Property, &str)], shape: &mut Shape) {
    let role = of_form(&node.class, &node.gui_class).map(|facts| facts.role);
    if node.class == http_request::CLASS {
        for (property, value) in own {
            node.props.set(Prop {
                name: property.name.into(),
                value: Value::Str((*value).to_owned()),
                span: node.span,
            });
        }
        shape.requests += usize::from(node.enabled);
    } else if role == Some(Role::Sampler)
        && node.class != flow_control_action::CLASS
        && node.enabled
    {
        node.enabled = false;
        let name = type_name(&node.class, &node.gui_class).to_owned();
        if !shape.left_out.contains(&name) {
            shape.left_out.push(name);
        }
    } else if matches!(role, Some(Role::Assertion | Role::Listener)) {
        node.enabled = false;
    }
    for child in &mut node.children {
        redirect(child, own, shape);
    }
    if role == Some(Role::ThreadGroup) {
        node.children.insert(0, first_request(own));
    }
}

/// A request that each user sends once, over the connection that the others use.
fn first_request(own: &[(&Property, &str)]) -> Node {
    let mut request = http_request::FACTS.node(CONNECT);
    for (property, value) in own {
        request = request.with(property.name, *value);
    }
    let request = request
        .with(http::PATH.name, "/fixed=0/connect")
        .with(http::USE_KEEPALIVE.name, true);
    let mut first = once_only_controller::FACTS.node("First");
    first.children.push(request);
    first
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn requests_go_to_the_target_and_nothing_else_sends() {
        let element = |class: &str, gui: &str, name: &str, props: &str| {
            format!(
                r#"<{class} guiclass="{gui}" testclass="{class}" testname="{name}" enabled="true">{props}</{class}><hashTree/>"#
            )
        };
        let path = r#"<stringProp name="HTTPSampler.path">https://shop.example/a?b=1</stringProp><stringProp name="HTTPSampler.proxyHost">proxy</stringProp>"#;
        let elements = [
            element("HTTPSamplerProxy", "HttpTestSampleGui", "Home", path),
            element("JDBCSampler", "TestBeanGUI", "Rows", ""),
            element("TestAction", "TestActionGui", "Pause", ""),
            element("ResponseAssertion", "AssertionGui", "fine", ""),
            element("ResultCollector", "SimpleDataWriter", "all", ""),
            element("ConstantTimer", "ConstantTimerGui", "think", ""),
        ];
        let text = format!(
            r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p"/><hashTree><ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users"/><hashTree>{}</hashTree></hashTree></hashTree></jmeterTestPlan>"#,
            elements.concat()
        );
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("a plan");
        let shape = redirected(&read.tree, "127.0.0.1", "81", "/fixed=1/plan");
        assert_eq!((shape.requests, shape.left_out.len()), (1, 1));
        let read = drumfire_jmx::read(shape.plan.as_bytes(), Path::new("q.jmx")).expect("a plan");
        let [first, children @ ..] = &read.tree.roots[0].children[0].children[..] else {
            panic!("the group has children");
        };
        assert_eq!(first.children[0].name, CONNECT);
        let enabled: Vec<bool> = children.iter().map(|node| node.enabled).collect();
        assert_eq!(enabled, [true, false, true, false, false, true]);
        let value = |property: &Property| children[0].props.str(property.name).into_owned();
        let address = [&http::PROTOCOL, &http::DOMAIN, &http::PORT, &http::PATH];
        assert_eq!(
            address.map(value),
            ["http", "127.0.0.1", "81", "/fixed=1/plan"]
        );
        assert_eq!(value(&http::PROXY_HOST), "");
    }
}
