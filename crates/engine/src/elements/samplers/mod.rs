//! Samplers, and the one place that knows all of them.

mod access_log_sampler;
pub mod debug_sampler;
mod defaults;
mod dummy_sampler;
mod flow_control;
pub mod http;
mod java_sampler;
mod jdbc_sampler;
pub mod listing;
mod parallel_sampler;
mod set_variables_action;
mod system_sampler;
mod tcp_client;
mod tcp_sampler;
mod tcp_status;
pub mod websocket;

use drumfire_expr::Template;
use drumfire_results::Sample;

use crate::decode::Decoder;
use crate::elements::java::{self, JavaElement};
use crate::elements::{Role, Rung};
use crate::resolve::Element;
use crate::run::assignments::Assignments;
use crate::run::needs::Needs;
use crate::run::user::User;

pub use parallel_sampler::{CLASS as PARALLEL_CONTROLLER, branch_kind, decode as parallel};

/// A decoded sampler.
pub enum Sampler {
    AccessLog(Box<access_log_sampler::AccessLogSampler>),
    Debug(debug_sampler::DebugSampler),
    Dummy(Box<dummy_sampler::DummySampler>),
    FlowControl(flow_control::FlowControlAction),
    Http(Box<http::HttpSampler>),
    Parallel(parallel_sampler::ParallelSampler),
    SetVariables(Assignments),
    System(Box<system_sampler::OsProcess>),
    Tcp(Box<tcp_sampler::TcpSampler>),
    WebSocket(Box<websocket::WebSocketSampler>),
    Jdbc(Box<jdbc_sampler::JdbcSampler>),
    /// The Java Request's own two test clients.
    Java(java_sampler::JavaSampler),
    /// Any sampler that its Java class runs.
    Foreign(JavaElement),
}

impl Sampler {
    pub fn is_http(&self) -> bool {
        matches!(self, Sampler::Http(_) | Sampler::AccessLog(_))
    }

    /// Runs the sampler; `None` means no sample at all.
    ///
    /// What waits for others is boxed: a user that thinks would hold room for the largest of them, and most users think most of
    /// the time. To think itself takes no more room than a timer does.
    pub async fn sample(&self, user: &mut User, name: &Template) -> Option<Box<Sample>> {
        let cx = &mut user.cx;
        match self {
            Sampler::Parallel(controller) => {
                Box::pin(controller.sample(user, name)).await.map(Box::new)
            }
            Sampler::Debug(sampler) => {
                let sample = sampler.sample(cx, name);
                Some(cx.worker.room.sample(sample))
            }
            Sampler::Dummy(sampler) => Some(Box::new(Box::pin(sampler.sample(cx, name)).await)),
            Sampler::FlowControl(action) => {
                action.sample(cx).await;
                None
            }
            Sampler::AccessLog(sampler) => Box::pin(sampler.sample(cx, name)).await,
            Sampler::Http(sampler) => {
                let worker = cx.worker.clone();
                let mut place = worker.room.futures.place(|| sampler.sample(cx, name));
                let sample = place.as_mut().await;
                worker.room.futures.take_place_back(place);
                sample
            }
            Sampler::Jdbc(sampler) => Some(Box::new(Box::pin(sampler.sample(cx, name)).await)),
            Sampler::Java(sampler) => Some(Box::new(Box::pin(sampler.sample(cx, name)).await)),
            Sampler::Foreign(element) => Box::pin(element.sample(cx)).await.map(Box::new),
            Sampler::SetVariables(assignments) => {
                assignments.apply(cx);
                None
            }
            Sampler::System(sampler) => Box::pin(sampler.sample(cx, name)).await.map(Box::new),
            Sampler::Tcp(sampler) => Some(Box::new(Box::pin(sampler.sample(cx, name)).await)),
            Sampler::WebSocket(sampler) => Some(Box::new(Box::pin(sampler.sample(cx, name)).await)),
        }
    }
}

/// Decodes a sampler with the configuration in its scope, the nearest first. `needs` is what is read of its result.
pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> Option<Sampler> {
    match d.element.class.as_str() {
        "DebugSampler" => Some(Sampler::Debug(debug_sampler::decode(d, needs))),
        "kg.apc.jmeter.samplers.DummySampler" => {
            Some(Sampler::Dummy(Box::new(dummy_sampler::decode(d, needs))))
        }
        "kg.apc.jmeter.control.sampler.SetVariablesAction" => {
            Some(Sampler::SetVariables(set_variables_action::decode(d)))
        }
        "JavaSampler" => match java_sampler::decode(d, configs, needs) {
            Some(sampler) => Some(Sampler::Java(sampler)),
            None => java::sampler(d, configs).map(Sampler::Foreign),
        },
        "JDBCSampler" if d.unit.jdbc.java.is_none() => {
            Some(Sampler::Jdbc(Box::new(jdbc_sampler::decode(d, needs))))
        }
        "JDBCSampler" => java::sampler(d, configs).map(Sampler::Foreign),
        "AccessLogSampler" => match access_log_sampler::decode(d, configs, needs) {
            Some(sampler) => Some(Sampler::AccessLog(Box::new(sampler))),
            None => java::sampler(d, configs).map(Sampler::Foreign),
        },
        "TestAction" => Some(Sampler::FlowControl(flow_control::decode(d))),
        "SystemSampler" => Some(Sampler::System(Box::new(system_sampler::decode(d)))),
        "TCPSampler" => match tcp_sampler::decode(d, configs, needs) {
            Some(sampler) => Some(Sampler::Tcp(Box::new(sampler))),
            None => java::sampler(d, configs).map(Sampler::Foreign),
        },
        "HTTPSamplerProxy"
        | "HTTPSampler_"
        | "com.blazemeter.jmeter.http2.sampler.HTTP2Sampler" => http::decode(d, configs, needs)
            .map(Box::new)
            .map(Sampler::Http),
        class if websocket::CLASSES.contains(&class) => {
            let sampler = websocket::decode(d, configs, needs);
            Some(Sampler::WebSocket(Box::new(sampler)))
        }
        class => {
            let rung = crate::elements::entry(class).map(|entry| entry.rung);
            let is_foreign = rung.is_none() && java::role(d.element, d.unit) == Some(Role::Sampler);
            if rung == Some(Rung::Jvm) || is_foreign {
                return java::sampler(d, configs).map(Sampler::Foreign);
            }
            if rung == Some(Rung::Native) {
                d.refuse(
                    "sampler-not-built",
                    format!("{class} cannot be run"),
                    "disable the element",
                );
            } else {
                crate::elements::decode(d); // says why not
            }
            None
        }
    }
}
