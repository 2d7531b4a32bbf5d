//! Variables, functions and templates: the `${...}` language of JMeter.
//!
//! A property text of a plan is compiled once into a [`Template`]. It is then evaluated for every sample, without parsing
//! and, for literals and single variables, without allocating. An evaluation reads and changes a virtual user through the
//! [`Scope`] trait, which the engine implements.
//!
//! The rules are those of JMeter 5.6.3's `CompoundVariable` and `FunctionParser`; each function follows the class of the
//! same name in `org.apache.jmeter.functions`.

#![warn(missing_docs)]

mod call;
mod call_text;
mod catalogue;
mod compiler;
mod functions;
pub mod jexl;
pub mod js_condition;
mod match_template;
mod parse;
mod properties;
mod random;
mod regexes;
mod scope;
mod shared;
mod spec;
mod template;
mod template_error;
mod text;
mod vars;

pub use call_text::{CallText, call_at, is_in_arguments, literal_argument, write_call};
pub use catalogue::{add_function, function, function_rung, functions};
pub use compiler::{Compiler, ScriptRunner, StaticScope};
pub use functions::decimal_format::format as format_decimal;
pub use functions::escapes::unescape_html4;
pub use match_template::MatchTemplate;
pub use properties::{Properties, Version};
pub use random::Random;
pub use scope::{Level, Raised, Scope, ScriptCall, ScriptLanguage};
pub use shared::fifos::{Fifos, PopRequest};
pub use spec::{FunctionOrigin, FunctionRung, FunctionSpec, Parameter};
pub use template::Template;
pub use template_error::{Severity, TemplateError};
pub use text::Text;
pub use vars::{Slot, Value, VarNames, Vars, is_numeral, numeral};
