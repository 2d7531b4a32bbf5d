use super::*;
use crate::watch::{Arrivals, Delay};

/// A healthy minute: two cores, half of one used, a hundred samples a second.
fn minute() -> Vec<Second> {
    (0..60)
        .map(|second| Second {
            from_ms: second * 1000,
            to_ms: (second + 1) * 1000,
            samples: 100,
            users: 10,
            cores_used: 0.5,
            cores_others: 0.1,
            segments_sent: 1000,
            loop_late_us: 300,
            open_files: 40,
            memory_bytes: 20 << 20,
            ..Second::default()
        })
        .collect()
}

fn limits() -> Limits {
    Limits {
        cores: 2.0,
        open_files: Some(1024),
        memory_bytes: Some(1 << 30),
        ports: Some((32768, 60999)),
        ..Limits::default()
    }
}

fn changed(seconds: std::ops::Range<usize>, change: impl Fn(&mut Second)) -> Verdict {
    let mut minute = minute();
    minute[seconds].iter_mut().for_each(change);
    judge(
        &minute,
        &Failures {
            samples: 6000,
            ..Failures::default()
        },
        &limits(),
    )
}

/// The grade, and each cause with its spans in seconds.
type Seen = (Grade, Vec<(Cause, Vec<(u64, u64)>)>);

fn seen(verdict: &Verdict) -> Seen {
    let causes = verdict.reasons.iter().map(|reason| {
        let spans = reason.spans_ms.iter();
        (
            reason.cause,
            spans.map(|(from, to)| (from / 1000, to / 1000)).collect(),
        )
    });
    (verdict.grade, causes.collect())
}

#[test]
fn a_system_that_shows_nothing_is_named_and_spoils_nothing() {
    let failures = Failures {
        samples: 6000,
        ..Failures::default()
    };
    let hidden = Limits {
        is_hidden: true,
        ..limits()
    };
    assert_eq!(
        seen(&judge(&minute(), &failures, &hidden)),
        (Grade::Valid, vec![(Cause::NotMeasured, vec![])])
    );
    assert_eq!(
        seen(&judge(&minute(), &failures, &limits())),
        (Grade::Valid, vec![])
    );
}

#[test]
fn a_quiet_minute_is_valid() {
    assert_eq!(seen(&changed(0..0, |_| {})), (Grade::Valid, vec![]));
}

#[test]
fn a_silent_target_is_told_but_is_no_fault_of_the_generator() {
    let verdict = changed(20..35, |second| second.samples = 0);
    assert_eq!(
        seen(&verdict),
        (Grade::Valid, vec![(Cause::TargetSilent, vec![(20, 35)])])
    );
    assert_eq!(verdict.reasons[0].measured, "no sample ended for 15.0 s");
}

#[test]
fn a_pause_that_was_ordered_is_no_silence_of_the_target() {
    let verdict = changed(20..35, |second| (second.samples, second.held) = (0, true));
    assert_eq!(seen(&verdict), (Grade::Valid, vec![]));
    // A silence beside the pause is one.
    let mut minute = minute();
    minute[5..10]
        .iter_mut()
        .for_each(|second| (second.samples, second.held) = (0, true));
    minute[20..35]
        .iter_mut()
        .for_each(|second| second.samples = 0);
    let failures = Failures {
        samples: 6000,
        ..Failures::default()
    };
    assert_eq!(
        seen(&judge(&minute, &failures, &limits())),
        (Grade::Valid, vec![(Cause::TargetSilent, vec![(20, 35)])])
    );
}

#[test]
fn users_that_think_for_long_are_no_silence() {
    let verdict = changed(0..55, |second| second.samples = 0);
    assert_eq!(seen(&verdict), (Grade::Valid, vec![]));
}

#[test]
fn a_stopped_process_is_told_from_a_silent_target() {
    let stopped = |second: &mut Second| {
        second.samples = 0;
        second.frozen_ms = 900;
        second.loop_late_us = 900_000;
        second.cores_used = 0.0;
    };
    assert_eq!(
        seen(&changed(20..24, stopped)),
        (
            Grade::Degraded,
            vec![(Cause::ProcessStopped, vec![(20, 24)])]
        )
    );
    assert_eq!(changed(20..35, stopped).grade, Grade::Invalid);
}

#[test]
fn a_neighbour_that_takes_the_cores_is_told_from_own_use() {
    let neighbour = |second: &mut Second| {
        second.cores_used = 0.3;
        second.cores_others = 1.7;
        second.threads_waiting = 0.8;
        second.frozen_ms = 600;
        second.loop_late_us = 600_000;
        second.delay.count = 500;
        second.delay.p99_us = 90_000;
    };
    assert_eq!(
        seen(&changed(10..25, neighbour)),
        (
            Grade::Degraded,
            vec![(Cause::CpuTakenByOthers, vec![(10, 25)])]
        )
    );
    assert_eq!(changed(0..40, neighbour).grade, Grade::Invalid);
    let own = |second: &mut Second| second.cores_used = 1.9;
    assert_eq!(
        seen(&changed(0..60, own)),
        (Grade::Degraded, vec![(Cause::CpuUsedUp, vec![(0, 60)])])
    );
    // A busy neighbour for which no thread waits does no harm.
    let polite = |second: &mut Second| second.cores_others = 1.4;
    assert_eq!(changed(0..60, polite).grade, Grade::Valid);
}

#[test]
fn a_generator_that_uses_all_that_a_neighbour_leaves_has_used_up_its_cpu() {
    let beside = |cores_used: f64, cores_others: f64| {
        changed(0..60, |second: &mut Second| {
            second.cores_used = cores_used;
            second.cores_others = cores_others;
            second.busiest_thread = 0.97;
            second.threads_waiting = 0.5;
        })
    };
    let verdict = beside(1.45, 0.5);
    assert_eq!(
        seen(&verdict),
        (Grade::Degraded, vec![(Cause::CpuUsedUp, vec![(0, 60)])])
    );
    assert_eq!(
        verdict.reasons[0].measured,
        "1.45 of 2 cores, other programs 0.50"
    );
    // Where others take as many cores, they are the cause.
    assert_eq!(beside(1.0, 1.0).reasons[0].cause, Cause::CpuTakenByOthers);
    // If CPU is idle, the worker is the cause.
    assert_eq!(beside(0.8, 0.3).reasons[0].cause, Cause::WorkerUsedUp);
}

#[test]
fn quota_and_hypervisor_are_named() {
    let throttled = changed(5..6, |second| second.throttled_ms = 300);
    assert_eq!(
        seen(&throttled),
        (Grade::Degraded, vec![(Cause::CpuThrottled, vec![(5, 6)])])
    );
    assert_eq!(
        throttled.reasons[0].measured,
        "without CPU for 300 ms of 1000 ms"
    );
    let stolen = changed(5..40, |second| second.cores_stolen = 0.8);
    assert_eq!(
        seen(&stolen),
        (Grade::Invalid, vec![(Cause::CpuStolen, vec![(5, 40)])])
    );
}

#[test]
fn limits_networks_and_disks_are_named() {
    let causes = |change: fn(&mut Second)| {
        let (grade, causes) = seen(&changed(0..1, change));
        assert_eq!(grade, Grade::Degraded);
        causes
            .into_iter()
            .map(|(cause, _)| cause)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        causes(|second| second.open_files = 1020),
        [Cause::OpenFilesUsedUp]
    );
    assert_eq!(
        causes(|second| second.memory_bytes = 1 << 30),
        [Cause::MemoryUsedUp]
    );
    assert_eq!(
        causes(|second| second.segments_retransmitted = 20),
        [Cause::Retransmits]
    );
    assert_eq!(
        causes(|second| {
            second.packets_dropped = 30;
            second.segments_retransmitted = 20;
        }),
        [Cause::PacketsDropped]
    );
    assert_eq!(
        causes(|second| second.clock_step_ms = -3_600_000),
        [Cause::ClockStepped]
    );
    assert_eq!(
        causes(|second| second.disk_stalled_ms = 80),
        [Cause::DiskStalled]
    );
    assert_eq!(
        causes(|second| {
            second.delay = Delay {
                count: 500,
                p50_us: 90,
                p99_us: 52_000,
                max_us: 53_000,
            }
        }),
        [Cause::ScheduleDelayed]
    );
    assert_eq!(
        causes(|second| {
            second.arrivals = Arrivals {
                due: 100,
                left_out: 1,
            }
        }),
        [Cause::ArrivalsLeftOut]
    );
    assert_eq!(
        causes(|second| second.loop_late_us = 70_000),
        [Cause::LoopStalled]
    );
}

#[test]
fn a_single_late_user_among_few_is_no_cause() {
    let late = |count, p50_us| {
        changed(0..9, |second| {
            second.delay = Delay {
                count,
                p50_us,
                p99_us: 12_000,
                max_us: 13_000,
            }
        })
    };
    assert_eq!(late(99, 90).grade, Grade::Valid);
    assert_eq!(late(100, 90).grade, Grade::Degraded);
    assert_eq!(late(3, 11_000).grade, Grade::Valid);
    assert_eq!(
        late(10, 11_000).reasons[0].measured,
        "p50 11.0 ms, p99 12.0 ms, at most 13.0 ms"
    );
}

#[test]
fn a_single_pause_of_the_machine_is_no_cause() {
    let late = |seconds, p99_us| {
        let late = changed(seconds, |second| {
            second.delay = Delay {
                count: 500,
                p50_us: 90,
                p99_us,
                max_us: p99_us,
            }
        });
        late.grade
    };
    assert_eq!(late(7..8, 10_100), Grade::Valid);
    assert_eq!(late(7..8, 50_000), Grade::Degraded);
    assert_eq!(late(7..9, 10_100), Grade::Degraded);
}

#[test]
fn a_user_with_a_core_of_his_own_holds_up_nobody() {
    let download = |users| {
        changed(0..60, |second| {
            second.users = users;
            second.cores_used = 1.0;
            second.busiest_thread = 1.0;
            second.loop_late_us = 900_000;
        })
    };
    assert_eq!(seen(&download(1)), (Grade::Valid, vec![]));
    assert_eq!(download(3).grade, Grade::Invalid);
}

#[test]
fn a_gap_of_the_runs_own_thread_is_no_stop() {
    let alone = changed(10..20, |second| second.frozen_ms = 900);
    assert_eq!(seen(&alone), (Grade::Valid, vec![]));
    // A worker reports its delay a moment later.
    let mut minute = minute();
    minute[10].frozen_ms = 2000;
    minute[11].loop_late_us = 2_000_000;
    let failures = Failures {
        samples: 6000,
        ..Failures::default()
    };
    let verdict = judge(&minute, &failures, &limits());
    assert_eq!(
        seen(&verdict),
        (
            Grade::Degraded,
            vec![(Cause::ProcessStopped, vec![(10, 11)])]
        )
    );
}

#[test]
fn a_hiccup_counts_only_in_a_short_run() {
    let hiccup = |second: &mut Second| {
        second.frozen_ms = 250;
        second.frozen_total_ms = 250;
        second.loop_late_us = 250_000;
    };
    assert_eq!(changed(10..11, hiccup).grade, Grade::Valid);
    let mut short = minute()[..2].to_vec();
    hiccup(&mut short[0]);
    let failures = Failures {
        samples: 200,
        ..Failures::default()
    };
    assert_eq!(judge(&short, &failures, &limits()).grade, Grade::Invalid);
}

#[test]
fn a_short_run_is_not_judged_but_what_was_counted_is_told() {
    let mut short = minute()[..1].to_vec();
    short[0].to_ms = 40;
    short[0].cores_used = 4.12;
    short[0].loop_late_us = 60_000;
    let failures = Failures {
        samples: 3,
        ..Failures::default()
    };
    let verdict = judge(&short, &failures, &limits());
    assert_eq!(
        seen(&verdict),
        (Grade::TooShort, vec![(Cause::TooShort, vec![])])
    );
    assert_eq!(
        verdict.reasons[0].measured,
        "0.0 s and 3 samples; the minimum is 2 s and 10 samples"
    );
    // A minute with too few samples neither.
    assert_eq!(
        judge(&minute(), &failures, &limits()).grade,
        Grade::TooShort
    );
    let lost = Failures {
        lost_rows: 1,
        ..failures
    };
    assert_eq!(judge(&short, &lost, &limits()).grade, Grade::Invalid);
    let twice = Failures {
        surplus_samples: 2,
        ..failures
    };
    let verdict = judge(&short, &twice, &limits());
    assert_eq!(verdict.grade, Grade::Invalid);
    assert_eq!(verdict.reasons[0].measured, "2 results without a sample");
    assert_eq!(
        judge(&[], &Failures::default(), &limits()).grade,
        Grade::TooShort
    );
}

#[test]
fn java_that_warms_up_is_a_remark_until_it_is_the_run() {
    let busy = |second: &mut Second| {
        second.cores_used = 1.95;
        second.scripts_ms = 700;
        second.garbage_ms = 120;
        second.loop_late_us = 90_000;
    };
    assert_eq!(
        seen(&changed(0..2, busy)),
        (Grade::Valid, vec![(Cause::WarmUp, vec![(0, 2)])])
    );
    let (grade, causes) = seen(&changed(0..9, busy));
    assert_eq!(grade, Grade::Degraded);
    let causes: Vec<_> = causes.into_iter().map(|(cause, _)| cause).collect();
    assert_eq!(
        causes,
        [Cause::CpuUsedUp, Cause::GarbageCollected, Cause::WarmUp]
    );
}

#[test]
fn lateness_while_java_warms_up_blames_no_neighbour_unless_the_generator_starves() {
    let beside = |seconds: std::ops::Range<usize>, threads_waiting: f64| {
        changed(seconds, |second| {
            second.cores_used = 0.9;
            second.cores_others = 0.5;
            second.threads_waiting = threads_waiting;
            second.scripts_ms = 50;
            second.loop_late_us = 90_000;
        })
    };
    assert_eq!(
        seen(&beside(0..3, 0.25)),
        (Grade::Valid, vec![(Cause::WarmUp, vec![(0, 3)])])
    );
    let starved = beside(0..3, 0.6);
    assert_eq!(starved.reasons[0].cause, Cause::CpuTakenByOthers);
    let warm = beside(0..9, 0.25);
    assert_eq!(warm.reasons[0].cause, Cause::CpuTakenByOthers);
}

/// A second in which another program takes the CPU and the generator waits for it.
fn crowded(second: &mut Second, is_target: bool) {
    second.locality = Locality::ThisMachine;
    second.cores_others = 1.5;
    second.threads_waiting = 0.6;
    second.loop_late_us = 70_000;
    second.cores_target = if is_target { 1.5 } else { 0.0 };
    second.programs = vec![BusyProgram {
        name: "busy".to_owned(),
        process: 77,
        cores: 1.5,
        is_target,
    }];
}

#[test]
fn little_work_that_waits_for_longer_than_it_runs_is_disturbed() {
    let beside = |cores_used: f64| {
        changed(10..20, |second| {
            second.cores_used = cores_used;
            second.cores_others = 1.9;
            second.threads_waiting = 0.24;
        })
    };
    let waits = beside(0.04);
    assert_eq!(waits.grade, Grade::Degraded);
    assert_eq!(waits.reasons[0].cause, Cause::CpuTakenByOthers);
    assert_eq!(beside(0.3).grade, Grade::Valid);
}

#[test]
fn a_target_on_this_machine_is_a_caveat_and_a_competitor_is_named() {
    let target = changed(10..20, |second| crowded(second, true));
    assert_eq!(
        seen(&target),
        (
            Grade::Valid,
            vec![(Cause::TargetOnThisMachine, vec![(10, 20)])]
        )
    );
    assert_eq!(
        target.reasons[0].measured,
        "`busy` used up to 1.50 of 2 cores, the generator 0.50 meanwhile"
    );
    let competitor = changed(10..20, |second| crowded(second, false));
    assert_eq!(competitor.grade, Grade::Degraded);
    assert_eq!(competitor.reasons[0].cause, Cause::CpuTakenByOthers);
    assert_eq!(
        competitor.reasons[0].measured,
        "others used 1.50 of 2 cores (`busy` 1.50, process 77), 0.60 threads waited for a core"
    );
}

#[test]
fn users_that_do_not_keep_a_schedule_are_told_unless_the_generator_was_held_up() {
    let failures = Failures {
        samples: 6000,
        behind_schedule_us: 1_500_000,
        ..Failures::default()
    };
    let verdict = judge(&minute(), &failures, &limits());
    assert_eq!(
        seen(&verdict),
        (
            Grade::Degraded,
            vec![(Cause::RateNotReached, vec![(0, 60)])]
        )
    );
    let mut stolen = minute();
    stolen[3].cores_stolen = 0.6;
    let causes = seen(&judge(&stolen, &failures, &limits())).1;
    assert_eq!(causes, [(Cause::CpuStolen, vec![(3, 4)])]);
}

#[test]
fn segments_that_are_lost_slowly_are_told_for_the_whole_run() {
    let verdict = changed(0..60, |second| {
        second.segments_sent = 20;
        second.segments_retransmitted = 1;
    });
    assert_eq!(
        seen(&verdict),
        (Grade::Degraded, vec![(Cause::Retransmits, vec![(0, 60)])])
    );
    let neighbours = changed(0..60, |second| second.packets_dropped = 500);
    assert_eq!(neighbours.grade, Grade::Valid);
}

#[test]
fn a_silence_amid_answers_may_be_most_of_the_run() {
    let verdict = changed(3..55, |second| second.samples = 0);
    assert_eq!(
        seen(&verdict),
        (Grade::Valid, vec![(Cause::TargetSilent, vec![(3, 55)])])
    );
}

#[test]
fn samples_without_a_port_are_invalid_once_there_are_many() {
    let few = Failures {
        samples: 6000,
        lacking: Shortages {
            port: 6,
            ..Shortages::default()
        },
        ..Failures::default()
    };
    let verdict = judge(&minute(), &few, &limits());
    assert_eq!(
        seen(&verdict),
        (Grade::Degraded, vec![(Cause::PortsUsedUp, vec![(0, 60)])])
    );
    assert_eq!(
        verdict.reasons[0].measured,
        "6 samples found no local port of 28232 for each target, each held 60 s after its connection ends"
    );
    let many = Failures {
        lacking: Shortages {
            port: 100,
            ..few.lacking
        },
        ..few
    };
    assert_eq!(judge(&minute(), &many, &limits()).grade, Grade::Invalid);
}

#[test]
fn samples_without_a_port_are_told_with_when() {
    let mut minute = minute();
    minute[30..33]
        .iter_mut()
        .for_each(|second| second.lacking.port = 2);
    let few = Failures {
        samples: 6000,
        lacking: Shortages {
            port: 6,
            ..Shortages::default()
        },
        ..Failures::default()
    };
    let verdict = judge(&minute, &few, &limits());
    assert_eq!(seen(&verdict).1, [(Cause::PortsUsedUp, vec![(30, 33)])]);
}

#[test]
fn ports_that_are_running_out_are_a_warning() {
    let verdict = changed(10..20, |second| second.time_wait_to_one = 25_000);
    assert_eq!(
        seen(&verdict),
        (Grade::Valid, vec![(Cause::PortsRunningOut, vec![(10, 20)])])
    );
    assert_eq!(
        verdict.reasons[0].measured,
        "25000 of 28232 ports held by closed connections to one target, 60 s each"
    );
}

#[test]
fn one_worker_may_be_full_while_others_idle() {
    let full = |second: &mut Second| {
        second.cores_used = 1.1;
        second.busiest_thread = 0.99;
    };
    assert_eq!(
        seen(&changed(3..9, full)),
        (Grade::Degraded, vec![(Cause::WorkerUsedUp, vec![(3, 9)])])
    );
    // If all workers are saturated, the only reason is the used-up CPU.
    let all = |second: &mut Second| {
        second.cores_used = 1.95;
        second.busiest_thread = 0.99;
    };
    assert_eq!(
        seen(&changed(3..9, all)).1,
        [(Cause::CpuUsedUp, vec![(3, 9)])]
    );
}

#[test]
fn the_worst_comes_first() {
    let verdict = changed(0..60, |second| {
        second.cores_stolen = 1.0;
        if second.from_ms == 0 {
            second.disk_stalled_ms = 90;
        }
    });
    let causes: Vec<_> = verdict.reasons.iter().map(|reason| reason.cause).collect();
    assert_eq!(causes, [Cause::CpuStolen, Cause::DiskStalled]);
}

#[test]
fn a_verdict_survives_json_names() {
    assert_eq!(Grade::Degraded.to_string(), "DEGRADED");
    assert!(!Cause::TargetSilent.spoils());
}
