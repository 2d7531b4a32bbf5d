//! The messages about templates.

use std::collections::BTreeMap;

use super::described::messages;
use crate::tree::Id;

messages! {
    /// A template.
    TemplateEntry {
        /// Its name.
        name: String,
        /// The plan or the elements that it makes, in a sentence.
        about: String,
        /// Whether it is one of the user's JMeter.
        user: bool,
        /// Whether it makes elements that go into a plan, instead of a plan.
        part: bool,
        /// JMeter's name for a template of the same kind; empty if it has none.
        like: String,
        /// The server or program that a run of the plan needs; empty if it needs none, or if that is not known.
        needs: String,
        /// Its parameters.
        parameters: Vec<TemplateValue>,
    }
    /// A parameter of a template.
    TemplateValue {
        /// Its name.
        name: String,
        /// Its meaning; empty if it is not known.
        about: String,
        /// The value if none is given.
        value: String,
    }
    /// Parameters of `new_plan`.
    NewPlan {
        /// The file, relative to the opened folder. It must not be there yet.
        path: String,
        /// The template.
        template: String,
        /// Values of its parameters.
        #[serde(default)]
        values: BTreeMap<String, String>,
    }
    /// Parameters of `insert_template`.
    InsertTemplate {
        /// The plan.
        plan: u64,
        /// The element that receives the elements.
        parent: Id,
        /// The place among its children; the end if it is missing.
        #[serde(default)]
        index: Option<usize>,
        /// The template.
        template: String,
        /// Values of its parameters.
        #[serde(default)]
        values: BTreeMap<String, String>,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
}
