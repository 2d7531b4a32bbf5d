//! Odd inputs: what JMeter 5.6.3 made of each was recorded from its `SaveService`.

use std::fmt::Write as _;
use std::path::Path;

use drumfire_jmx::{Diagnostic, MAX_DEPTH, Node, Read, Value, read, read_file};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// A plan whose Test Plan holds the given properties.
fn plan(properties: &str) -> String {
    format!(
        "{HEAD}<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan guiclass=\"TestPlanGui\" testname=\"P\">{properties}</TestPlan><hashTree/></hashTree></jmeterTestPlan>"
    )
}

/// A plan with the given elements below its Test Plan.
fn below(elements: &str) -> String {
    format!(
        "{HEAD}<jmeterTestPlan><hashTree><TestPlan guiclass=\"TestPlanGui\" testname=\"P\"/><hashTree>{elements}</hashTree></hashTree></jmeterTestPlan>"
    )
}

fn load(text: &str) -> Read {
    read(text.as_bytes(), Path::new("plan.jmx"))
        .unwrap_or_else(|findings| panic!("{}", findings[0].render(false)))
}

fn root(text: &str) -> Node {
    load(text).tree.roots[0].clone()
}

fn codes(text: &str) -> Vec<&'static str> {
    match read(text.as_bytes(), Path::new("plan.jmx")) {
        Ok(read) => read.warnings.iter().map(|finding| finding.code).collect(),
        Err(findings) => findings.iter().map(|finding| finding.code).collect(),
    }
}

/// The text of a string property whose inside is written as given.
fn string(inside: &str) -> String {
    root(&plan(&format!(
        "<stringProp name=\"x\">{inside}</stringProp>"
    )))
    .props
    .str("x")
    .into_owned()
}

#[test]
fn text_as_xstream_sees_it() {
    assert_eq!(
        string("abc<foo>q</foo>def"),
        "abc",
        "only up to the first child"
    );
    assert_eq!(string("abc<stringProp name=\"y\">q</stringProp>def"), "abc");
    assert_eq!(
        string("abc<!-- c -->def<![CDATA[<&>]]>ghi<?pi x?>j"),
        "abcdef<&>ghij"
    );
    assert_eq!(
        string("a\r\nb\rc&#xd;d&#13;&#10;e\tf"),
        "a\nb\nc\rd\r\ne\tf"
    );
    assert_eq!(string("a\u{1}b&#x2;c&#0;"), "a\u{1}b\u{2}c\0");
    assert_eq!(string("  x "), "  x ");
    assert_eq!(string(""), "");
}

#[test]
fn names_as_xml_attributes_are() {
    let text = plan("").replace("\"P\"", "'a\r\nb\nc\td&#10;e&#9;f&#xd;g'");
    assert_eq!(root(&text).name, "a b c d\ne\tf\rg");
    let text = plan("<stringProp name='a\"b'foo=\"c\">x</stringProp>");
    assert_eq!(
        root(&text).props.str("a\"b"),
        "x",
        "no blank is needed between attributes"
    );
}

#[test]
fn numbers_and_booleans() {
    let node = root(&plan(
        "<intProp name=\"a\">+5</intProp><intProp name=\"c\">٣</intProp><longProp name=\"d\">9999999999</longProp>\
         <boolProp name=\"e\">tRuE</boolProp><boolProp name=\"f\"> true</boolProp><boolProp name=\"g\"/>\
         <doubleProp><value> 1.5 </value><name>h</name></doubleProp><doubleProp/>",
    ));
    let value = |name: &str| node.props.get(name).map(|prop| prop.value.clone());
    assert_eq!(value("a"), Some(Value::Int(5)));
    assert_eq!(value("c"), Some(Value::Int(3)));
    assert_eq!(value("d"), Some(Value::Long(9_999_999_999)));
    assert_eq!(value("e"), Some(Value::Bool(true)));
    assert_eq!(value("f"), Some(Value::Bool(false)));
    assert_eq!(value("g"), Some(Value::Bool(false)));
    assert_eq!(value("h"), Some(Value::Double(1.5)));
    assert_eq!(value(""), Some(Value::Double(0.0)));
}

#[test]
fn the_last_property_of_a_name_counts_but_the_first_map_entry() {
    let twice = "<stringProp name=\"k\">1</stringProp><boolProp name=\"k\">true</boolProp>";
    let node = root(&plan(&format!(
        "{twice}<mapProp name=\"m\">{twice}</mapProp><collectionProp name=\"l\">{twice}</collectionProp>"
    )));
    assert_eq!(
        node.props.get("k").map(|p| p.value.clone()),
        Some(Value::Bool(true))
    );
    assert_eq!(node.props.len(), 3);
    assert_eq!(node.props.map("m").len(), 1);
    assert_eq!(node.props.map("m")[0].value, Value::Str("1".into()));
    assert_eq!(node.props.list("l").len(), 2);
}

#[test]
fn properties_override_attributes() {
    let node = root(&plan(
        "<stringProp name=\"TestElement.name\">New</stringProp><boolProp name=\"TestElement.enabled\">false</boolProp>\
         <stringProp name=\"TestPlan.comments\">com</stringProp>",
    ));
    assert_eq!(
        (
            node.name.as_str(),
            node.enabled,
            &*node.props.str("TestPlan.comments")
        ),
        ("New", false, "com")
    );
    let node = root(&plan("").replace("testname=\"P\"", "enabled=\"\""));
    assert_eq!(
        (node.name.as_str(), node.enabled),
        ("", false),
        "enabled=\"\" is not true"
    );
}

#[test]
fn header_names_of_old_plans() {
    let header = |class: &str| {
        let property = "<stringProp name=\"TestElement.name\">UA</stringProp>";
        let node = root(&plan(&format!(
            "<elementProp name=\"h\" elementType=\"{class}\">{property}</elementProp>"
        )));
        let element = node.props.element("h").expect("an element").clone();
        (
            element.class,
            element.props.str("Header.name").into_owned(),
            element.name,
        )
    };
    let full = header("org.apache.jmeter.protocol.http.control.Header");
    assert_eq!(full, ("Header".into(), "UA".into(), "".into()));
    assert_eq!(
        header("Header"),
        ("Header".into(), String::new(), "UA".into()),
        "the short name is not upgraded"
    );
}

#[test]
fn old_classes_and_properties_are_upgraded() {
    let node = root(&below(
        "<ConfigTestElement guiclass=\"org.apache.jmeter.protocol.jdbc.config.gui.DbConfigGui\" testname=\"db\">\
         <stringProp name=\"JDBCSampler.url\">jdbc:x</stringProp><stringProp name=\"JDBCSampler.connections\">1</stringProp>\
         </ConfigTestElement><hashTree/>\
         <org.apache.jmeter.assertions.Assertion guiclass=\"AssertionGui\" testname=\"as\"/><hashTree/>\
         <org.apache.jmeter.protocol.http.sampler.HTTPSamplerFull guiclass=\"HttpTestSampleGui2\" testname=\"s\"/><hashTree/>\
         <ResultCollector guiclass=\"SplineVisualizer\" testname=\"v\"/><hashTree/>\
         <CSVDataSet guiclass=\"TestBeanGUI\" testname=\"c\"><stringProp name=\"shareMode\">All threads</stringProp></CSVDataSet>",
    ));
    let classes: Vec<_> = node
        .children
        .iter()
        .map(|n| (n.class.as_str(), n.gui_class.as_str()))
        .collect();
    let expected = [
        ("JDBCDataSource", "TestBeanGUI"),
        ("ResponseAssertion", "AssertionGui"),
        ("HTTPSampler_", "HttpTestSampleGui"),
        ("ResultCollector", "ObsoleteGui"),
        ("CSVDataSet", "TestBeanGUI"),
    ];
    assert_eq!(classes, expected);
    assert_eq!(node.children[0].props.str("dbUrl"), "jdbc:x");
    assert_eq!(
        node.children[0].props.len(),
        1,
        "the number of connections is dropped"
    );
    assert_eq!(node.children[4].props.str("shareMode"), "shareMode.all");
}

#[test]
fn references_are_followed() {
    let node = root(&below(
        "<ThreadGroup guiclass=\"x\" testname=\"A\"><objProp><name>saveConfig</name><value class=\"SampleSaveConfiguration\"><time>true</time></value></objProp></ThreadGroup>\
         <hashTree><ConstantTimer guiclass=\"x\" testname=\"T\"/><hashTree/></hashTree>\
         <ThreadGroup guiclass=\"x\" testname=\"B\"><objProp><name>saveConfig</name><value reference=\"../../../ThreadGroup/objProp/value\"/></objProp></ThreadGroup>\
         <hashTree reference=\"../hashTree\"/>",
    ));
    let b = &node.children[1];
    assert_eq!(b.children[0].name, "T");
    let object = b.props.object("saveConfig").expect("an object");
    assert_eq!(object.class, "SampleSaveConfiguration");
    assert_eq!(object.text_of("time"), Some("true"));
}

#[test]
fn references_cannot_blow_up_the_plan() {
    // each tree holds the one before it twice: 2^40 elements if every reference were followed
    let mut trees = String::from("<A.a guiclass='x'/><hashTree><A.a guiclass='x'/></hashTree>");
    for level in 1..40 {
        let inner =
            format!("<A.a guiclass='x'/><hashTree reference='../../hashTree[{level}]'/>").repeat(2);
        let _ = write!(trees, "<A.a guiclass='x'/><hashTree>{inner}</hashTree>");
    }
    assert!(codes(&below(&trees)).contains(&"jmx-bad-reference"));
    let own = below(
        "<A.a guiclass='x'/><hashTree><A.a guiclass='x'/><hashTree reference='..'/></hashTree>",
    );
    assert_eq!(
        codes(&own),
        ["jmx-bad-reference"],
        "an element cannot contain itself"
    );
}

#[test]
fn text_behind_the_plan_is_ignored() {
    let good = plan("");
    assert_eq!(codes(&good), Vec::<&str>::new());
    assert_eq!(
        codes(&good.replace("</jmeterTestPlan>", "</jmeterTestPlan >\r\n\n")),
        Vec::<&str>::new()
    );
    for tail in [
        "",
        "<foo>&bar;</jmeterTestPlan> junk <<",
        "<hashTree/></jmeterTestPlan>",
        "</jmeterTestPlan>junk",
    ] {
        assert_eq!(
            codes(&good.replace("</jmeterTestPlan>", tail)),
            ["jmx-trailing"],
            "{tail:?}"
        );
    }
}

#[test]
fn text_between_tags_is_ignored() {
    let node = root(&plan("junk<stringProp name=\"x\">a</stringProp>junk"));
    assert_eq!(node.props.str("x"), "a");
    assert_eq!(
        root(&below("x<ConstantTimer guiclass=\"g\"/>y<hashTree/>z"))
            .children
            .len(),
        1
    );
}

#[test]
fn encodings() {
    let text = plan("<stringProp name=\"x\">é😀</stringProp>");
    let declared = text.replace("UTF-8", "ISO-8859-1");
    assert_eq!(
        root(&declared).props.str("x"),
        "é😀",
        "the declared encoding does not count"
    );
    let marked = format!("\u{feff}{text}");
    assert_eq!(root(&marked).props.str("x"), "é😀");
    let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let plan = read(&utf16, Path::new("plan.jmx")).expect("UTF-16 is read");
    assert_eq!(plan.tree.roots[0].props.str("x"), "é😀");
}

#[test]
fn depth_is_bounded() {
    let nested = |levels: usize| {
        let open = "<A.a guiclass='x'/><hashTree>".repeat(levels);
        format!(
            "<jmeterTestPlan><hashTree>{open}{}</hashTree></jmeterTestPlan>",
            "</hashTree>".repeat(levels)
        )
    };
    assert_eq!(codes(&nested(MAX_DEPTH - 3)), Vec::<&str>::new());
    assert_eq!(codes(&nested(100_000)), ["xml-depth"]);
    let lists = "<collectionProp name=''>".repeat(100_000);
    assert_eq!(
        codes(&plan(&lists)),
        ["xml-depth"; 2],
        "properties have a limit of their own"
    );
}

#[test]
fn spans_lead_to_the_place() {
    let text = below(
        "<ConstantTimer guiclass=\"g\" testname=\"T\"><stringProp name=\"d\">1</stringProp></ConstantTimer>",
    );
    let read = load(&text);
    let timer = &read.tree.roots[0].children[0];
    let source = &read.tree.source.text;
    assert_eq!(
        &source[timer.span.start..timer.span.end],
        "<ConstantTimer guiclass=\"g\" testname=\"T\">"
    );
    let span = timer.props.span("d").expect("there");
    assert_eq!(
        &source[span.start..span.end],
        "<stringProp name=\"d\">1</stringProp>"
    );
}

#[test]
fn a_hundred_faults_are_enough() {
    let faults = "<x.Y testname=\"n\"/><hashTree/>".repeat(150);
    let findings = read(below(&faults).as_bytes(), Path::new("plan.jmx")).expect_err("no guiclass");
    assert_eq!(
        findings
            .iter()
            .filter(|f| f.code == "jmx-no-guiclass")
            .count(),
        100
    );
    let more = findings
        .iter()
        .find(|f| f.code == "jmx-more")
        .expect("a note");
    assert_eq!(more.message, "50 more findings are not shown");
}

#[test]
fn files_that_cannot_be_read() {
    let directory = std::env::temp_dir();
    let code = |path: &Path| read_file(path).expect_err("not a plan")[0].code;
    assert_eq!(code(&directory), "file-is-directory");
    assert_eq!(code(&directory.join("no such plan.jmx")), "file-not-found");
    let missing = Diagnostic::from_io(
        Path::new("a.jmx"),
        &std::io::ErrorKind::PermissionDenied.into(),
    );
    assert_eq!(missing.code, "file-unreadable");
}

/// Texts as JMeter's writer (XStream's `PrettyPrintWriter` in quirks mode) escapes them.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {
                let _ = write!(out, "&#x{:x};", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// A small generator with a fixed seed (xorshift), so that every run tests the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("smaller than the limit")
    }
}

#[test]
fn characters_that_jmeter_escapes_survive_a_round_trip() {
    let alphabet: Vec<char> = "ab<>&\"'\r\n\t\0\u{1}\u{7f}\u{85}\u{2028}é漢😀${};#x]-!"
        .chars()
        .collect();
    let mut random = Random(42);
    for _ in 0..2000 {
        let length = random.below(30);
        let text: String = (0..length)
            .map(|_| alphabet[random.below(alphabet.len())])
            .collect();
        assert_eq!(string(&escaped(&text)), text);
    }
}

#[test]
fn damaged_plans_neither_panic_nor_pass_silently_as_something_else() {
    let good = below(
        "<ThreadGroup guiclass=\"g\" testname=\"é &amp; co\"><intProp name=\"n\">5</intProp><!-- c --><objProp><name>s</name><value class=\"X.y\"><a>1</a></value></objProp><stringProp name=\"t\">a<![CDATA[b]]>&#10;</stringProp></ThreadGroup><hashTree/>",
    );
    const NOISE: &[u8] = b"<>&\"'/= \0\xff![]-?;#";
    let mut random = Random(7);
    for _ in 0..3000 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => drop(bytes.remove(at)),
                1 => bytes.truncate(at.max(8)),
                2 => bytes.insert(at, NOISE[random.below(NOISE.len())]),
                _ => bytes[at] = NOISE[random.below(NOISE.len())],
            }
        }
        match read(&bytes, Path::new("plan.jmx")) {
            Ok(read) => {
                assert!(!read.tree.roots.is_empty());
                assert!(read.warnings.iter().all(|finding| !finding.is_error()));
            }
            Err(findings) => {
                assert!(findings.iter().any(Diagnostic::is_error));
                for finding in &findings {
                    assert!(finding.render(false).starts_with(finding.severity.as_str()));
                }
            }
        }
    }
}
