//! One small plan in the handwriting of each era of JMeter: all of them say the same.

use std::path::Path;

use drumfire_jmx::{Node, Tree, Value, read};

fn tree(plan: &str) -> Tree {
    match read(plan.as_bytes(), Path::new("plan.jmx")) {
        Ok(read) => {
            assert!(
                read.warnings.is_empty(),
                "{}",
                read.warnings[0].render(false)
            );
            read.tree
        }
        Err(findings) => panic!("{}", findings[0].render(false)),
    }
}

fn child<'a>(node: &'a Node, name: &str) -> &'a Node {
    let found = node.children.iter().find(|child| child.name == name);
    found.unwrap_or_else(|| panic!("no {name} below {}", node.name))
}

/// The content of every era's plan: ten users, three loops, one GET of /cart with one argument, a switched-off timer.
fn check(tree: &Tree) {
    let plan = &tree.roots[0];
    assert_eq!(
        (plan.class.as_str(), plan.name.as_str()),
        ("TestPlan", "Shop")
    );
    let group = child(plan, "Buyers");
    assert_eq!(group.class, "ThreadGroup");
    assert_eq!(group.gui_class, "ThreadGroupGui");
    assert_eq!(group.props.int("ThreadGroup.num_threads", 0), 10);
    let controller = group
        .props
        .element("ThreadGroup.main_controller")
        .expect("a loop controller");
    assert_eq!(controller.class, "LoopController");
    assert_eq!(controller.props.int("LoopController.loops", 0), 3);
    assert!(
        !controller
            .props
            .bool("LoopController.continue_forever", true)
    );
    let sampler = child(group, "Cart");
    assert_eq!(sampler.class, "HTTPSamplerProxy");
    assert_eq!(sampler.gui_class, "HttpTestSampleGui");
    assert_eq!(sampler.props.str("HTTPSampler.path"), "/cart");
    assert_eq!(sampler.props.str("HTTPSampler.port"), "");
    let arguments = sampler
        .props
        .element("HTTPsampler.Arguments")
        .expect("arguments");
    let list = arguments.props.list("Arguments.arguments");
    let [item] = list else {
        panic!("{} arguments", list.len())
    };
    let Value::Element(argument) = &item.value else {
        panic!("no element")
    };
    assert_eq!(argument.class, "HTTPArgument");
    assert_eq!(argument.props.str("Argument.value"), "a&b<c>");
    let timer = child(sampler, "Pause");
    assert_eq!(timer.class, "ConstantTimer");
    assert!(!timer.enabled);
    assert_eq!(timer.props.int("ConstantTimer.delay", 0), 300);
}

#[test]
fn jmeter_2_2_and_older_encode_texts() {
    let plan = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.0" properties="1.8">
  <hashTree>
    <TestPlan guiclass="org.apache.jmeter.control.gui.TestPlanGui" testclass="org.apache.jmeter.testelement.TestPlan" testname="Shop" enabled="true"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController" testname="Loop+Controller" enabled="true">
          <stringProp name="LoopController.loops">3</stringProp>
          <boolProp name="LoopController.continue_forever">false</boolProp>
        </elementProp>
        <stringProp name="ThreadGroup.num_threads">10</stringProp>
      </ThreadGroup>
      <hashTree>
        <HTTPSampler guiclass="HttpTestSampleGui" testclass="HTTPSampler" testname="Cart" enabled="true">
          <elementProp name="HTTPsampler.Arguments" elementType="Arguments" guiclass="HTTPArgumentsPanel" testclass="Arguments" enabled="true">
            <collectionProp name="Arguments.arguments">
              <elementProp name="q" elementType="HTTPArgument">
                <stringProp name="Argument.value">a%26b%3Cc%3E</stringProp>
              </elementProp>
            </collectionProp>
          </elementProp>
          <stringProp name="HTTPSampler.path">%2Fcart</stringProp>
          <stringProp name="HTTPSampler.port"></stringProp>
        </HTTPSampler>
        <hashTree>
          <ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="Pause" enabled="false">
            <stringProp name="ConstantTimer.delay">300</stringProp>
          </ConstantTimer>
          <hashTree/>
        </hashTree>
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;
    let tree = tree(plan);
    check(&tree);
    assert_eq!(tree.version, "1.0");
    assert_eq!(tree.jmeter, None);
    let group = child(&tree.roots[0], "Buyers");
    let controller = group
        .props
        .element("ThreadGroup.main_controller")
        .expect("there");
    assert_eq!(controller.name, "Loop Controller");
    let sampler = child(group, "Cart");
    assert_eq!(sampler.written_class, "HTTPSampler");
    assert!(
        !sampler.props.has("HTTPSampler.implementation"),
        "recorded: JMeter 5.6.3 sets none"
    );
}

/// The plan from 2.8 on, with what differs between versions left open.
fn modern(
    root: &str,
    sampler: &str,
    empty: &str,
    more_properties: &str,
    second_root: &str,
) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan {root}>
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true">
      <stringProp name="TestPlan.comments">{empty}
      <boolProp name="TestPlan.functional_mode">false</boolProp>
    </TestPlan>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController" testname="Loop Controller" enabled="true">
          <boolProp name="LoopController.continue_forever">false</boolProp>
          <intProp name="LoopController.loops">3</intProp>
        </elementProp>
        <stringProp name="ThreadGroup.num_threads">10</stringProp>
        {more_properties}
      </ThreadGroup>
      <hashTree>
        <{sampler} guiclass="HttpTestSampleGui" testclass="{sampler}" testname="Cart" enabled="true">
          <elementProp name="HTTPsampler.Arguments" elementType="Arguments" guiclass="HTTPArgumentsPanel" testclass="Arguments" testname="User Defined Variables" enabled="true">
            <collectionProp name="Arguments.arguments">
              <elementProp name="q" elementType="HTTPArgument">
                <boolProp name="HTTPArgument.always_encode">false</boolProp>
                <stringProp name="Argument.value">a&amp;b&lt;c&gt;</stringProp>
              </elementProp>
            </collectionProp>
          </elementProp>
          <stringProp name="HTTPSampler.path">/cart</stringProp>
          <stringProp name="HTTPSampler.port">{empty}
        </{sampler}>
        <hashTree>
          <ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="Pause" enabled="false">
            <stringProp name="ConstantTimer.delay">300</stringProp>
          </ConstantTimer>
          <hashTree/>
        </hashTree>
      </hashTree>
    </hashTree>
{second_root}  </hashTree>
</jmeterTestPlan>
"#
    )
}

const WORKBENCH: &str = r#"    <WorkBench guiclass="WorkBenchGui" testclass="WorkBench" testname="WorkBench" enabled="true">
      <boolProp name="WorkBench.save">true</boolProp>
    </WorkBench>
    <hashTree/>
"#;

/// Empty texts have an end tag up to 5.6.
const OPEN_AND_CLOSE: &str = "</stringProp>";

#[test]
fn jmeter_2_8() {
    let root = r#"version="1.2" properties="2.3" jmeter="2.8 r1393162""#;
    let times = r#"<longProp name="ThreadGroup.start_time">1350000000000</longProp>"#;
    let tree = tree(&modern(
        root,
        "HTTPSampler2",
        OPEN_AND_CLOSE,
        times,
        WORKBENCH,
    ));
    check(&tree);
    assert_eq!(tree.jmeter.as_deref(), Some("2.8 r1393162"));
    assert_eq!(tree.roots.len(), 2);
    assert_eq!(tree.roots[1].class, "WorkBench");
    let group = child(&tree.roots[0], "Buyers");
    assert_eq!(
        group.props.long("ThreadGroup.start_time", 0),
        1_350_000_000_000
    );
}

#[test]
fn jmeter_2_13_writes_floats_field_by_field() {
    let root = r#"version="1.2" properties="2.8" jmeter="2.13.20160310""#;
    let share = "<FloatProperty>
          <name>share</name>
          <value>12.5</value>
          <savedValue>0.0</savedValue>
        </FloatProperty>";
    let tree = tree(&modern(
        root,
        "HTTPSamplerProxy",
        OPEN_AND_CLOSE,
        share,
        WORKBENCH,
    ));
    check(&tree);
    let group = child(&tree.roots[0], "Buyers");
    assert_eq!(
        group.props.get("share").map(|p| &p.value),
        Some(&Value::Float(12.5))
    );
}

#[test]
fn jmeter_3_3() {
    let root = r#"version="1.2" properties="3.2" jmeter="3.3 r1808647""#;
    check(&tree(&modern(
        root,
        "HTTPSamplerProxy",
        OPEN_AND_CLOSE,
        "",
        WORKBENCH,
    )));
}

#[test]
fn jmeter_4_0_has_no_workbench() {
    let root = r#"version="1.2" properties="4.0" jmeter="4.0 r1823414""#;
    let tree = tree(&modern(root, "HTTPSamplerProxy", OPEN_AND_CLOSE, "", ""));
    check(&tree);
    assert_eq!(tree.roots.len(), 1);
}

#[test]
fn jmeter_5_6_3_writes_doubles_and_listeners() {
    let root = r#"version="1.2" properties="5.0" jmeter="5.6.3""#;
    let rate = "<doubleProp><name>rate</name><value>1.0E10</value><savedValue>0.0</savedValue></doubleProp>
        <objProp>
          <name>saveConfig</name>
          <value class=\"SampleSaveConfiguration\">
            <time>true</time>
            <assertionsResultsToSave>0</assertionsResultsToSave>
          </value>
        </objProp>";
    let tree = tree(&modern(root, "HTTPSamplerProxy", OPEN_AND_CLOSE, rate, ""));
    check(&tree);
    let group = child(&tree.roots[0], "Buyers");
    assert_eq!(group.props.double("rate", 0.0), 1.0e10);
    let columns = group.props.object("saveConfig").expect("an object");
    assert_eq!(columns.class, "SampleSaveConfiguration");
    assert_eq!(columns.text_of("time"), Some("true"));
    assert_eq!(columns.text_of("latency"), None);
}

#[test]
fn jmeter_6_0_closes_empty_texts_in_the_tag() {
    let root = r#"version="1.2" properties="5.0" jmeter="6.0.0-SNAPSHOT""#;
    let plan =
        modern(root, "HTTPSamplerProxy", OPEN_AND_CLOSE, "", "").replace("></stringProp>", "/>");
    assert!(plan.contains("<stringProp name=\"HTTPSampler.port\"/>"));
    check(&tree(&plan));
    check(&tree(
        &plan.replace("<?xml version=\"1.0\"", "<?xml version=\"1.1\""),
    ));
    check(&tree(&plan.replace('\n', "\r\n")));
}

#[test]
fn test_fragments_and_plugins_survive() {
    let plan = r#"<jmeterTestPlan version="1.2">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testname="Shop" enabled="true"/>
    <hashTree>
      <TestFragmentController guiclass="TestFragmentControllerGui" testname="Login" enabled="false"/>
      <hashTree/>
      <com.example.Outer_-Load__Group guiclass="com.example.LoadGui" testname="Load">
        <stringProp name="TestPlan.comments">ask Ann</stringProp>
        <com.example.Odd class="stringProp" name="x">y</com.example.Odd>
        <elementProp name="e" elementType="com.example.Thing"/>
      </com.example.Outer_-Load__Group>
    </hashTree>
  </hashTree>
</jmeterTestPlan>"#;
    let tree = tree(plan);
    let plan = &tree.roots[0];
    assert_eq!(child(plan, "Login").class, "TestFragmentController");
    let load = child(plan, "Load");
    assert_eq!(load.class, "com.example.Outer$Load_Group");
    assert_eq!(load.gui_class, "com.example.LoadGui");
    assert_eq!(load.props.str("TestPlan.comments"), "ask Ann");
    assert!(load.enabled, "enabled is the default");
    assert_eq!(load.props.str("x"), "y");
    assert_eq!(
        load.props.element("e").map(|e| e.class.as_str()),
        Some("com.example.Thing")
    );
}
