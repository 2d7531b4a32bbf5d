//! Collects the orders that pages, `ctl` and signals give to a run on several machines.

use std::sync::{Arc, Mutex, PoisonError};

use drumfire_engine::{Clock, Control, Steered};

use super::order::{FleetOrder, PlannedGroup};
use crate::wire::CoordinatorOrder;

/// Takes orders that apply to all agents.
pub struct Steering {
    clock: Clock,
    groups: Vec<PlannedGroup>,
    has_rates: bool,
    orders: Mutex<Vec<CoordinatorOrder>>,
}

impl Steering {
    /// Redirects the orders of this control to the agents.
    pub fn attach(control: &Control, clock: Clock, order: &FleetOrder) -> Arc<Steering> {
        let steering = Arc::new(Steering {
            clock,
            groups: order.groups.clone(),
            has_rates: order.has_rates,
            orders: Mutex::default(),
        });
        let steered: Arc<dyn Steered> = steering.clone();
        control.attach(Arc::downgrade(&steered));
        steering
    }

    fn add(&self, order: CoordinatorOrder) {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.push(order);
    }

    /// The orders since the last call.
    pub fn take(&self) -> Vec<CoordinatorOrder> {
        std::mem::take(&mut *self.orders.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Steered for Steering {
    fn clock(&self) -> Clock {
        self.clock
    }

    fn groups(&self) -> Vec<&str> {
        self.groups
            .iter()
            .map(|group| group.name.as_str())
            .collect()
    }

    fn planned_users(&self, group: usize) -> u32 {
        self.groups[group].users
    }

    fn has_arrivals(&self, group: usize) -> bool {
        self.groups[group].has_arrivals
    }

    fn has_rates(&self) -> bool {
        self.has_rates
    }

    fn order_users(&self, group: usize, users: u32) {
        self.add(CoordinatorOrder::Users { group, users });
    }

    fn set_property(&self, name: &str, value: &str) {
        self.add(CoordinatorOrder::Property {
            name: name.to_owned(),
            value: value.to_owned(),
        });
    }
}
