//! Where a Java exception comes from: the frames of its stack trace and its causes.

use std::borrow::Cow;

/// One line of a trace: `class.method:line`. Line 0 is a native method. The file is the class's, and the module follows
/// from the package.
pub type Frame = &'static str;

/// Which method of JMeter the frames of an exception lead down to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// The implementation's `sample`.
    #[default]
    Implementation,
    /// `HTTPSamplerBase#getUrl`.
    Address,
    /// The sampler's `sample`, which the thread calls.
    Thread,
    /// `HTTPSamplerBase#followRedirects`.
    Redirects,
    /// `HTTPSamplerBase#downloadPageResources`.
    Page,
    /// `HTTPSamplerBase#resultProcessing`.
    Processing,
}

/// The `Caused by` of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    pub class: Cow<'static, str>,
    pub message: Option<Cow<'static, str>>,
    /// Its frames down to the first that it shares with the enclosing trace.
    pub frames: Cow<'static, [Frame]>,
    /// How many frames of the enclosing trace it does not share.
    pub unshared: usize,
    /// What it wraps in turn.
    pub cause: Option<Box<Cause>>,
}

/// Where an exception comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    pub frames: Vec<Frame>,
    pub until: Until,
    pub cause: Option<Box<Cause>>,
}
