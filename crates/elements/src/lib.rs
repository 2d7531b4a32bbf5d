//! The facts about the elements of plans: what a class is called, which properties it has, and which of them set or read
//! variables, name files or hold secrets. Engine, checker, editors, importers and documentation read them from here.
//!
//! Each element type has one file, in the folder of its role. It holds the class, the properties as constants, and `FACTS`,
//! which reads like the element's form: its constants are documented by the `help` of each. `jmeter-5.6.3.tsv` records what JMeter's own forms say; a test compares.

pub mod assertions;
pub mod config;
pub mod controllers;
mod created;
pub mod form;
mod index;
pub mod items;
pub mod listeners;
pub mod other;
pub mod post;
pub mod pre;
mod property;
pub mod samplers;
pub mod shared;
pub mod thread_groups;
pub mod timers;
mod when;

pub use created::{Created, absent, created};
pub use form::{
    Access, Choice, ElementFacts, FileUse, Item, Kind, Language, Names, Property, Role, Saved,
    Section,
};
pub use index::{all, is_script, label, of_class, of_form, property, type_name, variable_names};
pub use when::{FleetRule, May, Test, When};
