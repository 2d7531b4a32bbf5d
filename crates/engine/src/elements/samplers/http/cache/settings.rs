//! The settings of a sampler's last sample: while the variables and properties in them stay the same, nothing is evaluated
//! again.

use std::rc::Rc;

use drumfire_expr::{Scope, Slot, Value, Version};

use super::super::call::Call;
use super::misses::Misses;
use crate::run::context::Context;

/// Settings with more text in them, in bytes, are not kept: literals cost nothing to evaluate, and each worker would have its own.
pub const LONGEST: usize = 4 << 10;

/// The answer of the cache.
pub enum Cached {
    Hit(Rc<Call<'static>>),
    /// The settings are not worth keeping.
    Rejected,
    Miss,
}

pub struct CallMemo {
    /// The variables that the settings are made of, besides properties; `None` if they are made of more.
    variables: Option<Box<[Slot]>>,
    last: Option<Last>,
    misses: Misses,
}

struct Last {
    version: Version,
    /// The values of the variables, in their order.
    values: Box<[Option<Value>]>,
    call: Rc<Call<'static>>,
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
        match self.misses.are_few() {
            true => Cached::Miss,
            false => Cached::Rejected,
        }
    }

    /// Replaces the kept settings by `call`, evaluated with properties of this version; `None` is not worth keeping.
    pub fn keep(&mut self, cx: &Context, version: Version, call: Option<Call<'static>>) {
        let Some(variables) = &self.variables else {
            return;
        };
        let values = variables.iter().map(|slot| cx.vars().get(*slot).cloned());
        let values: Box<[Option<Value>]> = values.collect();
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
