//! Sample Timeout (`SampleTimeout`): interrupts samples that take too long.
//!
//! Property: `InterruptTimer.timeout` in milliseconds, evaluated before each sample; 0 or less is no limit. It applies to
//! all samplers of the thread group, wherever the element is (`JMeterThread#sampleMonitors`). A request in progress then
//! fails with 'Socket closed'; a Java Request or a pause ends at once. Samplers that Java runs are interrupted as they allow
//! (`Interruptible`): mail, JMS, BeanShell with a method `interrupt()`, own clients of Java Requests. A Java thread that
//! is interrupted while it sleeps stays interrupted: all later waits of the user end at once, too. Between two requests of a
//! sample (redirects), and for samplers that cannot be interrupted, the timeout has no effect.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_elements::pre::sample_timeout as facts;
use drumfire_expr::Template;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::roles::PreProcessor;
use crate::run::view::PreProcessorView;

/// A limit on the time of each sample.
pub struct SampleTimeout {
    timeout: Template,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let limit = SampleTimeout {
        timeout: d.template(facts::TIMEOUT.name),
    };
    Roles {
        time_limit: Some(Arc::new(limit)),
        ..Roles::default()
    }
}

impl PreProcessor for SampleTimeout {
    /// Sets the deadline of a sample that starts now (`SampleTimeout#sampleStarting`).
    fn process(&self, cx: &mut PreProcessorView) {
        let timeout_ms = crate::base::number::long(&self.timeout.eval(cx));
        if timeout_ms > 0
            && let Some(at) = Instant::now().checked_add(Duration::from_millis(timeout_ms as u64))
        {
            cx.interrupt_at(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    fn limited(timeout: &str) -> Context {
        let xml = format!(
            r#"<SampleTimeout guiclass="SampleTimeoutGui" testclass="SampleTimeout" testname="s"><stringProp name="InterruptTimer.timeout">{timeout}</stringProp></SampleTimeout>"#
        );
        let (roles, mut cx) = fixture::decode(&xml, decode);
        cx.vars.set_named("t", "40".into());
        roles
            .time_limit
            .expect("it limits")
            .process(View::of(&mut cx));
        cx
    }

    fn sleep_ms(cx: &mut Context, ms: i64) -> u128 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime can be built");
        let start = Instant::now();
        runtime.block_on(cx.sleep_ms(ms));
        start.elapsed().as_millis()
    }

    #[test]
    fn no_number_and_no_positive_number_are_no_limit() {
        for timeout in ["", "0", "-5", "x"] {
            assert!(limited(timeout).sample_limits().is_empty(), "{timeout}");
        }
    }

    #[test]
    fn a_wait_ends_with_the_limit_and_all_later_ones_at_once() {
        let mut cx = limited("${t}");
        let first = sleep_ms(&mut cx, 60_000);
        assert!((40..30_000).contains(&first), "{first}");
        cx.end_sample();
        assert!(sleep_ms(&mut cx, 60_000) < 30_000);
    }

    #[test]
    fn a_shorter_wait_is_not_touched() {
        let mut cx = limited("60000");
        assert!(sleep_ms(&mut cx, 20) >= 20);
        assert!(!cx.interrupted);
    }
}
