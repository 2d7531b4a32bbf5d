//! Properties that may hold a variable although JMeter's window shows a box or a number. They are evaluated for each sample.
//! How they are read from an element is in `decode/setting.rs`.

use drumfire_expr::{Scope, Template};
use drumfire_java::values;

/// A boolean property (`AbstractProperty#getBooleanValue`).
pub enum Flag {
    Fixed(bool),
    Computed(Template),
}

impl Flag {
    pub fn get(&self, cx: &mut dyn Scope) -> bool {
        match self {
            Flag::Fixed(value) => *value,
            Flag::Computed(template) => values::property_bool(&template.eval(cx)),
        }
    }

    /// See [`Template::repeat`].
    pub fn repeat(&self, cx: &mut dyn Scope, times: usize) {
        if let Some(template) = self.template() {
            template.repeat(cx, times);
        }
    }

    /// The text that each sample evaluates, unless the value is fixed.
    pub fn template(&self) -> Option<&Template> {
        match self {
            Flag::Fixed(_) => None,
            Flag::Computed(template) => Some(template),
        }
    }

    /// Whether some sample may find the value `true`.
    pub fn may_hold(&self) -> bool {
        !matches!(self, Flag::Fixed(false))
    }
}

/// A whole number (`AbstractProperty#getIntValue`, which returns 0 for any other text).
pub enum WholeNumber {
    Fixed(i32),
    Computed(Template),
}

impl WholeNumber {
    pub fn get(&self, cx: &mut dyn Scope) -> i32 {
        match self {
            WholeNumber::Fixed(value) => *value,
            WholeNumber::Computed(template) => crate::base::number::int(&template.eval(cx)),
        }
    }

    /// See [`Template::repeat`].
    pub fn repeat(&self, cx: &mut dyn Scope, times: usize) {
        if let WholeNumber::Computed(template) = self {
            template.repeat(cx, times);
        }
    }
}

/// One of several words, such as the part of a result that an element reads.
pub enum Choice<T> {
    Fixed(T),
    Computed(Template, fn(&str) -> T),
}

impl<T: Copy> Choice<T> {
    pub fn get(&self, cx: &mut dyn Scope) -> T {
        match self {
            Choice::Fixed(value) => *value,
            Choice::Computed(template, read) => read(&template.eval(cx)),
        }
    }

    /// The value that holds for every sample, if there is one.
    pub fn fixed(&self) -> Option<T> {
        match self {
            Choice::Fixed(value) => Some(*value),
            Choice::Computed(..) => None,
        }
    }

    /// See [`Template::repeat`].
    pub fn repeat(&self, cx: &mut dyn Scope, times: usize) {
        if let Choice::Computed(template, _) = self {
            template.repeat(cx, times);
        }
    }
}

/// Properties that JMeter evaluates for each sample and that have no effect here. Only the functions in them do.
pub struct Unused(pub Box<[Template]>);

impl Unused {
    pub fn eval(&self, cx: &mut dyn Scope) {
        for template in &self.0 {
            template.repeat(cx, 1);
        }
    }
}
