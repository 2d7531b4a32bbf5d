//! Why a request is refused.

use crate::tree::Id;

/// The element or the text has changed since the caller saw it.
pub const STALE: i32 = -32001;
/// The operation does not fit the plan.
pub const UNFIT: i32 = -32002;
/// A file cannot be read or written.
pub const FILE: i32 = -32003;
/// The file was changed by another program in a way that cannot be merged.
pub const CONFLICT: i32 = -32004;
/// Another part of a plan runs, or a recording goes on.
pub const BUSY: i32 = -32005;
/// The part of the plan cannot run.
pub const NO_RUN: i32 = -32006;
/// The message is no JSON.
pub const NO_JSON: i32 = -32700;
/// The message is no request.
pub const NO_REQUEST: i32 = -32600;
/// There is no such method.
pub const NO_METHOD: i32 = -32601;
/// The parameters do not fit the method.
pub const PARAMETERS: i32 = -32602;

/// A refused request: what is wrong, why, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// One of the constants of this module.
    pub code: i32,
    /// Says what and why.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
    /// The element that it is about.
    pub id: Option<Id>,
    /// The property that it is about.
    pub property: Option<String>,
}

impl Refused {
    /// A refusal without a remedy.
    pub fn new(code: i32, message: impl Into<String>) -> Refused {
        Refused {
            code,
            message: message.into(),
            hint: None,
            id: None,
            property: None,
        }
    }

    /// An operation that does not fit the plan.
    pub fn unfit(message: impl Into<String>) -> Refused {
        Refused::new(UNFIT, message)
    }

    /// Adds the remedy.
    pub fn hint(mut self, hint: impl Into<String>) -> Refused {
        self.hint = Some(hint.into());
        self
    }

    /// Names the element.
    pub fn of(mut self, id: Id) -> Refused {
        self.id = Some(id);
        self
    }

    /// Names the property.
    pub fn at(mut self, property: impl Into<String>) -> Refused {
        self.property = Some(property.into());
        self
    }
}

/// An element that is not there, or not any more.
pub fn no_element(id: Id) -> Refused {
    Refused::new(
        STALE,
        format!("the plan has no element {id}; it may have been removed"),
    )
    .hint("ask for the tree again")
    .of(id)
}
