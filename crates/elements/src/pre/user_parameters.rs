//! User Parameters.

use crate::form::{ElementFacts, Property, Role, flag, list, rows};

pub const CLASS: &str = "UserParameters";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PreProcessor,
    CLASS,
    "User Parameters",
    "UserParametersGui",
)
.help("Sets variables to other values for each user.")
.fields(&[PER_ITERATION, NAMES, USER_VALUES]);

pub const PER_ITERATION: Property = flag("UserParameters.per_iteration")
    .label("Update Once Per Iteration")
    .default("false")
    .help("Sets them once in each iteration instead of before each sample.");

pub const NAMES: Property = list("UserParameters.names")
    .label("Name")
    .sets()
    .help("Names the variables.");

pub const USER_VALUES: Property = rows("UserParameters.thread_values", &["User_1"])
    .label("Parameters")
    .help("Lists the values of each user.");
