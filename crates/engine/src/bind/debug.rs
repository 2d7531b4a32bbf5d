//! Wraps the elements of a plan that is debugged.

use std::rc::Rc;
use std::sync::Arc;

use crate::decode::DecodingContext;
use crate::decode::roles::Roles;
use crate::resolve::Element;
use crate::run::debug::{ElementKind, ElementPlace, ElementTurn};
use crate::run::watched::Watched;

/// The place of an element.
pub fn place(element: &Element) -> ElementPlace {
    ElementPlace {
        path: element.source.path.clone(),
        start: element.span.start,
    }
}

/// Wraps an element's roles so that a debugger learns of each turn. Without a debugger, returns them unchanged.
pub fn watched(roles: Rc<Roles>, element: &Element, decoding: &DecodingContext) -> Rc<Roles> {
    let Some(debugger) = decoding.settings.debugging.debugger() else {
        return roles;
    };
    let turn = |part| ElementTurn {
        part,
        name: element.name.to_string(),
        class: element.class.to_string(),
        place: Some(place(element)),
    };
    macro_rules! wrapped {
        ($role:ident, $part:ident) => {
            roles.$role.clone().map(|inner| {
                Arc::new(Watched {
                    inner,
                    turn: turn(ElementKind::$part),
                    debugger: debugger.clone(),
                }) as _
            })
        };
    }
    Rc::new(Roles {
        pre: wrapped!(pre, PreProcessor),
        timer: wrapped!(timer, Timer),
        post: wrapped!(post, PostProcessor),
        assertion: wrapped!(assertion, Assertion),
        listener: roles.listener,
        ..Roles::default()
    })
}
