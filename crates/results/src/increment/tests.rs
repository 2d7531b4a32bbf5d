use proptest::prelude::*;

use super::*;
use crate::collect::Collector;
use crate::sample::TRANSACTION_MESSAGE_PREFIX;
use crate::statistics::Recording;
use crate::streams::StreamSample;
use crate::timeline::TotalCell;

/// A sample that the random tests generate.
#[derive(Clone, Debug)]
struct Made {
    label: u8,
    transaction: bool,
    end_ms: i64,
    elapsed_us: u64,
    success: bool,
    delay_us: Option<u64>,
    own_us: Option<u64>,
    phases: [u64; 4],
    users: u32,
    children: u8,
}

prop_compose! {
    fn made()(
        label in 0u8..4,
        transaction in prop::bool::weighted(0.1),
        end_ms in 1_000i64..9_000,
        elapsed_us in prop_oneof![0u64..2_000, 0u64..5_000_000, Just(u64::MAX / 1_000)],
        success in prop::bool::weighted(0.8),
        delay_us in prop::option::of(0u64..3_000_000),
        own_us in prop::option::of(0u64..3_000),
        phases in prop::array::uniform4(0u64..90_000),
        users in 1u32..50,
        children in 0u8..3,
    ) -> Made {
        Made { label, transaction, end_ms, elapsed_us, success, delay_us, own_us, phases, users, children }
    }
}

fn sample(made: &Made) -> Sample {
    let mut sample = Sample::new(format!("label {}", made.label).into(), "t 1-1".into());
    sample.set_ok();
    sample.end_ms = made.end_ms;
    sample.elapsed_ms = (made.elapsed_us / 1_000).min(10_000) as i64;
    sample.start_ms = made.end_ms - sample.elapsed_ms;
    sample.service_us = made.elapsed_us;
    sample.success = made.success;
    if !made.success {
        sample.code = ["500", "503"][usize::from(made.label % 2)].into();
        sample.message = format!("oops {}", made.users % 3).into();
    }
    sample.delay_us = made.delay_us;
    sample.own_us = made.own_us;
    sample.phases = made.phases.into();
    sample.all_threads = made.users;
    sample.bytes = (made.elapsed_us % 1_000).cast_signed();
    sample.sent_bytes = made.elapsed_us % 100;
    if made.transaction {
        sample.message = format!("{TRANSACTION_MESSAGE_PREFIX}1, number").into();
        for child in 0..made.children {
            let mut child = self::sample(&Made {
                label: child,
                transaction: false,
                ..made.clone()
            });
            child.all_threads = made.users;
            sample.children.push(child);
        }
    }
    sample
}

/// The increments of workers that hand over at the given cuts.
fn by_increments(samples: &[Made], workers: usize, cuts: &[usize]) -> Vec<Increment> {
    let mut collectors: Vec<Collector> = (0..workers).map(|_| Collector::default()).collect();
    let mut increments = Vec::new();
    for (place, made) in samples.iter().enumerate() {
        let collector = &mut collectors[place % workers];
        collector.record(&sample(made));
        if cuts.contains(&place) {
            increments.extend(collector.take(made.end_ms));
            let mut errors = Increment::of_second(1);
            errors.add_errors(collector.take_errors());
            increments.push(errors);
        }
    }
    for collector in &mut collectors {
        increments.extend(collector.take_all());
        let mut errors = Increment::of_second(1);
        errors.add_errors(collector.take_errors());
        increments.push(errors);
    }
    increments
}

/// The statistics of the samples, counted one by one.
fn one_by_one(samples: &[Made]) -> Recording {
    fn add(recording: &mut Recording, sample: &Sample) {
        recording.add(sample);
        if sample.is_from_transaction() {
            sample
                .children
                .iter()
                .for_each(|child| add(recording, child));
        }
    }
    let mut recording = Recording::default();
    samples
        .iter()
        .for_each(|made| add(&mut recording, &sample(made)));
    recording
}

/// The content of a recording in an order that is independent of the order of arrival.
fn content(recording: &Recording) -> impl PartialEq + fmt::Debug + use<> {
    let mut places: Vec<usize> = (0..recording.labels.len()).collect();
    let key = |place: &usize| {
        let label = &recording.labels[*place];
        (label.label.clone(), label.transaction)
    };
    places.sort_by_key(key);
    let labels: Vec<_> = places
        .iter()
        .map(|place| {
            (
                recording.labels[*place].clone(),
                recording.timeline.label(*place).to_vec(),
            )
        })
        .collect();
    let codes = recording.timeline.codes();
    let total: Vec<_> = recording
        .timeline
        .total()
        .iter()
        .map(|cell| {
            let mut named: Vec<_> = cell
                .codes
                .iter()
                .map(|(code, count)| (codes[usize::from(*code)].clone(), *count))
                .collect();
            named.sort();
            (
                named,
                TotalCell {
                    codes: Vec::new(),
                    ..cell.clone()
                },
            )
        })
        .collect();
    let steps = (
        recording.timeline.total_step_s(),
        recording.timeline.label_step_s(),
    );
    // Which sample a kind stores depends on the order of arrival.
    let kinds = recording.errors.by_label().into_iter();
    let kinds: Vec<_> = kinds
        .map(|kind| (kind.label, kind.code, kind.message, kind.count))
        .collect();
    (labels, total, steps, kinds)
}

fn merged(increments: impl IntoIterator<Item = Increment>) -> Increment {
    increments
        .into_iter()
        .fold(Increment::default(), |mut all, next| {
            all.merge(next);
            all
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_sum_of_increments_is_the_final_statistics(
        samples in prop::collection::vec(made(), 0..120),
        workers in 1usize..4,
        cuts in prop::collection::vec(0usize..120, 0..12),
    ) {
        let mut sum = Recording::default();
        for increment in by_increments(&samples, workers, &cuts) {
            sum.absorb(&increment);
        }
        prop_assert!(content(&sum) == content(&one_by_one(&samples)));
        for kind in sum.errors.by_label() {
            let counted: u64 = kind.curve.steps.iter().map(|step| step.1).sum();
            prop_assert_eq!(counted, kind.count);
            prop_assert!(kind.curve.first_ms <= kind.curve.last_ms);
        }
    }

    #[test]
    fn addition_is_associative_and_commutative(
        samples in prop::collection::vec(made(), 0..60),
        workers in 1usize..4,
        cuts in prop::collection::vec(0usize..60, 0..8),
        split in 0usize..20,
    ) {
        let parts = by_increments(&samples, workers, &cuts);
        let (left, right) = parts.split_at(split.min(parts.len()));
        let (left, right) = (left.to_vec(), right.to_vec());
        let all = merged(parts.clone());
        prop_assert_eq!(&merged([merged(left.clone()), merged(right.clone())]), &all);
        prop_assert_eq!(&merged([merged(right), merged(left)]), &all);
        prop_assert_eq!(&merged(parts.into_iter().rev()), &all);
    }

    #[test]
    fn increments_decode_to_what_was_encoded(samples in prop::collection::vec(made(), 0..40)) {
        for increment in by_increments(&samples, 2, &[7]) {
            let bytes = increment.encode();
            prop_assert_eq!(Increment::decode(&bytes), Ok(increment));
            for length in 0..bytes.len() {
                prop_assert!(Increment::decode(&bytes[..length]).is_err());
            }
        }
    }

    #[test]
    fn damaged_bytes_are_refused_or_usable(
        samples in prop::collection::vec(made(), 1..20),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = merged(by_increments(&samples, 1, &[])).encode();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(increment) = Increment::decode(&bytes) {
            let mut recording = Recording::default();
            recording.absorb(&increment);
            recording.absorb(&increment);
            let _ = (merged([increment.clone(), increment]), recording.rows());
        }
    }

    #[test]
    fn any_bytes_are_refused_or_usable(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for version in [VERSION, VERSION_WITH_STREAMS] {
            let bytes = [&[version], bytes.as_slice()].concat();
            if let Ok(increment) = Increment::decode(&bytes) {
                Recording::default().absorb(&increment);
            }
        }
    }
}

#[test]
fn the_wire_form_stays_the_same() {
    let mut collector = Collector::default();
    let one = Made {
        label: 1,
        transaction: false,
        end_ms: 1_700_000_000_500,
        elapsed_us: 12_345,
        success: true,
        delay_us: Some(100),
        own_us: Some(40),
        phases: [10, 20, 0, 9_000],
        users: 3,
        children: 0,
    };
    collector.record(&sample(&one));
    collector.record(&sample(&Made {
        success: false,
        elapsed_us: 700,
        ..one
    }));
    let mut increment = merged(collector.take_all());
    increment.add_users(vec![GroupUsers {
        group: 0,
        started: 2,
        ended: 1,
    }]);
    increment.connections.opened = 1;
    increment.lateness.record(5);
    let hex: String = increment
        .encode()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(hex, GOLDEN);
    assert_eq!(Increment::decode(&increment.encode()), Ok(increment));
}

/// A change of these bytes needs a new version, since agents and run files with this version exist.
const GOLDEN: &str = "0480a0abfef962d0afabfef96201076c6162656c20310002010295082d142800d08c01d0a7abfef962e8a7abfef962b960b96\
    0b960050187240001bc05bc05bc050501bc050001bd67a0069d610702a0060a89bc01f565bc05b9600702bc050a89d2018c8d01c646c64605\
    01e82000023c1e1e04011e00025028280401280002a56594059160070294050a49db01000002033230300103353033010180c49fd50c0202020\
    2060303010002010100000000000505050401050001";

#[test]
fn streams_stand_behind_the_form_of_increments_without_them() {
    let mut collector = Collector::default();
    let mut stream = StreamSample {
        first_event_us: Some(800),
        events: 3,
        tokens: Some(2),
        ..StreamSample::default()
    };
    stream.gaps.record(40);
    stream.gaps.record(60);
    for (label, stream) in [("Chat", Some(Box::new(stream))), ("Home", None)] {
        let mut sample = Sample::new(label.into(), "t 1-1".into());
        (sample.start_ms, sample.stream) = (1_000, stream);
        sample.set_end(1_005);
        collector.record(&sample);
        collector.record(&sample);
    }
    let increment = merged(collector.take_all());
    let [chat, home] = increment.labels.as_slice() else {
        panic!("two labels: {increment:?}");
    };
    let sum = chat.stream.as_deref().expect("it has streams");
    assert_eq!((sum.events, sum.tokens, sum.gaps.count()), (6, 4, 4));
    assert_eq!(home.stream, None);
    let bytes = increment.encode();
    assert_eq!(Increment::decode(&bytes), Ok(increment.clone()));
    let mut plain = increment.clone();
    plain.labels[0].stream = None;
    let without = plain.encode();
    assert_eq!(bytes[1..without.len()], without[1..]);
    assert!(Increment::decode(&bytes[..bytes.len() - 1]).is_err());
    let mut recording = Recording::default();
    recording.absorb(&increment);
    let statistics = recording.total().stream.expect("it has streams");
    assert_eq!((statistics.events, statistics.first_event.max()), (6, 800));
    let written = serde_json::to_string(&recording).expect("it can be written");
    let read: Recording = serde_json::from_str(&written).expect("it can be read");
    assert_eq!(read.labels, recording.labels);
}

#[test]
fn another_version_is_refused() {
    let mut bytes = Increment::default().encode();
    bytes[0] = VERSION_WITH_STREAMS + 1;
    assert_eq!(
        Increment::decode(&bytes),
        Err(IncrementError::Version(VERSION_WITH_STREAMS + 1))
    );
    assert!(matches!(
        Increment::decode(&[]),
        Err(IncrementError::Damaged(_))
    ));
    let mut longer = Increment::default().encode();
    longer.push(0);
    assert!(matches!(
        Increment::decode(&longer),
        Err(IncrementError::Damaged(_))
    ));
}

/// 1,000 lognormal elapsed times with a median of 120 ms, of which a tenth of a per cent fail.
fn busy_second() -> Increment {
    let mut state = 42u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut collector = Collector::default();
    for number in 0..1_000 {
        let radius = (-2.0 * uniform().max(1e-12).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * uniform()).cos();
        let elapsed_us = (120_000.0 * (0.8 * normal).exp()) as u64;
        collector.record(&sample(&Made {
            label: 1,
            transaction: false,
            end_ms: 1_700_000_000_000 + number,
            elapsed_us,
            success: number != 500,
            delay_us: None,
            own_us: Some(15 + (200.0 * uniform().powi(8)) as u64),
            phases: [0, 0, 0, elapsed_us * 9 / 10],
            users: 50,
            children: 0,
        }));
    }
    merged(collector.take_all())
}

#[test]
fn a_busy_label_takes_three_kibibytes_a_second_at_most() {
    let size = busy_second().encode().len();
    assert!(size <= 3072, "{size} bytes");
}

#[test]
fn an_idle_label_costs_nothing() {
    let mut collector = Collector::default();
    let one = |label, end_ms| Made {
        label,
        transaction: false,
        end_ms,
        elapsed_us: 5_000,
        success: true,
        delay_us: None,
        own_us: None,
        phases: [0; 4],
        users: 1,
        children: 0,
    };
    collector.record(&sample(&one(0, 1_000)));
    collector.record(&sample(&one(1, 1_000)));
    let first = collector.take(2_500);
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].labels.len(), 2);
    collector.record(&sample(&one(1, 2_600)));
    let second = collector.take(3_000);
    assert_eq!(second[0].labels.len(), 1);
    assert!(collector.take(4_000).is_empty());
    assert!(collector.take_all().is_empty());
}

#[test]
fn a_second_holds_what_a_backend_listener_tells() {
    let mut collector = Collector::default();
    for (elapsed_ms, success, users) in [(10, true, 2), (30, true, 4), (50, false, 3)] {
        collector.record(&sample(&Made {
            label: 0,
            transaction: false,
            end_ms: 5_000 + elapsed_ms,
            elapsed_us: elapsed_ms as u64 * 1_000,
            success,
            delay_us: None,
            own_us: None,
            phases: [0; 4],
            users,
            children: 0,
        }));
    }
    let second = merged(collector.take(6_000));
    let label = &second.labels[0];
    assert_eq!((label.count, label.errors, label.hits), (3, 1, 3));
    assert_eq!(
        (
            label.ok.count(),
            label.ok.min,
            label.ok.max,
            label.ok.mean()
        ),
        (2, 10_000, 30_000, 20_000.0)
    );
    assert_eq!((label.failed.min, label.elapsed().max), (50_000, 50_000));
    let active = second.active;
    assert_eq!((active.min, active.max, active.mean()), (2, 4, 3.0));
    assert_eq!(second.totals(), (3, 1));
    assert!(!second.is_empty() && Increment::of_second(5).is_empty());
}

fn error_kinds(numbers: std::ops::Range<usize>) -> Vec<ErrorKind> {
    let kind = |number: usize| ErrorKind {
        message: format!("kind {number:06}"),
        count: 1,
        ..ErrorKind::default()
    };
    numbers.map(kind).collect()
}

#[test]
fn errors_beyond_the_most_kinds_are_counted_together() {
    let of_others = |increment: &Increment| {
        let others = increment.errors.iter();
        let mut others = others.filter(|kind| kind.message == OTHER_ERRORS);
        others.next().map(|kind| kind.count)
    };
    let mut increment = Increment::of_second(1);
    increment.add_errors(error_kinds(0..MAX_KINDS));
    assert_eq!(
        (increment.errors.len(), of_others(&increment)),
        (MAX_KINDS, None)
    );
    increment.add_errors(error_kinds(MAX_KINDS..MAX_KINDS + 3));
    assert_eq!(
        (increment.errors.len(), of_others(&increment)),
        (MAX_KINDS, Some(4))
    );
    increment.add_errors(error_kinds(MAX_KINDS + 3..MAX_KINDS + 5));
    let all: u64 = increment.errors.iter().map(|kind| kind.count).sum();
    assert_eq!(all, MAX_KINDS as u64 + 5);
    assert!(increment.errors.len() <= MAX_KINDS && increment.is_in_order());
}

#[test]
fn times_with_which_arithmetic_would_overflow_are_refused() {
    let good = Increment::of_second(1_700_000_000);
    let of_span = |from_ms: i64, to_ms: i64| Increment {
        from_ms,
        to_ms,
        ..good.clone()
    };
    let of_start = |second: i64| Increment {
        starts: vec![StartCount {
            second,
            started: 1,
            intended: 0,
            scheduled: 0,
        }],
        ..good.clone()
    };
    let last_second = MOST_MS / SECOND_MS;
    for usable in [
        Increment::default(),
        of_span(-MOST_MS, MOST_MS),
        of_start(last_second),
        of_start(-last_second),
    ] {
        assert_eq!(Increment::decode(&usable.encode()), Ok(usable));
    }
    let of_label_at_no_time = Increment {
        labels: vec![LabelIncrement::new("a".to_owned(), false)],
        ..Increment::default()
    };
    for refused in [
        of_span(-MOST_MS - 1, 0),
        of_span(0, MOST_MS + 1),
        of_span(5, 5),
        of_span(6, 5),
        of_start(last_second + 1),
        of_start(i64::MIN),
        of_label_at_no_time,
    ] {
        assert!(!refused.has_plausible_times());
        assert!(Increment::decode(&refused.encode()).is_err());
    }
}

#[test]
fn lists_that_are_not_in_order_are_refused() {
    let label = |name: &str| LabelIncrement::new(name.to_owned(), false);
    let code = |code: &str| (code.to_owned(), 1);
    let start = |second: i64| StartCount {
        second,
        started: 1,
        intended: 0,
        scheduled: 0,
    };
    let users = |group: u32| GroupUsers {
        group,
        started: 1,
        ended: 0,
    };
    let good = Increment::of_second(1);
    let errors = [error_kinds(1..2), error_kinds(0..1)].concat();
    for (refused, list) in [
        (
            Increment {
                labels: vec![label("b"), label("a")],
                ..good.clone()
            },
            "labels",
        ),
        (
            Increment {
                labels: vec![label("a"), label("a")],
                ..good.clone()
            },
            "one label twice",
        ),
        (
            Increment {
                errors,
                ..good.clone()
            },
            "errors",
        ),
        (
            Increment {
                codes: vec![code("500"), code("200")],
                ..good.clone()
            },
            "codes",
        ),
        (
            Increment {
                starts: vec![start(2), start(1)],
                ..good.clone()
            },
            "starts",
        ),
        (
            Increment {
                users: vec![users(1), users(0)],
                ..good.clone()
            },
            "users",
        ),
    ] {
        assert!(!refused.is_in_order(), "{list}");
        assert!(Increment::decode(&refused.encode()).is_err(), "{list}");
    }
    let twice = |change: &dyn Fn(&mut Increment)| {
        let mut increment = good.clone();
        change(&mut increment);
        !increment.is_in_order()
    };
    assert!(twice(
        &|one| one.errors = [error_kinds(0..1), error_kinds(0..1)].concat()
    ));
    assert!(twice(&|one| one.codes = vec![code("200"), code("200")]));
    assert!(twice(&|one| one.starts = vec![start(1), start(1)]));
    assert!(twice(&|one| one.users = vec![users(1), users(1)]));
}
