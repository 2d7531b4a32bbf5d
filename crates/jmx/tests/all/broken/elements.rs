//! Files that are no plans, and elements and properties that are not as JMeter writes them.

use super::Case;

#[rustfmt::skip]
pub const PLANS: &[Case] = &[
    Case {
        name: "empty_file",
        input: r#""#.as_bytes(),
        rendered: r#"error[jmx-empty]: the file is empty
 --> plan.jmx
  = hint: give the .jmx file that JMeter's File > Save writes"#,
    },
    Case {
        name: "blank_file",
        input: r#"  

"#.as_bytes(),
        rendered: r#"error[jmx-empty]: the file holds nothing but blanks
 --> plan.jmx
  = hint: give the .jmx file that JMeter's File > Save writes"#,
    },
    Case {
        name: "json",
        input: r#"{"execution": []}
"#.as_bytes(),
        rendered: r#"error[jmx-json]: this is JSON, not a JMeter plan
 --> plan.jmx
  = hint: give the .jmx file that JMeter's File > Save writes"#,
    },
    Case {
        name: "html_page",
        input: r#"<!DOCTYPE html>
<html><body>Sign in</body></html>
"#.as_bytes(),
        rendered: r#"error[jmx-html]: this is an HTML page, not a JMeter plan
 --> plan.jmx
  = hint: if the plan was downloaded, the server probably answered with a login or error page: look at it in a browser"#,
    },
    Case {
        name: "csv_result_file",
        input: r#"timeStamp,elapsed,label,responseCode
1,2,Home,200
"#.as_bytes(),
        rendered: r#"error[jmx-results]: this is a result file (JTL, CSV), not a JMeter plan
 --> plan.jmx
  = hint: write `drumfire report plan.jmx`"#,
    },
    Case {
        name: "xml_result_file",
        input: r#"<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="1"/>
</testResults>
"#.as_bytes(),
        rendered: r#"error[jmx-results]: this is a result file (JTL, XML), not a JMeter plan
 --> plan.jmx:2:1
  |
2 | <testResults version="1.2">
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = hint: write `drumfire report plan.jmx`"#,
    },
    Case {
        name: "yaml",
        input: r#"---
execution:
- concurrency: 10
"#.as_bytes(),
        rendered: r#"error[jmx-yaml]: this is YAML, not a JMeter plan
 --> plan.jmx
  = hint: a Taurus configuration ends with .yml: `drumfire run FILE.yml` runs it"#,
    },
    Case {
        name: "zip_archive",
        input: b"PK\x03\x04\x14\x00",
        rendered: r#"error[jmx-archive]: this is a ZIP archive, not a JMeter plan
 --> plan.jmx
  = hint: unpack it and give the .jmx file inside"#,
    },
    Case {
        name: "binary",
        input: b"\x7fELF\x02\x01\x01\x00\x00",
        rendered: r#"error[jmx-binary]: this is binary data, not a JMeter plan
 --> plan.jmx
  = hint: give the .jmx file that JMeter's File > Save writes"#,
    },
    Case {
        name: "plain_text",
        input: r#"GET / HTTP/1.1
"#.as_bytes(),
        rendered: r#"error[jmx-not-xml]: a JMeter plan starts with <?xml, this file with "GET / HTTP/1.1"
 --> plan.jmx
  = hint: give the .jmx file that JMeter's File > Save writes"#,
    },
    Case {
        name: "other_xml",
        input: r#"<?xml version="1.0"?>
<project name="build"/>
"#.as_bytes(),
        rendered: r#"error[jmx-other-root]: a JMeter plan starts with <jmeterTestPlan>, this file with <project>
 --> plan.jmx:2:1
  |
2 | <project name="build"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^
  = hint: give the .jmx file that JMeter's File > Save writes"#,
    },
    Case {
        name: "jmeter_1_plan",
        input: r#"<?xml version="1.0"?>
<node>
<testelement class="org.apache.jmeter.testelement.TestPlan"/>
</node>
"#.as_bytes(),
        rendered: r#"error[jmx-old-format]: a plan that starts with <node> was written by JMeter 1
 --> plan.jmx:2:1
  |
2 | <node>
  | ^^^^^^
  = hint: open it in JMeter 2.0 to 2.13 and save it: later versions cannot read it either"#,
    },
    Case {
        name: "fragment",
        input: r#"<ThreadGroup guiclass="ThreadGroupGui" testname="Buyers"/>
"#.as_bytes(),
        rendered: r#"error[jmx-fragment]: <ThreadGroup> is not inside <jmeterTestPlan> and <hashTree>
 --> plan.jmx:1:1
  |
1 | <ThreadGroup guiclass="ThreadGroupGui" testname="Buyers"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = hint: put <jmeterTestPlan version="1.2"><hashTree> before it and </hashTree></jmeterTestPlan> at the end"#,
    },
    Case {
        name: "plan_without_tree",
        input: r#"<jmeterTestPlan version="1.2">
</jmeterTestPlan>
"#.as_bytes(),
        rendered: r#"error[jmx-no-tree]: the plan is empty: <jmeterTestPlan> holds no <hashTree>
 --> plan.jmx:1:1
  |
1 | <jmeterTestPlan version="1.2">
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = hint: give the .jmx file that JMeter's File > Save writes"#,
    },
    Case {
        name: "plan_without_elements",
        input: r#"<jmeterTestPlan version="1.2">
  <hashTree/>
</jmeterTestPlan>
"#.as_bytes(),
        rendered: r#"error[jmx-no-elements]: the plan is empty: its outer <hashTree> holds no Test Plan
 --> plan.jmx:2:3
  |
2 | <hashTree/>
  | ^^^^^^^^^^^
  = hint: give the .jmx file that JMeter's File > Save writes"#,
    },
    Case {
        name: "tree_forgotten_at_the_top",
        input: r#"<jmeterTestPlan version="1.2">
  <TestPlan guiclass="TestPlanGui" testname="Shop"/>
</jmeterTestPlan>
"#.as_bytes(),
        rendered: r#"error[jmx-no-tree]: <jmeterTestPlan> holds <TestPlan> where its <hashTree> should be
 --> plan.jmx:2:3
  |
2 | <TestPlan guiclass="TestPlanGui" testname="Shop"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = hint: put <hashTree> and </hashTree> around the elements"#,
    },
    Case {
        name: "number_that_is_none",
        input: thread_group!(r#"        <intProp name="ThreadGroup.num_threads">ten</intProp>
"#).as_bytes(),
        rendered: r#"error[jmx-bad-int]: <intProp name="ThreadGroup.num_threads"> holds "ten", which is not a whole number from -2147483648 to 2147483647
 --> plan.jmx:7:49
  |
7 | <intProp name="ThreadGroup.num_threads">ten</intProp>
  |                                         ^^^
  = in: Shop > Buyers
  = hint: JMeter refuses the whole plan for this: write a number here"#,
    },
    Case {
        name: "number_that_is_a_variable",
        input: thread_group!(r#"        <intProp name="ThreadGroup.num_threads">${users}</intProp>
"#).as_bytes(),
        rendered: r#"error[jmx-bad-int]: <intProp name="ThreadGroup.num_threads"> holds "${users}", which is not a whole number from -2147483648 to 2147483647
 --> plan.jmx:7:49
  |
7 | <intProp name="ThreadGroup.num_threads">${users}</intProp>
  |                                         ^^^^^^^^
  = in: Shop > Buyers
  = hint: only text can hold a variable: write <stringProp> instead of <intProp>"#,
    },
    Case {
        name: "number_with_blanks",
        input: thread_group!(r#"        <longProp name="ThreadGroup.duration"> 60 </longProp>
"#).as_bytes(),
        rendered: r#"error[jmx-bad-long]: <longProp name="ThreadGroup.duration"> holds " 60 ", which is not a whole number of 64 bits
 --> plan.jmx:7:47
  |
7 | <longProp name="ThreadGroup.duration"> 60 </longProp>
  |                                       ^^^^
  = in: Shop > Buyers
  = hint: remove the blanks around the number"#,
    },
    Case {
        name: "number_too_large",
        input: thread_group!(r#"        <intProp name="ThreadGroup.num_threads">3000000000</intProp>
"#).as_bytes(),
        rendered: r#"error[jmx-bad-int]: <intProp name="ThreadGroup.num_threads"> holds "3000000000", which is not a whole number from -2147483648 to 2147483647
 --> plan.jmx:7:49
  |
7 | <intProp name="ThreadGroup.num_threads">3000000000</intProp>
  |                                         ^^^^^^^^^^
  = in: Shop > Buyers
  = hint: JMeter refuses the whole plan for this: write a number here"#,
    },
    Case {
        name: "fraction_that_is_none",
        input: thread_group!(r#"        <doubleProp>
          <name>rate</name>
          <value>fast</value>
        </doubleProp>
"#).as_bytes(),
        rendered: r#"error[jmx-bad-double]: <value> holds "fast", which is not a number
 --> plan.jmx:9:18
  |
9 | <value>fast</value>
  |        ^^^^
  = in: Shop > Buyers
  = hint: JMeter refuses the whole plan for this: write a number here"#,
    },
    Case {
        name: "fraction_from_a_function",
        input: thread_group!(r#"        <doubleProp>
          <name>rate</name>
          <value>${__P(rate,1)}</value>
        </doubleProp>
"#).as_bytes(),
        rendered: r#"error[jmx-bad-double]: <value> holds "${__P(rate,1)}", which is not a number
 --> plan.jmx:9:18
  |
9 | <value>${__P(rate,1)}</value>
  |        ^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: only text can hold a variable: replace the whole property around <value> with <stringProp name="…">${__P(rate,1)}</stringProp>"#,
    },
    Case {
        name: "fraction_in_an_attribute",
        input: thread_group!(r#"        <doubleProp name="rate">3.5</doubleProp>
        <intProp name="a"/>
"#).as_bytes(),
        rendered: r#"warning[jmx-ignored-value]: JMeter ignores the name and the text of <doubleProp>
 --> plan.jmx:7:9
  |
7 | <doubleProp name="rate">3.5</doubleProp>
  | ^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: write <doubleProp><name>…</name><value>…</value></doubleProp>, or use <stringProp>

error[jmx-bad-int]: <intProp name="a"> holds an empty value, which is not a whole number from -2147483648 to 2147483647
 --> plan.jmx:8:9
  |
8 | <intProp name="a"/>
  | ^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: JMeter refuses the whole plan for this: write a number here"#,
    },
    Case {
        name: "misspelt_property",
        input: thread_group!(r#"        <strngProp name="ThreadGroup.on_sample_error">continue</strngProp>
"#).as_bytes(),
        rendered: r#"error[jmx-unknown-property]: <strngProp> is not a property of JMeter
 --> plan.jmx:7:9
  |
7 | <strngProp name="ThreadGroup.on_sample_error">continue</strngProp>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: did you mean stringProp?"#,
    },
    Case {
        name: "property_without_name",
        input: thread_group!(r#"        <stringProp>continue</stringProp>
"#).as_bytes(),
        rendered: r#"error[jmx-no-name]: <stringProp> has no name attribute
 --> plan.jmx:7:9
  |
7 | <stringProp>continue</stringProp>
  | ^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: write name="…" as JMeter saves it for this property"#,
    },
    Case {
        name: "element_property_without_type",
        input: thread_group!(r#"        <elementProp name="ThreadGroup.main_controller"/>
"#).as_bytes(),
        rendered: r#"error[jmx-no-element-type]: <elementProp> has no elementType attribute
 --> plan.jmx:7:9
  |
7 | <elementProp name="ThreadGroup.main_controller"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: write elementType="…" as JMeter saves it, such as elementType="Arguments""#,
    },
    Case {
        name: "element_property_of_unknown_type",
        input: thread_group!(r#"        <elementProp name="ThreadGroup.main_controller" elementType="LopController"/>
"#).as_bytes(),
        rendered: r#"error[jmx-unknown-element-type]: elementType="LopController" is neither an element of JMeter nor a full class name
 --> plan.jmx:7:9
  |
7 | <elementProp name="ThreadGroup.main_controller" elementType="LopController"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: did you mean LoopController?"#,
    },
    Case {
        name: "misspelt_element",
        input: below!(r#"      <ThreadGruop guiclass="ThreadGroupGui" testname="Buyers"/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[jmx-unknown-element]: <ThreadGruop> is neither an element of JMeter nor a full class name
 --> plan.jmx:6:7
  |
6 | <ThreadGruop guiclass="ThreadGroupGui" testname="Buyers"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: did you mean ThreadGroup?"#,
    },
    Case {
        name: "element_inside_an_element",
        input: thread_group!(r#"        <ConstantTimer guiclass="ConstantTimerGui" testname="Pause"/>
"#).as_bytes(),
        rendered: r#"error[jmx-misplaced]: <ConstantTimer> stands inside another element
 --> plan.jmx:7:9
  |
7 | <ConstantTimer guiclass="ConstantTimerGui" testname="Pause"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: close the element around it first; what is below an element goes into the <hashTree> after it"#,
    },
    Case {
        name: "property_outside_an_element",
        input: below!(r#"      <stringProp name="a">b</stringProp>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[jmx-stray-property]: <stringProp> is not inside an element
 --> plan.jmx:6:7
  |
6 | <stringProp name="a">b</stringProp>
  | ^^^^^^^^^^^^^^^^^^^^^
  = in: Shop
  = hint: a property stands between the start tag and the end tag of its element, not in a <hashTree>"#,
    },
    Case {
        name: "element_without_guiclass",
        input: below!(r#"      <ThreadGroup testclass="ThreadGroup" testname="Buyers"/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[jmx-no-guiclass]: <ThreadGroup> has no guiclass attribute
 --> plan.jmx:6:7
  |
6 | <ThreadGroup testclass="ThreadGroup" testname="Buyers"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: JMeter refuses the whole plan without it; write guiclass="…" as JMeter saves it for such an element"#,
    },
    Case {
        name: "missing_tree",
        input: below!(r#"      <ConstantTimer guiclass="ConstantTimerGui" testname="Pause"/>
      <ConstantTimer guiclass="ConstantTimerGui" testname="Rest"/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[jmx-missing-tree]: <hashTree> is missing between <ConstantTimer> and <ConstantTimer>
 --> plan.jmx:7:7
  |
7 | <ConstantTimer guiclass="ConstantTimerGui" testname="Rest"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Rest
  = hint: write <hashTree/> between them; what is below the first goes into that <hashTree>"#,
    },
    Case {
        name: "one_tree_too_many",
        input: below!(r#"      <ConstantTimer guiclass="ConstantTimerGui" testname="Pause"/>
      <hashTree/>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[jmx-stray-tree]: <hashTree> follows another <hashTree>, so it belongs to no element
 --> plan.jmx:8:7
  |
8 | <hashTree/>
  | ^^^^^^^^^^^
  = in: Shop
  = hint: each element is followed by one <hashTree>: remove this one, or put back the element that is missing before it"#,
    },
    Case {
        name: "listener_with_an_unknown_column",
        input: below!(r#"      <ResultCollector guiclass="SimpleDataWriter" testname="Log">
        <objProp>
          <name>saveConfig</name>
          <value class="SampleSaveConfiguration">
            <timeStamp>true</timeStamp>
            <assertionsResultsToSave>none</assertionsResultsToSave>
          </value>
        </objProp>
      </ResultCollector>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[jmx-unknown-field]: <timeStamp> is not a field of a listener's save configuration
  --> plan.jmx:10:13
   |
10 | <timeStamp>true</timeStamp>
   | ^^^^^^^^^^^
   = in: Shop > Log
   = hint: did you mean timestamp?

error[jmx-bad-int]: <assertionsResultsToSave> holds "none", which is not a whole number from -2147483648 to 2147483647
  --> plan.jmx:11:38
   |
11 | <assertionsResultsToSave>none</assertionsResultsToSave>
   |                          ^^^^
   = in: Shop > Log
   = hint: JMeter refuses the whole plan for this: write a number here"#,
    },
    Case {
        name: "object_of_an_unknown_class",
        input: below!(r#"      <ResultCollector guiclass="SimpleDataWriter" testname="Log">
        <objProp><name>saveConfig</name><value class="SampleSaveConfig"/></objProp>
      </ResultCollector>
      <hashTree/>
"#).as_bytes(),
        rendered: r#"error[jmx-unknown-class]: class="SampleSaveConfig" is neither a class of JMeter nor a full class name
 --> plan.jmx:7:41
  |
7 | <objProp><name>saveConfig</name><value class="SampleSaveConfig"/></objProp>
  |                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Log
  = hint: JMeter refuses the whole plan for it: remove the property"#,
    },
    Case {
        name: "reference_to_nothing",
        input: below!(r#"      <ConstantTimer guiclass="ConstantTimerGui" testname="Pause"/>
      <hashTree reference="../hashTree[7]"/>
"#).as_bytes(),
        rendered: r#"error[jmx-bad-reference]: reference="../hashTree[7]" leads to no earlier element
 --> plan.jmx:7:7
  |
7 | <hashTree reference="../hashTree[7]"/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Pause
  = hint: remove the attribute and write the content out"#,
    },
    Case {
        name: "bad_url_encoding",
        input: r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.0" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
        <stringProp name="ThreadGroup.on_sample_error">100%</stringProp>
      </ThreadGroup>
      <hashTree/>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#.as_bytes(),
        rendered: r#"error[jmx-bad-escape]: a % is not followed by two hexadecimal digits
 --> plan.jmx:7:56
  |
7 | <stringProp name="ThreadGroup.on_sample_error">100%</stringProp>
  |                                                ^^^^
  = in: Shop > Buyers
  = hint: texts in a plan of version 1.0 are URL-encoded: write %25 for %, or set version="1.2""#,
    },
    Case {
        name: "several_faults_at_once",
        input: below!(r#"      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
        <intProp name="ThreadGroup.num_threads">ten</intProp>
        <bolProp name="ThreadGroup.scheduler">false</bolProp>
      </ThreadGroup>
      <hashTree/>
      <ThreadGroup guiclass="ThreadGroupGui" testname="Sellers">
        <longProp name="ThreadGroup.duration"/>
      </ThreadGroup>
      <ThreadGroup guiclass="ThreadGroupGui" testname="Thieves"/>
      <hashTree>
        <Sampler guiclass="X" testname="Steal"/>
      </hashTree>
"#).as_bytes(),
        rendered: r#"error[jmx-bad-int]: <intProp name="ThreadGroup.num_threads"> holds "ten", which is not a whole number from -2147483648 to 2147483647
 --> plan.jmx:7:49
  |
7 | <intProp name="ThreadGroup.num_threads">ten</intProp>
  |                                         ^^^
  = in: Shop > Buyers
  = hint: JMeter refuses the whole plan for this: write a number here

error[jmx-unknown-property]: <bolProp> is not a property of JMeter
 --> plan.jmx:8:9
  |
8 | <bolProp name="ThreadGroup.scheduler">false</bolProp>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: did you mean boolProp?

error[jmx-bad-long]: <longProp name="ThreadGroup.duration"> holds an empty value, which is not a whole number of 64 bits
  --> plan.jmx:12:9
   |
12 | <longProp name="ThreadGroup.duration"/>
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = in: Shop > Sellers
   = hint: JMeter refuses the whole plan for this: write a number here

error[jmx-missing-tree]: <hashTree> is missing between <ThreadGroup> and <ThreadGroup>
  --> plan.jmx:14:7
   |
14 | <ThreadGroup guiclass="ThreadGroupGui" testname="Thieves"/>
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = in: Shop > Thieves
   = hint: write <hashTree/> between them; what is below the first goes into that <hashTree>

error[jmx-unknown-element]: <Sampler> is neither an element of JMeter nor a full class name
  --> plan.jmx:16:9
   |
16 | <Sampler guiclass="X" testname="Steal"/>
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = in: Shop > Thieves > Steal
   = hint: write a plugin's element with its full class name, such as com.example.Sampler"#,
    },
    Case {
        name: "faults_before_a_syntax_error",
        input: below!(r#"      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers" enabled="true">
        <intProp name="ThreadGroup.num_threads">ten</intProp>
      </ThreadGroup>
      <hashTree/>
      <ConstantTimer guiclass="ConstantTimerGui" testname="Tom & Jerry"/>
"#).as_bytes(),
        rendered: r#"error[jmx-bad-int]: <intProp name="ThreadGroup.num_threads"> holds "ten", which is not a whole number from -2147483648 to 2147483647
 --> plan.jmx:7:49
  |
7 | <intProp name="ThreadGroup.num_threads">ten</intProp>
  |                                         ^^^
  = in: Shop > Buyers
  = hint: JMeter refuses the whole plan for this: write a number here

error[xml-bare-ampersand]: & does not start a reference
  --> plan.jmx:10:64
   |
10 | <ConstantTimer guiclass="ConstantTimerGui" testname="Tom & Jerry"/>
   |                                                          ^
   = in: Shop
   = hint: write &amp; for an & that is text"#,
    },
    Case {
        name: "end_tag_misspelt",
        input: thread_group!(r#"        <stringProp name="a">b</stringPorp>
"#).as_bytes(),
        rendered: r#"error[xml-mismatched-tag]: </stringPorp> does not match the open tag <stringProp>
 --> plan.jmx:7:31
  |
7 | <stringProp name="a">b</stringPorp>
  |                       ^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: did you mean </stringProp>?"#,
    },
    Case {
        name: "end_tag_missing",
        input: thread_group!(r#"        <collectionProp name="a">
          <stringProp name="b">c</stringProp>
"#).as_bytes(),
        rendered: r#"error[xml-unclosed-tag]: <collectionProp> is not closed before </ThreadGroup>
 --> plan.jmx:7:9
  |
7 | <collectionProp name="a">
  | ^^^^^^^^^^^^^^^^^^^^^^^^^
  = in: Shop > Buyers
  = hint: write </collectionProp> where the element ends"#,
    },
];
