//! A virtual user for tests.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use drumfire_expr::{Level, Properties, Raised, Random, Scope, ScriptCall, Value, Vars};

/// A scope whose parts are open to the test.
pub struct TestScope {
    pub vars: Vars,
    pub properties: Properties,
    pub thread_name: String,
    pub sampler_name: Option<String>,
    pub previous_response: Option<String>,
    pub base_dir: PathBuf,
    pub now_ms: i64,
    pub random: Random,
    pub nesting: usize,
    pub messages: Vec<(Level, String)>,
    pub raised: Option<Raised>,
    pub scripts: Vec<String>,
}

impl TestScope {
    pub fn new(vars: Vars, properties: Properties) -> TestScope {
        TestScope {
            vars,
            properties,
            thread_name: "Thread Group 1-7".to_owned(),
            sampler_name: None,
            previous_response: None,
            base_dir: PathBuf::from("."),
            now_ms: 1_720_000_000_123,
            random: Random::from_seed(1),
            nesting: 0,
            messages: Vec::new(),
            raised: None,
            scripts: Vec::new(),
        }
    }
}

impl Scope for TestScope {
    fn vars(&self) -> &Vars {
        &self.vars
    }
    fn vars_mut(&mut self) -> &mut Vars {
        &mut self.vars
    }
    fn properties(&self) -> &Properties {
        &self.properties
    }
    fn thread_number(&self) -> u32 {
        7
    }
    fn thread_name(&self) -> &str {
        &self.thread_name
    }
    fn thread_group_name(&self) -> &str {
        ""
    }
    fn has_sampler(&self) -> bool {
        self.sampler_name.is_some()
    }
    fn sampler_name(&mut self) -> Option<Value> {
        self.sampler_name.as_deref().map(Value::from)
    }
    fn iteration(&self) -> u32 {
        0
    }
    fn previous_response(&self) -> Option<Cow<'_, str>> {
        self.previous_response.as_deref().map(Cow::Borrowed)
    }
    fn test_plan_name(&self) -> &str {
        "plan.jmx"
    }
    fn base_dir(&self) -> &Path {
        &self.base_dir
    }
    fn now_ms(&self) -> i64 {
        self.now_ms
    }
    fn random(&mut self) -> &mut Random {
        &mut self.random
    }
    fn nesting(&mut self) -> &mut usize {
        &mut self.nesting
    }
    fn log(&mut self, level: Level, message: &str) {
        self.messages.push((level, message.to_owned()));
    }
    fn raise(&mut self, raised: Raised) {
        self.raised = Some(raised);
    }
    fn run_script(&mut self, call: &ScriptCall<'_>) -> Result<String, Raised> {
        self.scripts.push(call.text.to_owned());
        Ok(format!("{:?}", call.language))
    }
}
