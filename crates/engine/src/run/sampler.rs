//! Samplers, as the run calls them, and as elements and scripts look at them.

use std::pin::Pin;

use drumfire_expr::Template;
use drumfire_http::Placed;
use drumfire_results::Sample;
use drumfire_web::cookies::Cookie;

use crate::run::context::{Context, Sleep};
use crate::run::request::{Request, SeenCookie};
use crate::run::step::SamplerId;

/// The turn of a sampler: done, or something to wait for. It gives no sample where the sampler makes none.
#[must_use]
pub enum SamplerTurn<'a> {
    Done(Option<Box<Sample>>),
    /// The user pauses; there is no sample. Most users think most of the time, so this takes no more room than a timer.
    Pause(Sleep<'a>),
    /// Boxed: a user that thinks would hold room for the largest future otherwise.
    Wait(Pin<Box<dyn Future<Output = Option<Box<Sample>>> + 'a>>),
    /// In room of the worker's (`Room::futures`), which is given back: nothing is allocated.
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

    /// Its place among the elements that Java runs, if Java runs it.
    fn java_element(&self) -> Option<u32> {
        None
    }
}

/// An HTTP Request, for scripts that look at it and change it.
pub trait RequestView {
    /// The settings of the next sample as they are now. Changes asked for so far are made now, so that the script sees them and
    /// they are made only once.
    fn request(&self, cx: &mut Context, name: &Template) -> Request;
    /// The value now of a text that [`RequestView::request`] left unread, by its place.
    fn text(&self, cx: &mut Context, name: &Template, place: usize) -> String;
    /// Changes the next sample; headers for good, if they were changed `in_place`, where they are kept.
    fn change(&self, cx: &mut Context, before: Request, after: Request, in_place: bool);
    /// The user's cookies that the request may send.
    fn cookies(&self, cx: &mut Context) -> Vec<SeenCookie>;
    /// Takes these for all of those cookies; `None`: there is no Cookie Manager any longer.
    fn set_cookies(&self, cx: &mut Context, cookies: Option<Vec<Cookie>>);
}

/// One sampler of a plan, for code that looks at it.
pub struct SeenSampler<'p> {
    /// Its class in JMeter, with the package.
    pub class: &'p str,
    pub name: &'p Template,
    /// `None` for a Parallel Controller, which the run knows itself.
    pub sampler: Option<&'p dyn Sampler>,
    /// Names and values of its properties, where the plan has something that lists them.
    pub listing: &'p [(String, Template)],
}

/// All samplers of a plan.
pub trait Samplers {
    /// A sampler of a thread group, which is given by its place in the program.
    fn find(&self, group: usize, sampler: SamplerId) -> Option<SeenSampler<'_>>;
}
