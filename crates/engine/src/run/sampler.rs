//! Samplers, as the run calls them, and as elements and scripts see them.

use std::pin::Pin;

use drumfire_expr::Template;
use drumfire_http::Placed;
use drumfire_results::Sample;
use drumfire_web::cookies::Cookie;

use crate::run::context::{Context, Sleep};
use crate::run::request::{Request, SeenCookie};
use crate::run::step::SamplerId;

/// The turn of a sampler: done, or a future to wait for. It yields `None` if the sampler makes no sample.
#[must_use]
pub enum SamplerTurn<'a> {
    Done(Option<Box<Sample>>),
    /// The user pauses, and there is no sample. This is as small as a timer because most users pause most of the time.
    Pause(Sleep<'a>),
    /// Boxed: otherwise a pausing user would reserve room for the largest future.
    Wait(Pin<Box<dyn Future<Output = Option<Box<Sample>>> + 'a>>),
    /// In reusable memory of the worker (`Room::futures`), so nothing is allocated.
    Placed(Placed<'a, Option<Box<Sample>>>),
}

impl<'a> SamplerTurn<'a> {
    pub fn wait(work: impl Future<Output = Option<Box<Sample>>> + 'a) -> SamplerTurn<'a> {
        SamplerTurn::Wait(Box::pin(work))
    }
}

/// Makes samples.
pub trait Sampler: Send + Sync {
    /// `name` is the element's.
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a>;

    /// The sampler as an HTTP Request, which pre-processors and scripts may change (`HTTPSamplerBase`), if it is one.
    fn as_request(&self) -> Option<&dyn RequestView> {
        None
    }

    /// Its index among the elements that Java runs, if Java runs it.
    fn java_element(&self) -> Option<u32> {
        None
    }
}

/// An HTTP Request, for scripts that read and change it.
pub trait RequestView {
    /// The current settings of the next sample. Pending changes are applied now, so that the script sees them and they are
    /// applied only once.
    fn request(&self, cx: &mut Context, name: &Template) -> Request;
    /// The current value of a text that [`RequestView::request`] left unread, by its place.
    fn text(&self, cx: &mut Context, name: &Template, place: usize) -> String;
    /// Changes the next sample. Changes of headers are permanent if they were made `in_place`.
    fn change(&self, cx: &mut Context, before: Request, after: Request, in_place: bool);
    /// The user's cookies that the request may send.
    fn cookies(&self, cx: &mut Context) -> Vec<SeenCookie>;
    /// Replaces all of those cookies; `None` removes the Cookie Manager.
    fn set_cookies(&self, cx: &mut Context, cookies: Option<Vec<Cookie>>);
}

/// One sampler of a plan, for code that inspects it.
pub struct SeenSampler<'p> {
    /// Its class in JMeter, with the package.
    pub class: &'p str,
    pub name: &'p Template,
    /// `None` for a Parallel Controller, which the run executes itself.
    pub sampler: Option<&'p dyn Sampler>,
    /// Names and values of its properties, if an element of the plan lists them.
    pub listing: &'p [(String, Template)],
}

/// All samplers of a plan.
pub trait Samplers {
    /// A sampler of a thread group, which is given by its index in the program.
    fn find(&self, group: usize, sampler: SamplerId) -> Option<SeenSampler<'_>>;
}
