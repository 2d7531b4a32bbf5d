//! Precise Throughput Timer (`PreciseThroughputTimer`): random arrivals, with an exact number of them in each period
//! (`ConstantPoissonProcessGenerator`).
//!
//! Properties: `throughput` samples in `throughputPeriod` seconds, `duration` in seconds, `batchSize`, `randomSeed` (0 is
//! another sequence in each run). `exactLimit`, `allowedThroughputSurplus` and `batchThreadDelay` have no effect in JMeter
//! either. All such timers of a thread group share one schedule: that of the timer that is asked first, with the settings that
//! its first user evaluates. `timer.factor` does not apply. If several machines run the plan, all of them compute the same
//! schedule and each takes its share of it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use drumfire_elements::timers::precise_throughput_timer as facts;
use drumfire_expr::{Raised, Template};
use drumfire_java::values;

use crate::base::java_random::JavaRandom;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::setting::Unused;
use crate::run::context::StateId;
use crate::run::roles::{Act, TimerRole};
use crate::run::view::TimerView;

const PRECISION: f64 = 0.00001;
/// The maximum number of arrivals in one duration; more would exceed Java's default heap.
const MOST_ARRIVALS: i32 = 100_000_000;

/// The schedules of a run's thread groups (`PreciseThroughputTimer#groupEvents`).
#[derive(Default)]
pub struct Arrivals(Mutex<HashMap<usize, Schedule>>);

struct Schedule {
    /// The timer and the user whose settings apply.
    owner: (StateId, u32),
    settings: ScheduleSettings,
    /// The run's rate factor with which the arrivals were computed.
    factor: f64,
    generator: Generator,
    /// Arrivals so far, including those of other machines.
    passed: u64,
}

#[derive(Clone, Copy)]
struct ScheduleSettings {
    /// Samples per second.
    rate: f64,
    duration_s: i64,
}

struct PreciseThroughputTimer {
    throughput: Template,
    period: Template,
    duration: Template,
    batch_size: Template,
    seed: Template,
    unused: Unused,
    id: StateId,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::timer(PreciseThroughputTimer {
        throughput: d.template(facts::THROUGHPUT.name),
        period: d.template(facts::PERIOD.name),
        duration: d.template(facts::DURATION.name),
        batch_size: d.template(facts::BATCH_SIZE.name),
        seed: d.template(facts::SEED.name),
        unused: Unused::decode(d, &[facts::BATCH_DELAY]),
        id: d.new_state(),
    })
}

impl TimerRole for PreciseThroughputTimer {
    fn turn<'a>(&'a self, cx: &'a mut TimerView) -> Act<'a, i64> {
        Act::Done(self.delay_ms(cx))
    }
}

impl PreciseThroughputTimer {
    /// `PreciseThroughputTimer#delay`.
    fn delay_ms(&self, cx: &mut TimerView) -> i64 {
        self.unused.eval(cx);
        let arrival_s = match self.next(cx) {
            Ok(arrival_s) => arrival_s,
            Err(exception) => {
                cx.raise(Raised::exception(exception.to_owned()));
                return 0;
            }
        };
        let now_ms = cx.clock().now_ms();
        let origin_ms = cx.shared().schedule_origin_ms(cx.group);
        let delay_ms = (arrival_s * 1000.0 + origin_ms as f64 - now_ms as f64) as i64;
        let delay_ms = delay_ms.max(0);
        if let Some(end_ms) = cx.end_ms
            && now_ms.saturating_add(delay_ms) > end_ms
        {
            let left_ms = end_ms - now_ms;
            cx.raise(Raised::StopThread(format!(
                "The thread is scheduled to stop in {left_ms} ms and the throughput timer generates a delay of {delay_ms}. Terminating the thread manually."
            )));
            return 0;
        }
        let start_ns = origin_ms as f64 * 1e6;
        cx.intend(cx.clock().instant_ns((start_ns + arrival_s * 1e9) as u64));
        delay_ms
    }
}

impl PreciseThroughputTimer {
    /// The next arrival, in seconds from the start of the run, or the exception that JMeter throws.
    fn next(&self, cx: &mut TimerView) -> Result<f64, &'static str> {
        let factor = cx.shared().control.rate();
        let since_start_ms = cx.clock().now_ms() - cx.shared().schedule_origin_ms(cx.group);
        let throughput = values::property_double(&self.throughput.eval(cx));
        let period_s = values::property_int(&self.period.eval(cx));
        let settings = ScheduleSettings {
            rate: throughput / f64::from(period_s) * factor,
            duration_s: values::property_long(&self.duration.eval(cx)),
        };
        let batch_size = values::property_int(&self.batch_size.eval(cx));
        let seed = values::property_long(&self.seed.eval(cx));
        let chance = match cx.shared().part.share.group_seed(cx.group) {
            Some(seed) => seed,
            None => cx.random().next_u64() as i64,
        };
        let slots = cx.shared().part.slots();
        let me = (self.id, cx.number);
        let arrivals = cx.statics().of::<Arrivals>();
        let mut groups = arrivals.0.lock().unwrap_or_else(PoisonError::into_inner);
        let schedule = groups.entry(cx.group).or_insert_with(|| Schedule {
            owner: me,
            settings,
            factor,
            // ConstantPoissonProcessGenerator checks only the seed's lower half to see whether a seed is set.
            generator: Generator::new(batch_size, if seed as i32 == 0 { chance } else { seed }),
            passed: 0,
        });
        if schedule.owner == me || schedule.factor != factor {
            schedule.settings = settings;
        }
        if std::mem::replace(&mut schedule.factor, factor) != factor {
            // A change of the run's rate applies at once, not after the arrivals that are already computed.
            schedule.generator.finish_s = since_start_ms as f64 / 1000.0;
        }
        // Every machine walks the whole schedule and takes its own arrivals.
        loop {
            let arrival_s = schedule.generator.next(schedule.settings)?;
            let number = schedule.passed;
            schedule.passed += 1;
            if slots.is_empty() || slots.rank(number).is_some() {
                return Ok(arrival_s);
            }
        }
    }
}

/// `ConstantPoissonProcessGenerator`.
struct Generator {
    random: JavaRandom,
    batch_size: i32,
    batch_item: i32,
    last_rate: f64,
    finish_s: f64,
    arrivals: Vec<f64>,
    position: usize,
}

impl Generator {
    fn new(batch_size: i32, seed: i64) -> Generator {
        Generator {
            random: JavaRandom::new(seed),
            batch_size,
            batch_item: 0,
            last_rate: 0.0,
            finish_s: 0.0,
            arrivals: Vec::new(),
            position: 0,
        }
    }

    fn generate(&mut self, settings: ScheduleSettings) -> Result<(), &'static str> {
        self.last_rate = settings.rate;
        let mut rate = settings.rate;
        if self.batch_size > 1 {
            rate /= f64::from(self.batch_size);
        }
        self.batch_item = 0;
        let duration_s = settings.duration_s as f64;
        let count = (rate * duration_s).ceil() as i32;
        if count > MOST_ARRIVALS {
            return Err("java.lang.OutOfMemoryError: Java heap space");
        }
        self.position = 0;
        self.arrivals.clear();
        let (random, finish_s) = (&mut self.random, self.finish_s);
        self.arrivals
            .extend((0..count).map(|_| finish_s + random.next_double() * duration_s));
        self.arrivals.sort_unstable_by(f64::total_cmp);
        self.finish_s += duration_s;
        tracing::info!(
            "Generated {count} timings (rate {rate}, duration {})",
            settings.duration_s
        );
        Ok(())
    }

    fn next(&mut self, settings: ScheduleSettings) -> Result<f64, &'static str> {
        let used_up = self.batch_item == 0 && self.position >= self.arrivals.len();
        // Written as in JMeter: a rate that is not a number is never equal.
        let is_same_rate = (settings.rate - self.last_rate).abs() < PRECISION;
        if used_up || !is_same_rate {
            self.generate(settings)?;
        }
        if self.batch_size == 1 {
            return self.take();
        }
        self.batch_item = self.batch_item.wrapping_add(1);
        if self.batch_item == 1 {
            return self.take();
        }
        if self.batch_item == self.batch_size {
            self.batch_item = 0;
        }
        Ok(self.arrivals[self.position - 1])
    }

    fn take(&mut self) -> Result<f64, &'static str> {
        let arrival_s = self
            .arrivals
            .get(self.position)
            .copied()
            .ok_or("java.nio.BufferUnderflowException")?;
        self.position += 1;
        Ok(arrival_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    const RATE: ScheduleSettings = ScheduleSettings {
        rate: 0.4,
        duration_s: 10,
    };

    fn arrivals(generator: &mut Generator, settings: ScheduleSettings, count: usize) -> Vec<f64> {
        (0..count)
            .map(|_| generator.next(settings).expect("there is a next one"))
            .collect()
    }

    #[test]
    fn arrivals_of_a_seed_are_javas_random_numbers_in_order() {
        // Recorded from JMeter 5.6.3.
        let mut generator = Generator::new(1, 42);
        let sorted = [
            2.7707849007413667,
            3.0871945533265976,
            6.832234717598454,
            7.275636800328681,
        ];
        assert_eq!(arrivals(&mut generator, RATE, 4), sorted);
        assert_eq!(
            arrivals(&mut generator, RATE, 2),
            [12.757480694417023, 13.687829134113056]
        );
    }

    #[test]
    fn a_batch_arrives_together() {
        let mut generator = Generator::new(2, 42);
        let first = [
            6.832234717598454,
            6.832234717598454,
            7.275636800328681,
            7.275636800328681,
        ];
        assert_eq!(arrivals(&mut generator, RATE, 4), first);
        assert_eq!(arrivals(&mut generator, RATE, 2), [12.770784900741367; 2]);
    }

    #[test]
    fn another_rate_begins_a_new_duration() {
        let mut generator = Generator::new(1, 1);
        arrivals(&mut generator, RATE, 1);
        let faster = ScheduleSettings { rate: 0.8, ..RATE };
        assert!(arrivals(&mut generator, faster, 1)[0] >= 10.0);
        assert_eq!(generator.arrivals.len(), 8);
    }

    #[test]
    fn no_throughput_throws() {
        let none = ScheduleSettings {
            rate: 0.0,
            duration_s: 10,
        };
        assert_eq!(
            Generator::new(1, 1).next(none),
            Err("java.nio.BufferUnderflowException")
        );
        let endless = ScheduleSettings {
            rate: f64::INFINITY,
            duration_s: 10,
        };
        assert_eq!(
            Generator::new(1, 1).next(endless),
            Err("java.lang.OutOfMemoryError: Java heap space")
        );
    }

    fn timer(duration: &str) -> (Roles, Context) {
        let xml = format!(
            r#"<PreciseThroughputTimer guiclass="TestBeanGUI" testclass="PreciseThroughputTimer" testname="p"><doubleProp><name>throughput</name><value>4.0</value><savedValue>0.0</savedValue></doubleProp>
            <intProp name="throughputPeriod">10</intProp><longProp name="duration">{duration}</longProp><intProp name="batchSize">1</intProp><longProp name="randomSeed">42</longProp></PreciseThroughputTimer>"#
        );
        fixture::decode(&xml, decode)
    }

    #[test]
    fn the_delay_leads_to_the_arrival() {
        let (roles, mut cx) = timer("10");
        let delay_ms = roles
            .timer
            .expect("it is a timer")
            .turn(View::of(&mut cx))
            .done();
        assert!((1_000..=2_770).contains(&delay_ms), "{delay_ms}");
        assert!(cx.take_raised().is_none());
        let intended = cx.intended.expect("the arrival");
        let wait_ms = intended
            .saturating_duration_since(std::time::Instant::now())
            .as_millis() as i64;
        assert!(
            (delay_ms - 100..=delay_ms + 1).contains(&wait_ms),
            "{wait_ms} of {delay_ms}"
        );
    }

    #[test]
    fn a_delay_past_the_schedule_ends_the_user() {
        let (roles, mut cx) = timer("10");
        let now_ms = cx.clock().now_ms();
        cx.facts_mut().end_ms = Some(now_ms + 10);
        assert_eq!(
            roles
                .timer
                .expect("it is a timer")
                .turn(View::of(&mut cx))
                .done(),
            0
        );
        assert!(
            matches!(cx.take_raised(), Some(Raised::StopThread(message)) if message.contains("Terminating the thread manually"))
        );
    }
}
