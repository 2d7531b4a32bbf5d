//! The messages about functions and conditions.

use std::collections::BTreeMap;

use super::described::messages;
use crate::tree::Id;

messages! {
    /// A function.
    Function {
        /// Its name, with the underscores.
        name: String,
        /// The value that it gives, in a sentence.
        about: String,
        /// How it differs from JMeter's; empty if it does not.
        differs: String,
        /// Whether a plugin of JMeter has it.
        plugin: bool,
        /// Whether Java runs it.
        java: bool,
        /// Why it is not evaluated before a run; empty if it is.
        effect: String,
        /// Its parameters, in their order.
        parameters: Vec<FunctionParameter>,
        /// Whether the last parameter may be repeated.
        repeats: bool,
    }
    /// A parameter of a function.
    FunctionParameter {
        /// Its meaning.
        label: String,
        /// Whether an argument must be given, which may be empty.
        required: bool,
    }
    /// Parameters of `function_at`.
    FunctionAt {
        /// The text of a field.
        text: String,
        /// The cursor, in UTF-16 units.
        offset: usize,
    }
    /// The place of a text at which a function is written.
    FunctionPlace {
        /// The call around the cursor, or that ends at it.
        call: Option<FunctionCall>,
        /// Whether a new call at the cursor would stand in the arguments of another one.
        nested: bool,
    }
    /// A call of a function in a text.
    FunctionCall {
        /// Where it begins, in UTF-16 units.
        start: usize,
        /// Where it ends.
        end: usize,
        /// The function.
        name: String,
        /// The arguments as a user means them: no escapes, and references as they stand.
        arguments: Vec<String>,
        /// Whether it stands in the arguments of another call.
        nested: bool,
        /// Whether a new call behind it would.
        nested_behind: bool,
    }
    /// Parameters of `evaluate`.
    Evaluate {
        /// The plan.
        plan: u64,
        /// The element in whose field the text is.
        id: Id,
        /// The text, unless `function` is given.
        #[serde(default)]
        text: String,
        /// The function of a call that is written first.
        #[serde(default)]
        function: Option<String>,
        /// Its arguments, as `FunctionCall` has them.
        #[serde(default)]
        arguments: Vec<String>,
        /// Whether the call goes into the arguments of another one.
        #[serde(default)]
        nested: bool,
        /// How often it is evaluated; 5 if it is missing, and at most 100.
        #[serde(default)]
        times: Option<usize>,
    }
    /// A text and its values.
    Evaluation {
        /// The text.
        text: String,
        /// Its values, one after the other as one user gets them.
        samples: Vec<String>,
        /// Why there are none: the text has an effect, needs Java, is wrong, or fails with these variables.
        fault: Option<String>,
        /// Whether the text is wrong whatever the variables hold.
        wrong: bool,
        /// The run whose last variables the text saw; missing if they were those that the plan sets at the start.
        run: Option<u64>,
        /// The variables that the text names, with their values; null for those that are not set.
        variables: BTreeMap<String, Option<String>>,
    }
    /// Rows that are all, or any of them, true.
    Condition {
        /// Whether all of them must be true.
        all: bool,
        /// The rows.
        rows: Vec<ConditionRow>,
    }
    /// A comparison of a variable.
    ConditionRow {
        /// The name of the variable; empty for `last_ok` and `last_failed`.
        variable: String,
        /// `equals`, `differs`, `contains`, `matches` (a regular expression, the whole value), `empty`, `not_empty`, `less`,
        /// `at_most`, `more`, `at_least` (numbers), `last_ok` or `last_failed` (the last sample).
        operator: String,
        /// A constant, or a single variable such as `${name}`.
        value: String,
    }
    /// Parameters of `condition_read`.
    ConditionText {
        /// The text of the field.
        text: String,
    }
    /// A text that was written.
    Written {
        /// The text.
        text: String,
    }
}
