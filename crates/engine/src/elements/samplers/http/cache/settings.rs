//! Caches the settings of a sampler's last sample. While the variables and properties in them stay the same, they are not
//! evaluated again.

use std::rc::Rc;

use drumfire_expr::{Scope, Slot, Value, Version};

use super::super::call::HttpCall;
use super::misses::Misses;
use crate::run::context::Context;

/// Settings with more bytes of text are not cached: evaluating literals costs nothing, and each worker would have its own copy.
pub const LONGEST: usize = 4 << 10;

/// The result of a lookup in the cache.
pub enum Cached {
    Hit(Rc<HttpCall<'static>>),
    /// The settings are not worth caching.
    Rejected,
    Miss,
}

pub struct CallMemo {
    /// The variables on which the settings depend, besides properties; `None` if they depend on anything else.
    variables: Option<Box<[Slot]>>,
    last: Option<Last>,
    misses: Misses,
}

struct Last {
    version: Version,
    /// The values of the variables, in their order.
    values: Box<[Option<Value>]>,
    call: Rc<HttpCall<'static>>,
}

impl CallMemo {
    pub fn new(variables: Option<Box<[Slot]>>) -> CallMemo {
        CallMemo {
            variables,
            last: None,
            misses: Misses::default(),
        }
    }

    pub fn get(&mut self, cx: &Context) -> Cached {
        let Some(variables) = &self.variables else {
            return Cached::Rejected;
        };
        if let Some(last) = &self.last
            && last.is_of(variables, cx)
        {
            self.misses.count_hit();
            return Cached::Hit(last.call.clone());
        }
        self.misses.count_miss();
        if self.misses.are_few() {
            Cached::Miss
        } else {
            Cached::Rejected
        }
    }

    /// Replaces the cached settings by `call`, evaluated with this version of the properties; `None` if it is not worth caching.
    pub fn keep(&mut self, cx: &Context, version: Version, call: Option<HttpCall<'static>>) {
        let Some(variables) = &self.variables else {
            return;
        };
        let values: Box<[Option<Value>]> = variables
            .iter()
            .map(|slot| cx.vars().get(*slot).cloned())
            .collect();
        self.last = call.map(|call| Last {
            version,
            values,
            call: Rc::new(call),
        });
    }
}

impl Last {
    fn is_of(&self, variables: &[Slot], cx: &Context) -> bool {
        let same = |(known, slot): (&Option<Value>, &Slot)| match (known, cx.vars().get(*slot)) {
            (Some(known), Some(value)) => Rc::ptr_eq(known, value) || known == value,
            (None, None) => true,
            _ => false,
        };
        self.version == cx.properties().version() && self.values.iter().zip(variables).all(same)
    }
}
