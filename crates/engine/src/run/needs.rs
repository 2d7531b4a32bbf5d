//! The parts of a result that elements read.

/// The parts of a sampler's result that elements read. All other parts are discarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub body: bool,
    /// Response headers as text.
    pub headers: bool,
    /// Request headers, cookies and the data sent, as text.
    pub request: bool,
}

impl Needs {
    pub const NOTHING: Needs = Needs {
        body: false,
        headers: false,
        request: false,
    };
    pub const BODY: Needs = Needs {
        body: true,
        headers: false,
        request: false,
    };
    pub const ALL: Needs = Needs {
        body: true,
        headers: true,
        request: true,
    };

    #[must_use]
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            body: self.body | other.body,
            headers: self.headers | other.headers,
            request: self.request | other.request,
        }
    }
}
