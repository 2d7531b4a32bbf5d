//! Test Plan.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, inner};
use crate::items;

pub const CLASS: &str = "TestPlan";

pub static FACTS: ElementFacts = ElementFacts::new(Role::Plan, CLASS, "Test Plan", "TestPlanGui")
    .help("Holds the whole test.")
    .fields(&[
        USER_DEFINED_VARIABLES,
        SERIALIZE,
        TEAR_DOWN_ON_SHUTDOWN,
        FUNCTIONAL_MODE,
        CLASS_PATH,
    ]);

pub const USER_DEFINED_VARIABLES: Property =
    inner("TestPlan.user_defined_variables", &items::VARIABLES)
        .label("User Defined Variables")
        .help("Lists variables that all users have from the start.");

pub const SERIALIZE: Property = flag("TestPlan.serialize_threadgroups")
    .label("Run Thread Groups consecutively (i.e. one at a time)")
    .help("Runs the thread groups one after the other.");

pub const TEAR_DOWN_ON_SHUTDOWN: Property = flag("TestPlan.tearDown_on_shutdown")
    .label("Run tearDown Thread Groups after shutdown of main threads")
    .help("Runs tearDown Thread Groups also after a run that was stopped.");

pub const FUNCTIONAL_MODE: Property = flag("TestPlan.functional_mode")
    .label("Functional Test Mode (i.e. save Response Data and Sampler Data)")
    .help("Writes the data of all samples into result files.");

pub const CLASS_PATH: Property = file("TestPlan.user_define_classpath", FileUse::Library)
    .label("Add directory or jar to classpath")
    .help("Lists jars and folders for Java code, with commas between them.");
