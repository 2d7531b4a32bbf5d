//! Compiles one thread group: its controllers, and each sampler with the elements in its scope (`TestCompiler`).

use std::rc::Rc;
use std::sync::Arc;

use drumfire_elements::thread_groups::{setup_thread_group, teardown_thread_group, thread_group};
use drumfire_expr::Template;
use drumfire_jmx::full_class_name;
use drumfire_results::OutputSet;

use crate::bind::Decoded;
use crate::bind::debug::{self, watched};
use crate::bind::group_start::{self, LateElement};
use crate::decode::roles::{Listener, Roles};
use crate::decode::{Decoder, DecodingContext, script_words};
use crate::elements;
use crate::elements::foreign;
use crate::elements::java;
use crate::elements::samplers;
use crate::elements::samplers::listing;
use crate::resolve::Element;
use crate::run::controllers::{Controller, ControllerKind, Hook, JavaController};
use crate::run::journey::{
    Journey, Package, SampleTargets, Sampled, ToldListener, TransactionPackage,
};
use crate::run::needs::Needs;
use crate::run::program::{Group, GroupKind, LateSettings};
use crate::run::sampler::Sampler;
use crate::run::step::{Child, ControllerId};

/// One level on the path from the thread group down, with what the elements of that level contribute to the samplers below.
struct Frame<'p> {
    controller: Option<ControllerId>,
    configs: Vec<&'p Element>,
    roles: Vec<Rc<Roles>>,
    /// Names of its timers, in the order of their roles.
    timer_names: Vec<Arc<str>>,
    /// Whether one of its scripts uses the samplers in its scope.
    uses_sampler: bool,
}

struct Builder<'p, 'd, 'c, 'u> {
    plan: &'p Element,
    group_element: &'p Element,
    command_line: &'c [Listener],
    decoded: &'d mut Decoded,
    decoding: &'d mut DecodingContext<'u>,
    frames: Vec<Frame<'p>>,
    journey: Journey,
}

/// Compiles a thread group; `None` when it cannot run (then there is a finding).
pub fn compile<'p>(
    element: &'p Element,
    plan: &'p Element,
    command_line: &[Listener],
    decoded: &mut Decoded,
    decoding: &mut DecodingContext,
) -> Option<(Group, Journey)> {
    let (mut group, journey) = decode_group(element, plan, decoding)?;
    let mut builder = Builder {
        plan,
        group_element: element,
        command_line,
        decoded,
        decoding,
        frames: Vec::new(),
        journey,
    };
    builder.build();
    group.has_samplers = !builder.journey.samplers.is_empty();
    Some((group, builder.journey))
}

fn decode_group(
    element: &Element,
    plan: &Element,
    decoding: &mut DecodingContext,
) -> Option<(Group, Journey)> {
    let kind = match element.class.as_str() {
        setup_thread_group::CLASS => GroupKind::SetUp,
        teardown_thread_group::CLASS => GroupKind::TearDown,
        _ => GroupKind::Main,
    };
    let mut d = Decoder::new(element, decoding);
    let (name, on_error, load) = group_start::read(&mut d)?;
    let root = new_controller(d.name(), load.root);
    java::show_group(&mut d);
    let group = Group {
        kind,
        name,
        path: element.path(),
        class: elements::entry(&element.class).map_or(thread_group::CLASS, |entry| entry.class),
        shape: load.shape,
        loops: load.loops,
        thread_name_suffix: load.thread_name_suffix,
        on_error,
        same_user: load.same_user,
        java: load.java,
        late: LateElement::of(element, plan).map(|late| Box::new(late) as Box<dyn LateSettings>),
        has_samplers: false,
    };
    let journey = Journey {
        controllers: vec![root],
        samplers: Vec::new(),
        transactions: vec![None],
        iteration_listeners: Vec::new(),
        java: load.java.into_iter().collect(),
        time_limits: Vec::new(),
    };
    Some((group, journey))
}

fn new_controller(name: Template, kind: ControllerKind) -> Controller {
    Controller {
        name,
        kind,
        parent: None,
        children: Box::default(),
        listeners: Vec::new(),
        index_variable: None,
    }
}

impl<'p> Builder<'p, '_, '_, '_> {
    fn build(&mut self) {
        let group = self.group_element;
        let mut children: Vec<&'p Element> = group.children.iter().collect();
        // StandardJMeterEngine#startThreadGroup: elements beside the thread groups come after the group's own.
        let beside: Vec<&'p Element> = self
            .plan
            .children
            .iter()
            .filter(|child| !elements::is_thread_group(child))
            .collect();
        children.extend(&beside);
        self.push_frame(Some(0), &children);
        let child_count = group.children.len();
        let mut members = Vec::new();
        for (index, child) in children.into_iter().enumerate() {
            // JMeter adds the plan's own elements without their children.
            self.visit(child, index < child_count, 0, &mut members);
        }
        self.journey.controllers[0].children = members.into();
        self.journey.controllers[0]
            .listeners
            .insert(0, Hook::Thread);
        self.set_index_variable_of_group();
        self.frames.pop();
    }

    fn push_frame(&mut self, controller: Option<ControllerId>, children: &[&'p Element]) {
        let mut frame = Frame {
            controller,
            configs: Vec::new(),
            roles: Vec::new(),
            timer_names: Vec::new(),
            uses_sampler: children
                .iter()
                .any(|child| script_words::uses_sampler(&child.class, &child.props)),
        };
        for child in children {
            match foreign::role(child, self.decoding) {
                Some(elements::Role::Config) => frame.configs.push(child),
                Some(
                    elements::Role::Controller
                    | elements::Role::Sampler
                    | elements::Role::ThreadGroup,
                ) => continue,
                _ => {}
            }
            let roles = self.decoded.roles(child, self.decoding);
            if roles.timer.is_some() {
                frame.timer_names.push(child.name.as_str().into());
            }
            frame.roles.push(watched(roles, child, self.decoding));
        }
        self.frames.push(frame);
    }

    /// One element of the tree; `parent` is the nearest controller above.
    fn visit(
        &mut self,
        element: &'p Element,
        with_children: bool,
        parent: ControllerId,
        members: &mut Vec<Child>,
    ) {
        let children: Vec<&'p Element> = if with_children {
            element.children.iter().collect()
        } else {
            Vec::new()
        };
        match foreign::role(element, self.decoding) {
            Some(elements::Role::Controller) if element.class == samplers::PARALLEL_CONTROLLER => {
                self.visit_parallel(element, children, parent, members);
            }
            Some(elements::Role::Controller) => {
                self.visit_controller(element, children, parent, members)
            }
            Some(elements::Role::Sampler) => {
                self.push_frame(None, &children);
                let java_index = self.journey.java.len();
                for child in children {
                    self.visit(child, true, parent, &mut Vec::new());
                }
                let is_used = self.frames.iter().any(|frame| frame.uses_sampler);
                let package = self.package(element, |d, configs, needs| {
                    samplers::decode(d, configs, needs, is_used).map(Sampled::Element)
                });
                let sampler = package
                    .as_ref()
                    .and_then(|package| package.sampler.element());
                if let Some(element) = sampler.and_then(Sampler::java_element) {
                    self.journey.java.insert(java_index, element);
                }
                self.add_sampler(package, members);
                self.frames.pop();
            }
            Some(_) => {
                let roles = self.decoded.roles(element, self.decoding);
                if let Some(listener) = &roles.each_iteration {
                    self.listen(parent, listener.clone());
                }
                if let Some(listener) = &roles.each_thread_iteration {
                    self.journey.iteration_listeners.push(listener.clone());
                }
                self.journey.java.extend(roles.java);
                if let Some(limit) = &roles.time_limit {
                    self.journey.time_limits.push(limit.clone());
                }
                for child in children {
                    self.visit(child, true, parent, &mut Vec::new());
                }
            }
            None => {
                self.decoded.roles(element, self.decoding);
            }
        }
    }

    fn visit_controller(
        &mut self,
        element: &'p Element,
        children: Vec<&'p Element>,
        parent: ControllerId,
        members: &mut Vec<Child>,
    ) {
        let mut decoder = Decoder::new(element, self.decoding);
        let roles = elements::decode(&mut decoder);
        let Some(kind) = roles.controller else { return };
        self.journey.java.extend(roles.java);
        let name = decoder.name();
        let listens = matches!(
            kind,
            ControllerKind::Loop { .. }
                | ControllerKind::While { .. }
                | ControllerKind::ForEach(_)
                | ControllerKind::OnceOnly
                | ControllerKind::Throughput(_)
                | ControllerKind::Driven(JavaController { listens: true, .. })
        );
        let iterates = matches!(
            kind,
            ControllerKind::Loop { .. } | ControllerKind::While { .. } | ControllerKind::ForEach(_)
        );
        let is_transaction = matches!(kind, ControllerKind::Transaction { .. });
        let id = self.add_controller(name, kind, parent);
        self.push_frame(Some(id), &children);
        let mut child_ids = Vec::new();
        for child in children {
            self.visit(child, true, id, &mut child_ids);
        }
        if listens {
            self.listen(parent, Hook::Controller(id));
        }
        if is_transaction {
            self.journey.transactions[id as usize] = Some(self.transaction_package());
        }
        if iterates {
            self.set_index_variable(id);
        }
        self.frames.pop();
        self.journey.controllers[id as usize].children = child_ids.into();
        members.push(Child::Controller(id));
    }

    fn add_sampler(&mut self, package: Option<Package>, members: &mut Vec<Child>) {
        let Some(package) = package else { return };
        self.journey.samplers.push(package);
        members.push(Child::Sampler((self.journey.samplers.len() - 1) as u32));
    }

    /// A Parallel Controller is a sampler that runs a loop of one iteration around each of its children
    /// (`ParallelSampler#getTestTree`). Iteration listeners are not notified there
    /// (`ParallelSampler#addIterationListener`).
    fn visit_parallel(
        &mut self,
        element: &'p Element,
        children: Vec<&'p Element>,
        parent: ControllerId,
        members: &mut Vec<Child>,
    ) {
        let name = Decoder::new(element, self.decoding).name();
        let id = self.add_controller(name, ControllerKind::Simple, parent);
        self.push_frame(Some(id), &children);
        let mut branches = Vec::new();
        for child in children {
            let mut child_ids = Vec::new();
            if !matches!(
                foreign::role(child, self.decoding),
                Some(elements::Role::Controller | elements::Role::Sampler)
            ) {
                self.visit(child, true, id, &mut child_ids);
                continue;
            }
            let name = Decoder::new(child, self.decoding).name();
            let branch = self.add_controller(name, samplers::branch_kind(), id);
            self.push_frame(Some(branch), &[]);
            self.visit(child, true, branch, &mut child_ids);
            self.frames.pop();
            let controller = &mut self.journey.controllers[branch as usize];
            controller.children = child_ids.into();
            controller.listeners.clear();
            branches.push(branch);
        }
        let package = self.package(element, |d, _, _| {
            Some(Sampled::Parallel(samplers::parallel(d, branches)))
        });
        self.add_sampler(package, members);
        self.frames.pop();
    }

    fn add_controller(
        &mut self,
        name: Template,
        kind: ControllerKind,
        parent: ControllerId,
    ) -> ControllerId {
        self.journey.controllers.push(Controller {
            parent: Some(parent),
            ..new_controller(name, kind)
        });
        self.journey.transactions.push(None);
        (self.journey.controllers.len() - 1) as ControllerId
    }

    /// Prepends the listener, since the last one added is notified first (`GenericController#addIterationListener`).
    fn listen(&mut self, controller: ControllerId, hook: Hook) {
        self.journey.controllers[controller as usize]
            .listeners
            .insert(0, hook);
    }

    /// Gives a controller its loop index variable, unless its name is computed at run time.
    fn set_index_variable(&mut self, id: ControllerId) {
        let controller = &self.journey.controllers[id as usize];
        let Some(name) = controller.name.literal() else {
            return;
        };
        let name = format!("__jm__{name}__idx");
        self.journey.controllers[id as usize].index_variable =
            Some(self.decoding.compiler.intern(&name));
    }

    /// The group's loop controller takes the group's name, unless the file has that controller without a name: then its name
    /// is empty (`TestElementPropertyConverter`).
    fn set_index_variable_of_group(&mut self) {
        let main = self
            .group_element
            .props
            .element("ThreadGroup.main_controller");
        match main {
            Some(main) if main.name.is_empty() => {
                let slot = self.decoding.compiler.intern("__jm____idx");
                self.journey.controllers[0].index_variable = Some(slot);
            }
            _ => self.set_index_variable(0),
        }
    }

    /// Collects everything in the scope of a sampler (`TestCompiler#saveSamplerConfigs`).
    fn package(
        &mut self,
        element: &'p Element,
        decode: impl FnOnce(&mut Decoder, &[&Element], Needs) -> Option<Sampled>,
    ) -> Option<Package> {
        let configs: Vec<&Element> = self
            .frames
            .iter()
            .rev()
            .flat_map(|frame| frame.configs.iter().copied())
            .collect();
        let mut pre = Vec::new();
        let mut post = Vec::new();
        let mut assertions = Vec::new();
        // Outer elements come first.
        for roles in self.frames.iter().flat_map(|frame| &frame.roles) {
            pre.extend(roles.pre.clone());
            post.extend(roles.post.clone());
            assertions.extend(roles.assertion.clone());
        }
        let timers = self
            .frames
            .iter()
            .rev()
            .flat_map(|frame| &frame.roles)
            .filter_map(|roles| roles.timer.clone())
            .collect();
        let timer_names = self.frames.iter().rev();
        let timer_names = timer_names.flat_map(|frame| frame.timer_names.iter().cloned());
        let needs = post
            .iter()
            .map(|post| post.reads())
            .chain(assertions.iter().map(|assertion| assertion.reads()))
            .fold(self.listeners_need(), |all, one| all.and(one));
        let mut decoder = Decoder::new(element, self.decoding);
        let sampler = decode(&mut decoder, &configs, needs)?;
        let name = decoder.name();
        let listing = if decoder.decoding.lists_samplers {
            listing::decode(&mut decoder, &configs)
        } else {
            Vec::new()
        };
        let ancestors = self
            .frames
            .iter()
            .rev()
            .filter_map(|frame| frame.controller)
            .collect();
        let is_debugged = self.decoding.settings.debugging.debugger().is_some();
        let listeners = self.listeners(self.frames.len());
        let reach_in_transaction = self.reach_in_transaction(&listeners);
        Some(Package {
            name,
            class: full_class_name(&element.class).into(),
            place: is_debugged.then(|| Box::new(debug::place(element))),
            listing,
            sampler,
            pre,
            timers,
            timer_names: timer_names.collect(),
            post,
            assertions,
            reach: self.reach(&listeners, true),
            reach_in_transaction,
            ancestors,
        })
    }

    /// `TestCompiler#saveTransactionControllerConfigs`: inner assertions first.
    fn transaction_package(&self) -> TransactionPackage {
        let assertions = self
            .frames
            .iter()
            .rev()
            .flat_map(|frame| &frame.roles)
            .filter_map(|roles| roles.assertion.clone())
            .collect();
        let listeners = self.listeners(self.frames.len());
        TransactionPackage {
            assertions,
            reach: self.reach(&listeners, true),
        }
    }

    /// Listeners of the first `depth` frames, from the innermost outwards.
    fn listeners(&self, depth: usize) -> Vec<Listener> {
        let planned = self.frames[..depth]
            .iter()
            .rev()
            .flat_map(|frame| &frame.roles)
            .filter_map(|roles| roles.listener);
        planned.chain(self.command_line.iter().copied()).collect()
    }

    /// The targets of a sample inside a parent transaction: the listeners without those in scope of the nearest such transaction.
    fn reach_in_transaction(&self, listeners: &[Listener]) -> SampleTargets {
        let transaction = self.frames.iter().rposition(|frame| {
            frame.controller.is_some_and(|id| {
                matches!(
                    self.journey.controllers[id as usize].kind,
                    ControllerKind::Transaction { parent: true, .. }
                )
            })
        });
        let Some(depth) = transaction else {
            return self.reach(listeners, true);
        };
        let outer = self.listeners(depth + 1);
        let inner: Vec<Listener> = listeners
            .iter()
            .copied()
            .filter(|listener| !outer.contains(listener))
            .collect();
        self.reach(&inner, false)
    }

    /// The parts of a sample, beyond its CSV row, that listeners in scope or later elements of the user read.
    fn listeners_need(&self) -> Needs {
        let mut needs = self.decoding.previous_needs;
        for listener in self.listeners(self.frames.len()) {
            if let Listener::Told(listener) | Listener::Backend(_, Some(listener)) = listener {
                needs = needs.and(self.decoding.told[usize::from(listener)].reads());
            }
            let Listener::Output(output) = listener else {
                continue;
            };
            let format = &self.decoding.outputs[usize::from(output)].format;
            if let Some(columns) = &format.columns {
                let (body, headers, request) = columns.reads();
                needs = needs.and(Needs {
                    body,
                    headers,
                    request,
                });
                continue;
            }
            let config = &format.config;
            if config.xml {
                needs.body |= config.keeps_response_data(true) || config.keeps_response_data(false);
                needs.headers |= config.response_headers;
                needs.request |= config.request_headers || config.sampler_data;
            }
        }
        needs
    }

    fn reach(&self, listeners: &[Listener], is_heard: bool) -> SampleTargets {
        let mut outputs = Vec::new();
        let mut summarisers = Vec::new();
        let mut backends = Vec::new();
        let mut on_failure = Vec::new();
        let mut listeners_told = Vec::new();
        let hears = |listener: u16, outputs: &mut Vec<u16>| ToldListener {
            before: OutputSet::new(outputs.drain(..), []),
            listener: self.decoding.told[usize::from(listener)].clone(),
        };
        for listener in listeners {
            match *listener {
                Listener::Output(output) => outputs.push(output),
                Listener::Summariser(summariser) => summarisers.push(summariser),
                Listener::Backend(backend, samples) => {
                    backends.push(backend);
                    listeners_told.extend(samples.map(|samples| hears(samples, &mut outputs)));
                }
                Listener::OnFailure(_, action) => on_failure.push(action),
                Listener::Told(listener) => listeners_told.push(hears(listener, &mut outputs)),
            }
        }
        SampleTargets {
            told: listeners_told,
            outputs: OutputSet::new(outputs, summarisers).with_backends(backends),
            is_heard,
            on_failure,
        }
    }
}
