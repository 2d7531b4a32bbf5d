//! Builds plans, in the text of their files.

/// A plan with these elements below its root.
pub fn plan(elements: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan"/><hashTree>
{elements}</hashTree></hashTree></jmeterTestPlan>"#
    )
}

/// One user; `loops` is -1 for no end.
pub fn group(loops: i32, children: &str) -> String {
    users(1, loops, "", children)
}

/// A thread group with more properties.
pub fn users(users: u32, loops: i32, properties: &str, children: &str) -> String {
    format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users" enabled="true">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController">
<boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>{properties}</ThreadGroup><hashTree>
{children}</hashTree>"#
    )
}

/// A Debug Sampler that lists nothing.
pub fn debug(name: &str) -> String {
    format!(
        r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="{name}" enabled="true">
<boolProp name="displayJMeterProperties">false</boolProp><boolProp name="displayJMeterVariables">false</boolProp>
<boolProp name="displaySystemProperties">false</boolProp></DebugSampler><hashTree/>
"#
    )
}

/// An HTTP Request with these text properties, without `HTTPSampler.`.
pub fn http(name: &str, properties: &[(&str, &str)]) -> String {
    let properties: String = properties
        .iter()
        .map(|(name, value)| {
            format!(r#"<stringProp name="HTTPSampler.{name}">{value}</stringProp>"#)
        })
        .collect();
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}" enabled="true">{properties}</HTTPSamplerProxy><hashTree/>
"#
    )
}

/// A Constant Timer.
pub fn pause(delay_ms: u32) -> String {
    format!(
        r#"<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="pause"><stringProp name="ConstantTimer.delay">{delay_ms}</stringProp></ConstantTimer><hashTree/>
"#
    )
}

/// A listener that writes a file with these switches on and all others off.
pub fn writer(file: &str, switches: &[&str]) -> String {
    let switches: String = switches
        .iter()
        .map(|name| format!("<{name}>true</{name}>"))
        .collect();
    format!(
        r#"<ResultCollector guiclass="SimpleDataWriter" testclass="ResultCollector" testname="writer">
<objProp><name>saveConfig</name><value class="SampleSaveConfiguration">{switches}</value></objProp>
<stringProp name="filename">{file}</stringProp></ResultCollector><hashTree/>
"#
    )
}
