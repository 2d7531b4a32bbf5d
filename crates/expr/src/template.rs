//! A property text in its compiled form.

use std::sync::Arc;

use crate::call::FunctionCall;
use crate::scope::{Raised, Scope};
use crate::spec::FunctionSpec;
use crate::text::Text;
use crate::vars::{Slot, Value};

/// A compiled property text: JMeter's `FunctionProperty`, or a plain `StringProperty` if nothing in the text is evaluated.
///
/// A template is immutable, except for the state of stateful functions (`__counter`, `__StringFromFile`). As in JMeter, this
/// state belongs to the location in the plan, so an element's templates are compiled once and shared by all users.
///
/// It is a pointer, because a plan has many templates and most of them are empty.
#[derive(Debug)]
pub struct Template {
    /// `None` for the empty text.
    body: Option<Arc<Body>>,
}

#[derive(Debug)]
struct Body {
    source: Box<str>,
    shape: Shape,
}

/// The content of a template; see [`Template::shape`].
#[derive(Debug)]
enum Shape {
    /// The source unchanged.
    Raw,
    /// A constant that differs from its source.
    Constant(Box<str>),
    /// A single variable or function call.
    Single(TemplatePart),
    /// Anything else.
    Parts(Box<[TemplatePart]>),
}

/// Bytes that an evaluated text usually has at most beyond its source: a value such as a UUID is longer than its reference.
const ROOM_FOR_VALUES: usize = 40;

/// One piece of a template.
#[derive(Debug)]
pub(crate) enum TemplatePart {
    Text(Box<str>),
    Variable(Variable),
    Call(Box<FunctionCall>),
}

/// A reference to a variable: JMeter's `SimpleVariable`.
#[derive(Debug)]
pub(crate) struct Variable {
    /// The variable's number; `None` for a name that occurs only in a computed text (`__eval`).
    slot: Option<Slot>,
    /// `${name}`, the result if the variable is undefined.
    reference: Box<str>,
}

impl Variable {
    pub(crate) fn new(name: &str, slot: Option<Slot>) -> Variable {
        Variable {
            slot,
            reference: format!("${{{name}}}").into(),
        }
    }

    fn name(&self) -> &str {
        &self.reference[2..self.reference.len() - 1]
    }

    fn eval(&self, scope: &dyn Scope) -> Text<'_> {
        let value = match self.slot {
            Some(slot) => scope.vars().get(slot).cloned(),
            None => scope.variable(self.name()),
        };
        value.map_or(Text::Literal(&self.reference), Text::Shared)
    }

    fn eval_into(&self, scope: &dyn Scope, out: &mut String) {
        match self.slot {
            Some(slot) => {
                let value = scope.vars().get(slot);
                out.push_str(value.map(|value| &**value).unwrap_or(&*self.reference));
            }
            None => out.push_str(&self.eval(scope)),
        }
    }
}

impl Template {
    /// A text that is never evaluated.
    pub fn raw(text: &str) -> Template {
        match text {
            "" => Template { body: None },
            _ => Template::new(text, Shape::Raw),
        }
    }

    fn new(source: &str, shape: Shape) -> Template {
        let source = source.into();
        Template {
            body: Some(Arc::new(Body { source, shape })),
        }
    }

    /// The same template for another element, if it has no state and its calls cannot fail, so that nothing tells the two apart.
    pub(crate) fn shared(&self) -> Option<Template> {
        (!self.is_stateful()).then(|| Template {
            body: self.body.clone(),
        })
    }

    fn shape(&self) -> &Shape {
        self.body.as_ref().map_or(&Shape::Raw, |body| &body.shape)
    }

    /// Builds a template from parts whose constant pieces were already unescaped.
    pub(crate) fn from_parts(source: &str, mut parts: Vec<TemplatePart>) -> Template {
        parts.dedup_by(|next, last| match (last, next) {
            (TemplatePart::Text(last), TemplatePart::Text(next)) => {
                *last = format!("{last}{next}").into();
                true
            }
            _ => false,
        });
        let shape = if parts.len() > 1 {
            Shape::Parts(parts.into())
        } else {
            match parts.pop() {
                None => Shape::Constant("".into()),
                Some(TemplatePart::Text(text)) if *text == *source => return Template::raw(source),
                Some(TemplatePart::Text(text)) => Shape::Constant(text),
                Some(part) => Shape::Single(part),
            }
        };
        Template::new(source, shape)
    }

    /// The text in the plan.
    pub fn source(&self) -> &str {
        self.body.as_ref().map_or("", |body| &body.source)
    }

    /// The constant that this template always evaluates to, if it is one.
    pub fn literal(&self) -> Option<&str> {
        match self.shape() {
            Shape::Raw => Some(self.source()),
            Shape::Constant(text) => Some(text),
            Shape::Single(_) | Shape::Parts(_) => None,
        }
    }

    /// Whether this template is always empty.
    pub fn is_empty_literal(&self) -> bool {
        self.literal() == Some("")
    }

    /// Evaluates the template. If a function throws, calls [`Scope::raise`] and returns an empty text.
    pub fn eval<'a>(&'a self, scope: &mut dyn Scope) -> Text<'a> {
        match self.try_eval(scope) {
            Ok(text) => text,
            Err(raised) => {
                scope.raise(raised);
                Text::Literal("")
            }
        }
    }

    /// Evaluates the template `times` more, as JMeter does where it reads a property again, if that can be noticed.
    pub fn repeat(&self, scope: &mut dyn Scope, times: usize) {
        if self.is_stateful() && scope.evaluates_again() {
            for _ in 0..times {
                self.eval(scope);
            }
        }
    }

    /// Whether an evaluation may have an effect, or give another text than the last one with the same variables.
    pub fn is_stateful(&self) -> bool {
        self.parts()
            .iter()
            .any(|part| matches!(part, TemplatePart::Call(call) if !call.reads_only_properties()))
    }

    /// Evaluates the template and appends the result to `out`; see [`Template::eval`]. If a function throws, the text
    /// evaluated before it stays in `out`.
    pub fn eval_into(&self, scope: &mut dyn Scope, out: &mut String) {
        if let Err(raised) = self.try_eval_into(scope, out) {
            scope.raise(raised);
        }
    }

    /// Evaluates the template.
    ///
    /// # Errors
    /// [`Raised::Exception`] or [`Raised::StopThread`], if a JMeter function throws them.
    pub fn try_eval<'a>(&'a self, scope: &mut dyn Scope) -> Result<Text<'a>, Raised> {
        match self.shape() {
            Shape::Raw => Ok(Text::Literal(self.source())),
            Shape::Constant(text) => Ok(Text::Literal(text)),
            Shape::Single(TemplatePart::Text(text)) => Ok(Text::Literal(text)),
            Shape::Single(TemplatePart::Variable(variable)) => Ok(variable.eval(scope)),
            Shape::Single(TemplatePart::Call(call)) => match call.eval(scope) {
                Err(Raised::Invalid(_)) => Ok(Text::Literal("")),
                outcome => outcome,
            },
            Shape::Parts(parts) => {
                let mut out = String::with_capacity(self.source().len() + ROOM_FOR_VALUES);
                eval_parts(parts, scope, &mut out)?;
                Ok(Text::Owned(out))
            }
        }
    }

    /// Evaluates the parts of the text separately, if its variables have at least `least` bytes; a text of that length can
    /// be sent without concatenating it. `None` if they are shorter.
    pub fn eval_pieces(&self, scope: &mut dyn Scope, least: usize) -> Option<Vec<Value>> {
        let Shape::Parts(parts) = self.shape() else {
            return None;
        };
        let length = |part: &TemplatePart| match part {
            TemplatePart::Text(_) | TemplatePart::Call(_) => 0,
            TemplatePart::Variable(variable) => variable.eval(scope).len(),
        };
        if parts.iter().map(length).sum::<usize>() < least {
            return None;
        }
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            let piece = match part {
                TemplatePart::Text(text) => Value::from(&**text),
                TemplatePart::Variable(variable) => variable.eval(scope).into_value(),
                TemplatePart::Call(call) => match call.eval(scope) {
                    Ok(text) => text.into_value(),
                    Err(Raised::Invalid(_)) => continue,
                    Err(raised) => {
                        scope.raise(raised);
                        return Some(Vec::new());
                    }
                },
            };
            pieces.push(piece);
        }
        Some(pieces)
    }

    fn try_eval_into(&self, scope: &mut dyn Scope, out: &mut String) -> Result<(), Raised> {
        match self.shape() {
            Shape::Raw => out.push_str(self.source()),
            Shape::Constant(text) => out.push_str(text),
            Shape::Single(part) => eval_parts(std::slice::from_ref(part), scope, out)?,
            Shape::Parts(parts) => eval_parts(parts, scope, out)?,
        }
        Ok(())
    }

    fn parts(&self) -> &[TemplatePart] {
        match self.shape() {
            Shape::Raw | Shape::Constant(_) => &[],
            Shape::Single(part) => std::slice::from_ref(part),
            Shape::Parts(parts) => parts,
        }
    }

    fn visit<'a>(&'a self, seen: &mut dyn FnMut(&'a TemplatePart)) {
        for part in self.parts() {
            seen(part);
            if let TemplatePart::Call(call) = part {
                call.args.iter().for_each(|arg| arg.visit(seen));
            }
        }
    }

    /// The constant pieces of the text, with `hole` in place of each evaluated part.
    pub(crate) fn skeleton(&self, hole: char) -> String {
        match self.literal() {
            Some(text) => text.to_owned(),
            None => {
                let mut out = String::with_capacity(self.source().len());
                for part in self.parts() {
                    match part {
                        TemplatePart::Text(text) => out.push_str(text),
                        TemplatePart::Variable(_) | TemplatePart::Call(_) => out.push(hole),
                    }
                }
                out
            }
        }
    }

    /// The variables that this template reads by name, including those in arguments of functions.
    pub fn reads(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.visit(&mut |part| {
            if let TemplatePart::Variable(Variable {
                slot: Some(slot), ..
            }) = part
                && !slots.contains(slot)
            {
                slots.push(*slot);
            }
        });
        slots
    }

    /// The variables that this template depends on, if it consists only of texts, variables and properties. Its value then
    /// changes only when these do.
    pub fn ingredients(&self) -> Option<Vec<Slot>> {
        let mut slots = Vec::new();
        for part in self.parts() {
            match part {
                TemplatePart::Text(_) => {}
                TemplatePart::Variable(variable) => slots.push(variable.slot?),
                TemplatePart::Call(call) if call.reads_only_properties() => {}
                TemplatePart::Call(_) => return None,
            }
        }
        Some(slots)
    }

    /// The functions that this template calls, without duplicates, in order of first occurrence.
    pub fn functions(&self) -> Vec<&'static FunctionSpec> {
        let mut specs: Vec<&'static FunctionSpec> = Vec::new();
        self.visit(&mut |part| {
            if let TemplatePart::Call(call) = part
                && !specs.iter().any(|spec| std::ptr::eq(*spec, call.spec))
            {
                specs.push(call.spec);
            }
        });
        specs
    }

    /// Whether a function in this template needs the response of the previous sample.
    pub fn reads_previous_response(&self) -> bool {
        let mut needed = false;
        self.visit(&mut |part| {
            if let TemplatePart::Call(call) = part {
                needed |= call.reads_previous_response();
            }
        });
        needed
    }

    /// Whether a function in this template can only run in a JVM.
    pub fn needs_jvm(&self) -> bool {
        let mut needed = false;
        self.visit(&mut |part| {
            if let TemplatePart::Call(call) = part {
                needed |= call.needs_jvm();
            }
        });
        needed
    }
}

fn eval_parts(
    parts: &[TemplatePart],
    scope: &mut dyn Scope,
    out: &mut String,
) -> Result<(), Raised> {
    for part in parts {
        match part {
            TemplatePart::Text(text) => out.push_str(text),
            TemplatePart::Variable(variable) => variable.eval_into(scope, out),
            TemplatePart::Call(call) => match call.eval(scope) {
                Ok(text) => out.push_str(&text),
                Err(Raised::Invalid(_)) => {}
                Err(raised) => return Err(raised),
            },
        }
    }
    Ok(())
}
