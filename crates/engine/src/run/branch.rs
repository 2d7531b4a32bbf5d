//! A user that runs a child of a Parallel Controller (`JMeterThreadParallel`): one with the variables, connections and cookies
//! of the user that it belongs to.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use drumfire_expr::Vars;
use drumfire_results::Sample;

use crate::run::action::Action;
use crate::run::context::Identity;
use crate::run::user::User;
use crate::run::walk::ControllerId;

/// What ties it to its user.
pub struct Branch {
    /// The loop around the child.
    pub root: ControllerId,
    /// How many children of the controller run now.
    pub live: Rc<Cell<u32>>,
    /// The user ends with it.
    pub stops_user: bool,
    /// The user's variables as all children change them.
    board: Rc<RefCell<Vars>>,
    /// Samples that become part of the controller's own, if it makes one.
    collected: Option<Vec<Sample>>,
    /// Open transactions of the user.
    above: Vec<ControllerId>,
    /// What they are to add up.
    noted: Vec<(ControllerId, Sample)>,
}

impl Branch {
    /// Whether its samples become part of another one.
    pub fn collects(&self) -> bool {
        self.collected.is_some()
    }

    /// Keeps a sample that becomes part of another one (`ParallelListenerNotifier`); false if it does not.
    pub fn collect(&mut self, sample: &Sample) -> bool {
        match &mut self.collected {
            Some(collected) => collected.push(sample.clone()),
            None => return false,
        }
        true
    }

    /// Keeps a sample for the transactions around the controller that hear it.
    pub fn note_above(&mut self, sample: &Sample, hears: impl Fn(ControllerId) -> bool) {
        for id in self.above.iter().copied().filter(|id| hears(*id)) {
            self.noted.push((id, sample.clone()));
        }
    }
}

/// What the children of a Parallel Controller have in common.
pub struct Family {
    pub thread_name: Rc<str>,
    pub collects: bool,
    board: Rc<RefCell<Vars>>,
    live: Rc<Cell<u32>>,
}

impl User {
    /// Lends this user's variables to children. Until they are given back the user has none.
    pub fn lend_variables(&mut self, thread_name: Rc<str>, collects: bool) -> Family {
        let none = Vars::new(self.cx.vars.names().clone());
        let own = std::mem::replace(&mut self.cx.vars, none);
        Family {
            thread_name,
            collects,
            board: Rc::new(RefCell::new(own)),
            live: Rc::default(),
        }
    }

    /// Takes the variables back.
    pub fn take_back(&mut self, family: &Family) {
        std::mem::swap(&mut self.cx.vars, &mut family.board.borrow_mut());
    }

    /// A user for the child below `root`. As in the plugin it has number 0 and no thread group's name, and the thread
    /// group's duration does not end it.
    pub fn branch(&self, family: &Family, root: ControllerId) -> User {
        let own = &self.cx;
        let identity = Identity {
            thread_name: family.thread_name.clone(),
            group_name: "".into(),
            group: own.group,
            number: 0,
            same_user: own.same_user,
            on_error: own.on_error,
            end_ms: None,
            interrupted_at_end: false,
        };
        let mut branch = User::new(&own.shared, &own.worker, identity);
        branch.cx.http = own.http.branch();
        branch.cx.iteration = own.iteration;
        branch.cx.previous = own.previous.clone();
        let serial = own.shared.statics.branches.fetch_add(1, Ordering::Relaxed);
        branch.cx.lock_user = (usize::MAX, serial);
        branch.cx.branch = Some(Box::new(Branch {
            root,
            live: family.live.clone(),
            stops_user: false,
            board: family.board.clone(),
            collected: family.collects.then(Vec::new),
            above: self.walk.open_transactions.clone(),
            noted: Vec::new(),
        }));
        branch
    }

    /// Runs the loop around the child to its end. Before each sample it sees the variables as the others have changed them.
    pub async fn run_branch(&mut self) {
        let Some(branch) = &self.cx.branch else {
            return;
        };
        let (root, board, live) = (branch.root, branch.board.clone(), branch.live.clone());
        live.set(live.get() + 1);
        let group = self.group();
        self.cx.vars.copy_values(&board.borrow());
        self.cx.set_last_sample_ok(true);
        self.walker(&group).initialize(root);
        while self.cx.running() {
            let before = self.cx.vars.clone();
            let Some(step) = self.walker(&group).next(root) else {
                board.borrow_mut().follow(&before, &self.cx.vars);
                break;
            };
            Box::pin(self.process(step, None)).await;
            board.borrow_mut().follow(&before, &self.cx.vars);
            self.cx.vars.copy_values(&board.borrow());
            match self.cx.action {
                Action::Continue => {}
                // The whole user begins anew (ParallelSampler.CustomLoopController).
                Action::NextThreadIteration => break,
                action => {
                    self.cx.action = Action::Continue;
                    self.jump(&group, step, action).await;
                }
            }
        }
        self.walk.give_locks_back(&group);
        live.set(live.get() - 1);
    }

    /// All children have ended, in this order: gives what they collected in the order of their ends.
    pub fn rejoin(&mut self, ended: Vec<User>) -> Vec<Sample> {
        let mut collected = Vec::new();
        let mut noted = Vec::new();
        for User { cx, .. } in ended {
            let own = &mut self.cx;
            own.http.rejoin(&cx.http);
            own.previous = cx.previous;
            own.last_sample_ok = cx.last_sample_ok;
            if cx.action != Action::Continue {
                own.action = cx.action;
            }
            if let Some(branch) = cx.branch {
                own.alive &= !branch.stops_user;
                collected.extend(branch.collected.into_iter().flatten());
                noted.extend(branch.noted);
            }
        }
        collected.sort_by_key(|sample| sample.end_ms);
        noted.sort_by_key(|(_, sample)| sample.end_ms);
        let group = self.group();
        for (id, sample) in &noted {
            let include_timers = group.controllers[*id as usize].includes_timers();
            if let Some(run) = self.walk.states[*id as usize].independent() {
                run.add(sample, include_timers);
            }
        }
        collected
    }
}
