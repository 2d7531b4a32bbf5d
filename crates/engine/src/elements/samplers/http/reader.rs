//! Reads the properties of a sampler in the order in which JMeter first reads them, and stops as soon as a function in one of
//! them has thrown.

use std::rc::Rc;

use drumfire_expr::{Raised, Template, Text};
use drumfire_java::Exception;
use drumfire_web::property::{ArgumentPlacement, Client, Property};

use crate::run::context::Context;
use crate::run::property::Flag;
use crate::run::request::UnreadText;
use crate::run::step::SamplerId;

pub struct BodyReader<'c> {
    pub cx: &'c mut Context,
    failure: Option<Rc<PropertyFailure>>,
    /// The sampler whose texts stay unread because a script may read each of them.
    leaves: Option<SamplerId>,
}

/// An exception of a function, and the property that has it.
#[derive(Debug)]
pub struct PropertyFailure {
    property: Property,
    raised: Raised,
}

impl<'c> BodyReader<'c> {
    pub fn new(cx: &'c mut Context) -> BodyReader<'c> {
        BodyReader {
            cx,
            failure: None,
            leaves: None,
        }
    }

    /// A reader that leaves texts of the current sampler unread, since a script may read each of them, as often as it likes.
    pub fn leaving(cx: &'c mut Context) -> BodyReader<'c> {
        BodyReader {
            leaves: cx.sampler,
            ..BodyReader::new(cx)
        }
    }

    /// Whether the text is left for a script to read.
    pub fn leaves(&self, template: &Template) -> bool {
        self.leaves.is_some() && template.literal().is_none()
    }

    /// A text that a script may read by its index among the request's texts.
    pub fn placed<'s>(
        &mut self,
        property: Property,
        place: usize,
        template: &'s Template,
    ) -> Text<'s> {
        let left = self.leaves.filter(|_| template.literal().is_none());
        match left.and_then(|sampler| UnreadText { sampler, place }.stand_in()) {
            Some(stand_in) => Text::Owned(stand_in),
            None => self.text(property, template),
        }
    }

    /// Reads a text `times` more, as JMeter does; see [`Template::repeat`].
    pub fn again(&mut self, property: Property, template: &Template, times: usize) {
        if template.is_stateful() && !self.leaves(template) {
            self.read(property, |cx| template.repeat(cx, times));
        }
    }

    pub fn text<'s>(&mut self, property: Property, template: &'s Template) -> Text<'s> {
        if let (None, Some(text)) = (&self.failure, template.literal()) {
            return Text::Literal(text);
        }
        self.read(property, |cx| template.eval(cx))
            .unwrap_or(Text::Literal(""))
    }

    /// A flag, which is `false` if a function has thrown.
    pub fn flag(&mut self, property: Property, flag: &Flag) -> bool {
        match flag {
            Flag::Fixed(value) => *value,
            Flag::Computed(_) => self.read(property, |cx| flag.get(cx)).unwrap_or(false),
        }
    }

    /// A flag that JMeter reads so many times; `false` if it does not, and that can be noticed.
    pub fn flag_times(&mut self, property: Property, flag: &Flag, times: usize) -> bool {
        if let Some(template) = flag.template().filter(|template| template.is_stateful()) {
            if times == 0 {
                return false;
            }
            self.again(property, template, times - 1);
        }
        self.flag(property, flag)
    }

    /// A text that JMeter reads so many times; empty if it does not, and that can be noticed.
    pub fn text_times<'s>(
        &mut self,
        property: Property,
        template: &'s Template,
        times: usize,
    ) -> Text<'s> {
        if template.is_stateful() {
            if times == 0 {
                return Text::Literal("");
            }
            self.again(property, template, times - 1);
        }
        self.text(property, template)
    }

    /// `None` if a function has thrown, here or before.
    pub fn read<T>(
        &mut self,
        property: Property,
        act: impl FnOnce(&mut Context) -> T,
    ) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        let read = act(self.cx);
        match self.cx.take_raised() {
            None => Some(read),
            Some(raised) => {
                self.failure = Some(Rc::new(PropertyFailure { property, raised }));
                None
            }
        }
    }

    pub fn failure(self) -> Option<Rc<PropertyFailure>> {
        self.failure
    }
}

impl PropertyFailure {
    /// Whether JMeter reads the property in such a request, so that it fails.
    pub fn matters(&self, client: Client, form: ArgumentPlacement, method: &str) -> bool {
        let has_body = matches!(method, "POST" | "PUT");
        self.property.is_read(client, form, has_body)
    }

    /// Whether the result has neither label nor address.
    pub fn is_nameless(&self, client: Client, form: ArgumentPlacement) -> bool {
        self.property.is_read_before_request(client, form)
    }

    pub fn exception(&self) -> Exception {
        match &self.raised {
            Raised::Exception(thrown) => (**thrown).clone(),
            // it is an unchecked exception, so a sampler's own `catch` prevents the user from stopping
            Raised::StopThread(message) | Raised::Invalid(message) => Exception::new(
                "org.apache.jorphan.util.JMeterStopThreadException",
                message.clone(),
            ),
        }
    }
}
