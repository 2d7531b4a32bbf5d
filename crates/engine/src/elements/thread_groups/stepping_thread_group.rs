//! Stepping Thread Group (`kg.apc.jmeter.threads.SteppingThreadGroup`): users start in steps, stay, and stop in steps.
//!
//! Properties, evaluated before the run: `ThreadGroup.num_threads`, `Threads initial delay`, `Start users count burst`,
//! `Start users count`, `Start users period`, `rampUp`, `flighttime`, `Stop users count`, `Stop users period` (seconds).
//! Each iteration is a new user, since the plugin never tells `JMeterThread` otherwise.

use drumfire_elements::thread_groups::stepping_thread_group as facts;

use super::GroupLoad;
use crate::base::number;
use crate::decode::Decoder;
use crate::run::schedule::{Shape, Window};

/// Times in seconds; counts of 0 stand for all users.
#[derive(Clone, Debug, Default)]
struct Steps {
    threads: i32,
    delay_s: i64,
    burst: i32,
    start_count: i32,
    start_period_s: i64,
    ramp_up_s: i64,
    flight_s: i64,
    stop_count: i32,
    stop_period_s: i64,
}

pub fn decode(d: &mut Decoder) -> Option<GroupLoad> {
    let int = |d: &mut Decoder, property: &str| number::int(&d.text_now(property));
    let steps = Steps {
        threads: int(d, facts::USERS.name),
        delay_s: int(d, facts::INITIAL_DELAY.name).into(),
        burst: int(d, facts::FIRST_USERS.name),
        start_count: int(d, facts::USERS_PER_STEP.name),
        start_period_s: int(d, facts::STEP_SECONDS.name).into(),
        ramp_up_s: int(d, facts::RAMP_UP.name).into(),
        flight_s: int(d, facts::HOLD.name).into(),
        stop_count: int(d, facts::STOPPED_PER_STEP.name),
        stop_period_s: int(d, facts::STOP_STEP_SECONDS.name).into(),
    };
    super::looping(d, Shape::Windows(steps.windows().into()), false)
}

impl Steps {
    fn windows(&self) -> Vec<Window> {
        (0..self.threads.max(0))
            .map(|user| self.window(user))
            .collect()
    }

    /// `SteppingThreadGroup#scheduleThread`, in its integer arithmetic.
    fn window(&self, user: i32) -> Window {
        let or_all = |count: i32| if count == 0 { self.threads } else { count };
        let (start_count, stop_count) = (or_all(self.start_count), or_all(self.stop_count));
        let burst = match self.burst.min(self.threads) {
            burst if burst <= 0 => start_count,
            burst => burst,
        };
        let (step, index, step_size) = if user < burst {
            (0, user, burst)
        } else {
            let later = user - burst;
            (1 + later / start_count, later % start_count, start_count)
        };
        let ramp_up_ms = 1000 * self.ramp_up_s;
        let step_ms = 1000 * self.start_period_s + ramp_up_ms;
        let rest = self.threads - burst;
        let full_steps = if rest < 0 {
            1
        } else {
            (f64::from(rest) / f64::from(start_count)).ceil() as i64
        };
        let last_step = match rest % start_count {
            0 => start_count,
            count => count,
        };
        let ascent_ms = 1000 * self.delay_s;
        let descent_ms = ascent_ms
            + full_steps * step_ms
            + ramp_up_ms / i64::from(start_count) * i64::from(last_step)
            + 1000 * self.flight_s;
        let stops_before = (f64::from(user) / f64::from(stop_count)).floor() as i64;
        Window {
            start_ms: ascent_ms
                + i64::from(step) * step_ms
                + i64::from(index) * (ramp_up_ms / i64::from(step_size)),
            stop_ms: Some(descent_ms + 1000 * self.stop_period_s * stops_before),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads, delay, burst, count and period of starts, ramp-up, flight, count and period of stops.
    fn windows(numbers: [i32; 9]) -> Vec<(i64, i64)> {
        let [
            threads,
            delay,
            burst,
            start,
            period,
            ramp_up,
            flight,
            stop,
            stop_period,
        ] = numbers;
        let steps = Steps {
            threads,
            delay_s: delay.into(),
            burst,
            start_count: start,
            start_period_s: period.into(),
            ramp_up_s: ramp_up.into(),
            flight_s: flight.into(),
            stop_count: stop,
            stop_period_s: stop_period.into(),
        };
        let window = |window: Window| (window.start_ms, window.stop_ms.expect("each ends"));
        steps.windows().into_iter().map(window).collect()
    }

    #[test]
    fn starts_and_stops_are_the_plugins() {
        // Recorded from jmeter-plugins-casutg 2.10.
        assert_eq!(
            windows([10, 0, 0, 3, 2, 1, 5, 4, 1]),
            [
                (0, 14333),
                (333, 14333),
                (666, 14333),
                (3000, 14333),
                (3333, 15333),
                (3666, 15333),
                (6000, 15333),
                (6333, 15333),
                (6666, 16333),
                (9000, 16333)
            ]
        );
        assert_eq!(
            windows([7, 3, 2, 2, 5, 3, 10, 0, 0]),
            [
                (3000, 38500),
                (4500, 38500),
                (11000, 38500),
                (12500, 38500),
                (19000, 38500),
                (20500, 38500),
                (27000, 38500)
            ]
        );
        assert_eq!(
            windows([5, 1, 9, 0, 4, 2, 6, 2, 3]),
            [
                (1000, 9000),
                (1400, 9000),
                (1800, 12000),
                (2200, 12000),
                (2600, 15000)
            ]
        );
        assert_eq!(
            windows([3, 0, 0, 0, 0, 0, 1, 1, 1]),
            [(0, 1000), (0, 2000), (0, 3000)]
        );
        assert_eq!(windows([0; 9]), []);
    }
}
