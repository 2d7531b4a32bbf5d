//! The plans of the situations, as text.

use drumfire_testkit::plans::{pause, plan};

/// The users of a plan, and their timing.
#[derive(Debug, Clone, Copy)]
pub struct PlanLoad {
    pub users: u32,
    pub ramp_s: u32,
    /// In seconds; 0 means one iteration of each user.
    pub seconds: u32,
    pub pause_ms: u32,
}

impl PlanLoad {
    pub const fn of(users: u32, seconds: u32, pause_ms: u32) -> PlanLoad {
        PlanLoad {
            users,
            ramp_s: 0,
            seconds,
            pause_ms,
        }
    }
}

fn loops(count: i32) -> String {
    format!(
        r#"<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{count}</stringProp></elementProp>"#
    )
}

/// A thread group with these children.
pub fn users(load: PlanLoad, children: &str) -> String {
    let (count, scheduler) = match load.seconds {
        0 => (1, String::new()),
        seconds => (
            -1,
            format!(
                r#"<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">{seconds}</stringProp>"#
            ),
        ),
    };
    let timer = match load.pause_ms {
        0 => String::new(),
        pause_ms => pause(pause_ms),
    };
    plan(&format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">{}{scheduler}
<stringProp name="ThreadGroup.num_threads">{}</stringProp><stringProp name="ThreadGroup.ramp_time">{}</stringProp></ThreadGroup><hashTree>
{timer}{children}</hashTree>
"#,
        loops(count),
        load.users,
        load.ramp_s
    ))
}

/// Arrivals at a rate, with at most this many users.
pub fn arrivals(per_second: u32, seconds: u32, users: u32, children: &str) -> String {
    let class = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";
    plan(&format!(
        r#"<{class} guiclass="{class}Gui" testclass="{class}" testname="arrivals">{}
<stringProp name="TargetLevel">{per_second}</stringProp><stringProp name="RampUp">0</stringProp><stringProp name="Steps">0</stringProp><stringProp name="Hold">{seconds}</stringProp><stringProp name="ConcurrencyLimit">{users}</stringProp><stringProp name="Unit">S</stringProp></{class}><hashTree>
{children}</hashTree>
"#,
        loops(1)
    ))
}

/// A schedule of samples per second.
pub fn precise(per_second: u32) -> String {
    format!(
        r#"<PreciseThroughputTimer guiclass="TestBeanGUI" testclass="PreciseThroughputTimer" testname="rate"><intProp name="exactLimit">10000</intProp><doubleProp><name>allowedThroughputSurplus</name><value>1.0</value><savedValue>0.0</savedValue></doubleProp><longProp name="duration">60</longProp><doubleProp><name>throughput</name><value>{per_second}.0</value><savedValue>0.0</savedValue></doubleProp><intProp name="throughputPeriod">1</intProp><intProp name="batchSize">1</intProp><intProp name="batchThreadDelay">0</intProp><longProp name="randomSeed">7</longProp></PreciseThroughputTimer><hashTree/>
"#
    )
}

/// A request to the situation's target.
pub fn request(name: &str, keep_alive: bool, more: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${{__P(port)}}</stringProp><stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">{keep_alive}</boolProp>{more}</HTTPSamplerProxy><hashTree/>
"#
    )
}

/// A request that keeps its connection open.
pub fn ask() -> String {
    request("ask", true, "")
}

/// A Debug Sampler, which sends nothing to the target.
pub fn debug(name: &str) -> String {
    let name = name.replace('<', "&lt;");
    format!(
        r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="{name}"><boolProp name="displayJMeterProperties">false</boolProp><boolProp name="displayJMeterVariables">false</boolProp><boolProp name="displaySystemProperties">false</boolProp></DebugSampler><hashTree/>
"#
    )
}

/// A Groovy script as a sampler.
pub fn groovy(name: &str, script: &str) -> String {
    let script = script.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        r#"<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="{name}"><stringProp name="scriptLanguage">groovy</stringProp><stringProp name="cacheKey">true</stringProp><stringProp name="script">{script}</stringProp></JSR223Sampler><hashTree/>
"#
    )
}
