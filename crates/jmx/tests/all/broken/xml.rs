//! Faults of the XML itself, and files that can be read with a warning.

use super::Case;

#[rustfmt::skip]
pub const PLANS: &[Case] = &[
    Case {
        name: "end_tag_without_start",
        input: thread_group!(r#"        </stringProp>
"#).as_bytes(),
        rendered: r#"error[xml-stray-end-tag]: </stringProp> does not match the open tag <ThreadGroup>
 --> plan.jmx:7:9
  |
7 | </stringProp>
  | ^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: remove it, or put back the <stringProp> that is missing before it"#,
    },
    Case {
        name: "truncated",
        input: r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
        <stringProp name="a">b</stringProp>
      "#.as_bytes(),
        rendered: r#"error[xml-truncated]: the file ends inside <ThreadGroup>
 --> plan.jmx:6:7
  |
6 | <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: the file was probably cut off: copy it again, or add what is missing at its end"#,
    },
    Case {
        name: "truncated_in_a_tag",
        input: r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
        <stringProp name"#.as_bytes(),
        rendered: r#"error[xml-truncated]: a tag has no closing >
 --> plan.jmx:7:9
  |
7 | <stringProp name
  | ^
  = in: Shop > Buyers
  = hint: the file was probably cut off: copy it again, or add what is missing at its end"#,
    },
    Case {
        name: "truncated_in_a_comment",
        input: below!(r#"      <!-- not finished
"#).as_bytes(),
        rendered: r#"error[xml-truncated]: a comment <!-- has no end -->
 --> plan.jmx:6:7
  |
6 | <!-- not finished
  | ^
  = in: Shop
  = hint: the file was probably cut off: copy it again, or add what is missing at its end"#,
    },
    Case {
        name: "attribute_twice",
        input: below!(r#"      <ThreadGroup guiclass="ThreadGroupGui" testname="A" testname="B"/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[xml-duplicate-attribute]: the attribute testname appears twice
 --> plan.jmx:6:59
  |
6 | <ThreadGroup guiclass="ThreadGroupGui" testname="A" testname="B"/>
  |                                                     ^^^^^^^^^^^^
  = in: Shop
  = hint: remove one of them"#,
    },
    Case {
        name: "attribute_without_quotes",
        input: below!(r#"      <ThreadGroup guiclass=ThreadGroupGui testname="A"/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[xml-attribute-quotes]: the value of the attribute guiclass is not in quotes
 --> plan.jmx:6:20
  |
6 | <ThreadGroup guiclass=ThreadGroupGui testname="A"/>
  |              ^^^^^^^^
  = in: Shop
  = hint: write guiclass="…""#,
    },
    Case {
        name: "attribute_without_value",
        input: below!(r#"      <ThreadGroup guiclass="ThreadGroupGui" enabled/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[xml-attribute-value]: the attribute enabled has no value
 --> plan.jmx:6:46
  |
6 | <ThreadGroup guiclass="ThreadGroupGui" enabled/>
  |                                        ^^^^^^^
  = in: Shop
  = hint: write enabled="…""#,
    },
    Case {
        name: "attribute_with_an_impossible_name",
        input: below!(r#"      <ThreadGroup guiclass="ThreadGroupGui" &="A"/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[xml-attribute-name]: "&" cannot be the name of an attribute
 --> plan.jmx:6:46
  |
6 | <ThreadGroup guiclass="ThreadGroupGui" &="A"/>
  |                                        ^
  = in: Shop
  = hint: write name="…", or remove it"#,
    },
    Case {
        name: "attribute_with_an_open_quote",
        input: below!(r#"      <ThreadGroup guiclass="ThreadGroupGui testname="A"/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[xml-unclosed-quote]: the value of an attribute in this tag has no closing quote
 --> plan.jmx:6:7
  |
6 | <ThreadGroup guiclass="ThreadGroupGui testname="A"/>
  | ^
  = in: Shop
  = hint: add the quote"#,
    },
    Case {
        name: "bracket_in_text",
        input: thread_group!(r#"        <stringProp name="a">1 < 2</stringProp>
"#).as_bytes(),
        rendered: r#"error[xml-bad-name]: < is not followed by the name of a tag
 --> plan.jmx:7:32
  |
7 | <stringProp name="a">1 < 2</stringProp>
  |                        ^
  = in: Shop > Buyers
  = hint: write &lt; for a < that is text"#,
    },
    Case {
        name: "unknown_entity",
        input: thread_group!(r#"        <stringProp name="a">caf&eacute;</stringProp>
"#).as_bytes(),
        rendered: r#"error[xml-unknown-entity]: &eacute; is not an entity of XML
 --> plan.jmx:7:33
  |
7 | <stringProp name="a">caf&eacute;</stringProp>
  |                         ^^^^^^^^
  = in: Shop > Buyers
  = hint: XML has &lt; &gt; &amp; &quot; &apos; and numbers such as &#233;; if the & is text, write &amp;"#,
    },
    Case {
        name: "character_beyond_unicode",
        input: thread_group!(r#"        <stringProp name="a">&#x110000;</stringProp>
"#).as_bytes(),
        rendered: r#"error[xml-bad-character]: &#x110000; is not a character
 --> plan.jmx:7:30
  |
7 | <stringProp name="a">&#x110000;</stringProp>
  |                      ^^^^^^^^^^
  = in: Shop > Buyers
  = hint: write a character as &#233; or, in hexadecimal, &#xE9;, up to &#x10FFFF;"#,
    },
    Case {
        name: "doctype",
        input: r#"<?xml version="1.0"?>
<!DOCTYPE jmeterTestPlan [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<jmeterTestPlan version="1.2"/>
"#.as_bytes(),
        rendered: r#"error[xml-doctype]: Drumfire refuses a document type definition (DOCTYPE)
 --> plan.jmx:2:1
  |
2 | <!DOCTYPE jmeterTestPlan [<!ENTITY x SYSTEM "file:///etc/passwd">]>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = hint: remove it: JMeter writes none, and its entities could pull other files into the plan"#,
    },
    Case {
        name: "declaration_after_a_blank_line",
        input: r#"
<?xml version="1.0"?>
<jmeterTestPlan version="1.2"/>
"#.as_bytes(),
        rendered: r#"error[xml-late-declaration]: the XML declaration is not the first thing in the file
 --> plan.jmx:2:1
  |
2 | <?xml version="1.0"?>
  | ^^^^^^^^^^^^^^^^^^^^^
  = hint: remove what is before <?xml, blanks and empty lines too"#,
    },
    Case {
        name: "text_before_the_plan",
        input: r#"<!-- a -->
oops
<jmeterTestPlan version="1.2"/>
"#.as_bytes(),
        rendered: r#"error[xml-text-outside]: there is text before the first tag
 --> plan.jmx:2:1
  |
2 | oops
  | ^^^^
  = hint: a plan starts with <?xml or <jmeterTestPlan; remove what is before it"#,
    },
    Case {
        name: "xml_2",
        input: r#"<?xml version="2.0"?>
<jmeterTestPlan version="1.2"/>
"#.as_bytes(),
        rendered: r#"error[xml-version]: XML version 2.0 does not exist
 --> plan.jmx:1:1
  |
1 | <?xml version="2.0"?>
  | ^^^^^^^^^^^^^^^^^^^^^
  = hint: write version="1.0""#,
    },
    Case {
        name: "warning_not_utf_8",
        input: b"<?xml version=\x221.0\x22 encoding=\x22ISO-8859-1\x22?>\x0a<jmeterTestPlan version=\x221.2\x22 properties=\x225.0\x22 jmeter=\x225.6.3\x22>\x0a  <hashTree>\x0a    <TestPlan guiclass=\x22TestPlanGui\x22 testclass=\x22TestPlan\x22 testname=\x22Shop\x22 enabled=\x22true\x22/>\x0a    <hashTree>\x0a      <ThreadGroup guiclass=\x22ThreadGroupGui\x22 testclass=\x22ThreadGroup\x22 testname=\x22Buyers\x22 enabled=\x22true\x22>\x0a        <stringProp name=\x22a\x22>caf\xe9</stringProp>\x0a      </ThreadGroup>\x0a      <hashTree/>\x0a    </hashTree>\x0a  </hashTree>\x0a</jmeterTestPlan>\x0a",
        rendered: r#"warning[xml-encoding]: this byte is not UTF-8; like JMeter, Drumfire reads a replacement character here
 --> plan.jmx:7:33
  |
7 | <stringProp name="a">caf�</stringProp>
  |                         ^
  = hint: save the file as UTF-8: JMeter reads every plan as UTF-8, whatever encoding its first line declares"#,
    },
    Case {
        name: "warning_utf_16",
        input: b"\xff\xfe<\x00?\x00x\x00m\x00l\x00 \x00v\x00e\x00r\x00s\x00i\x00o\x00n\x00=\x00\x22\x001\x00.\x000\x00\x22\x00 \x00e\x00n\x00c\x00o\x00d\x00i\x00n\x00g\x00=\x00\x22\x00U\x00T\x00F\x00-\x008\x00\x22\x00?\x00>\x00\x0a\x00<\x00j\x00m\x00e\x00t\x00e\x00r\x00T\x00e\x00s\x00t\x00P\x00l\x00a\x00n\x00 \x00v\x00e\x00r\x00s\x00i\x00o\x00n\x00=\x00\x22\x001\x00.\x002\x00\x22\x00 \x00p\x00r\x00o\x00p\x00e\x00r\x00t\x00i\x00e\x00s\x00=\x00\x22\x005\x00.\x000\x00\x22\x00 \x00j\x00m\x00e\x00t\x00e\x00r\x00=\x00\x22\x005\x00.\x006\x00.\x003\x00\x22\x00>\x00\x0a\x00 \x00 \x00<\x00h\x00a\x00s\x00h\x00T\x00r\x00e\x00e\x00>\x00\x0a\x00 \x00 \x00 \x00 \x00<\x00T\x00e\x00s\x00t\x00P\x00l\x00a\x00n\x00 \x00g\x00u\x00i\x00c\x00l\x00a\x00s\x00s\x00=\x00\x22\x00T\x00e\x00s\x00t\x00P\x00l\x00a\x00n\x00G\x00u\x00i\x00\x22\x00 \x00t\x00e\x00s\x00t\x00c\x00l\x00a\x00s\x00s\x00=\x00\x22\x00T\x00e\x00s\x00t\x00P\x00l\x00a\x00n\x00\x22\x00 \x00t\x00e\x00s\x00t\x00n\x00a\x00m\x00e\x00=\x00\x22\x00S\x00h\x00o\x00p\x00\x22\x00 \x00e\x00n\x00a\x00b\x00l\x00e\x00d\x00=\x00\x22\x00t\x00r\x00u\x00e\x00\x22\x00/\x00>\x00\x0a\x00 \x00 \x00 \x00 \x00<\x00h\x00a\x00s\x00h\x00T\x00r\x00e\x00e\x00>\x00\x0a\x00 \x00 \x00 \x00 \x00 \x00 \x00<\x00T\x00h\x00r\x00e\x00a\x00d\x00G\x00r\x00o\x00u\x00p\x00 \x00g\x00u\x00i\x00c\x00l\x00a\x00s\x00s\x00=\x00\x22\x00T\x00h\x00r\x00e\x00a\x00d\x00G\x00r\x00o\x00u\x00p\x00G\x00u\x00i\x00\x22\x00 \x00t\x00e\x00s\x00t\x00c\x00l\x00a\x00s\x00s\x00=\x00\x22\x00T\x00h\x00r\x00e\x00a\x00d\x00G\x00r\x00o\x00u\x00p\x00\x22\x00 \x00t\x00e\x00s\x00t\x00n\x00a\x00m\x00e\x00=\x00\x22\x00B\x00u\x00y\x00e\x00r\x00s\x00\x22\x00 \x00e\x00n\x00a\x00b\x00l\x00e\x00d\x00=\x00\x22\x00t\x00r\x00u\x00e\x00\x22\x00>\x00\x0a\x00 \x00 \x00 \x00 \x00 \x00 \x00 \x00 \x00<\x00s\x00t\x00r\x00i\x00n\x00g\x00P\x00r\x00o\x00p\x00 \x00n\x00a\x00m\x00e\x00=\x00\x22\x00a\x00\x22\x00>\x00b\x00<\x00/\x00s\x00t\x00r\x00i\x00n\x00g\x00P\x00r\x00o\x00p\x00>\x00\x0a\x00 \x00 \x00 \x00 \x00 \x00 \x00<\x00/\x00T\x00h\x00r\x00e\x00a\x00d\x00G\x00r\x00o\x00u\x00p\x00>\x00\x0a\x00 \x00 \x00 \x00 \x00 \x00 \x00<\x00h\x00a\x00s\x00h\x00T\x00r\x00e\x00e\x00/\x00>\x00\x0a\x00 \x00 \x00 \x00 \x00<\x00/\x00h\x00a\x00s\x00h\x00T\x00r\x00e\x00e\x00>\x00\x0a\x00 \x00 \x00<\x00/\x00h\x00a\x00s\x00h\x00T\x00r\x00e\x00e\x00>\x00\x0a\x00<\x00/\x00j\x00m\x00e\x00t\x00e\x00r\x00T\x00e\x00s\x00t\x00P\x00l\x00a\x00n\x00>\x00\x0a\x00",
        rendered: r#"warning[xml-utf16]: the file is UTF-16, which JMeter itself cannot read
 --> plan.jmx
  = hint: save it as UTF-8"#,
    },
    Case {
        name: "warning_half_a_character",
        input: thread_group!(r#"        <stringProp name="a">&#xD83D;</stringProp>
"#).as_bytes(),
        rendered: r#"warning[xml-lone-surrogate]: this is half a character; JMeter sends ? for it
 --> plan.jmx:7:30
  |
7 | <stringProp name="a">&#xD83D;</stringProp>
  |                      ^^^^^^^^
  = hint: write the whole character, such as &#x1F600;"#,
    },
    Case {
        name: "warning_element_property_without_name",
        input: thread_group!(r#"        <elementProp elementType="LoopController"/>
"#).as_bytes(),
        rendered: r#"warning[jmx-no-name]: <elementProp> has no name attribute, so JMeter ignores it
 --> plan.jmx:7:9
  |
7 | <elementProp elementType="LoopController"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: write name="…" as JMeter saves it for this property"#,
    },
    Case {
        name: "warning_removed_element",
        input: below!(r#"      <SoapSampler guiclass="SoapSamplerGui" testname="Old"/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"warning[jmx-removed-element]: JMeter no longer has SoapSampler: 5.6.3 loads an element that does nothing instead
 --> plan.jmx:6:7
  |
6 | <SoapSampler guiclass="SoapSamplerGui" testname="Old"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Old
  = hint: replace it with the element that does its job today, or disable it"#,
    },
    Case {
        name: "warning_text_after_the_plan",
        input: r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
        <stringProp name="a">b</stringProp>
      </ThreadGroup>
      <hashTree/>
    </hashTree>
  </hashTree>
<hashTree/></jmeterTestPlan>
"#.as_bytes(),
        rendered: r#"warning[jmx-trailing]: the plan ends here: JMeter ignores what follows
  --> plan.jmx:12:1
   |
12 | <hashTree/></jmeterTestPlan>
   | ^
   = hint: only </jmeterTestPlan> may follow the outer </hashTree>; move elements into it or remove them"#,
    },
    Case {
        name: "warning_end_of_plan_missing",
        input: r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
        <stringProp name="a">b</stringProp>
      </ThreadGroup>
      <hashTree/>
    </hashTree>
  </hashTree>
"#.as_bytes(),
        rendered: r#"warning[jmx-trailing]: </jmeterTestPlan> is missing; JMeter does not look for it
  --> plan.jmx:11:14
   |
11 | </hashTree>
   |            ^
   = hint: add </jmeterTestPlan> at the end; check whether more of the plan is missing"#,
    },
];
