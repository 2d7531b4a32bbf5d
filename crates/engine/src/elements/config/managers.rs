//! The plan's managers, for the samplers in their scope.

use std::collections::HashMap;
use std::sync::Arc;

use super::auth_manager::AuthManager;
use super::cache_manager::CacheManager;
use super::cookie_manager::CookieManager;
use super::dns_cache_manager::DnsCacheManager;
use crate::decode::Decoder;
use crate::run::context::Context;

/// A manager, shared by the samplers in its scope.
#[derive(Clone)]
pub enum Manager {
    Cookies(Arc<CookieManager>),
    Cache(Arc<CacheManager>),
    Auth(Arc<AuthManager>),
    Dns(Arc<DnsCacheManager>),
}

/// When a manager clears what it has stored for a user.
pub struct ClearPolicy {
    each_iteration: bool,
    by_user: bool,
}

impl ClearPolicy {
    /// `by_thread_group` names the property that leaves this to the thread group's 'same user on each
    /// iteration'.
    pub fn decode(d: &mut Decoder, each_iteration: &str, by_thread_group: &str) -> ClearPolicy {
        ClearPolicy {
            each_iteration: d.bool(each_iteration, false),
            by_user: d.bool(by_thread_group, false),
        }
    }

    /// Whether to clear at the start of an iteration of the thread group.
    pub fn is_due(&self, cx: &Context) -> bool {
        if self.by_user {
            !cx.same_user
        } else {
            self.each_iteration
        }
    }
}

/// The managers of a plan, by the id of their element.
#[derive(Default)]
struct Managers(HashMap<usize, Manager>);

/// Offers the decoded element to the samplers in its scope.
pub fn register(d: &mut Decoder, manager: Manager) {
    let managers = d.decoding.kept.of::<Managers>();
    managers.0.insert(d.element.id, manager);
}

/// The manager decoded from the element with this id, if it was one.
pub fn manager(d: &Decoder, id: usize) -> Option<Manager> {
    d.decoding.kept.get::<Managers>()?.0.get(&id).cloned()
}
