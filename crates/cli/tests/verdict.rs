//! The verdict of a run when something other than the target spoils its numbers, and when it is the target.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{OnceLock, RwLock};
use std::time::{Duration, Instant};

use drumfire_testkit::plans::{debug, pause};
use drumfire_testkit::program::{Finished, LIMIT, Workshop, finish};
use drumfire_testkit::server::{ResponseStep, Server, ok};

/// Each test watches the whole machine: those that leave it alone share it, the one that does not has it to itself.
static MACHINE: RwLock<()> = RwLock::new(());

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

/// Two users who ask for `/` for `seconds`, with a pause of `pause_ms` before each request.
fn plan(seconds: u32, pause_ms: u32, host: &str, port: &str) -> String {
    drumfire_testkit::plans::plan(&format!(
        r#"
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">2</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">{seconds}</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">-1</stringProp></elementProp></ThreadGroup><hashTree>
<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="t"><stringProp name="ConstantTimer.delay">{pause_ms}</stringProp></ConstantTimer><hashTree/>
<HTTPSamplerProxy guiclass="HTTPSamplerProxyGui" testclass="HTTPSamplerProxy" testname="r"><stringProp name="HTTPSampler.domain">{host}</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>
</hashTree>"#
    ))
}

fn verdict(finished: &Finished) -> &str {
    let place = finished
        .out
        .find("\nverdict  ")
        .unwrap_or_else(|| panic!("{finished:?}"));
    &finished.out[place + 1..]
}

#[test]
fn a_target_that_stops_is_told_from_a_generator_that_does() {
    let _turn = MACHINE.read();
    let first = OnceLock::new();
    let server = Server::start(move |_| {
        let at = first.get_or_init(Instant::now).elapsed();
        let (from, to) = (Duration::from_millis(1500), Duration::from_millis(6500));
        if at > from && at < to {
            vec![ResponseStep::Pause(to - at), ResponseStep::Send(ok(""))]
        } else {
            vec![ResponseStep::Send(ok(""))]
        }
    });
    let workshop = workshop();
    let port = server.address().port().to_string();
    workshop.write("p.jmx", plan(12, 20, "127.0.0.1", &port));
    let silent = workshop.run(&["run", "p.jmx"], LIMIT);
    assert!(
        verdict(&silent).contains("the target answered nothing, "),
        "{}",
        verdict(&silent)
    );
    assert!(!verdict(&silent).contains("the generator was stopped"));
}

#[test]
fn a_generator_that_is_stopped_says_so_and_is_not_trusted() {
    let _turn = MACHINE.read();
    let (asked, began) = channel();
    let server = Server::start(move |_| {
        let _ = asked.send(());
        vec![ResponseStep::Send(ok(""))]
    });
    let workshop = workshop();
    let port = server.address().port().to_string();
    workshop.write("p.jmx", plan(4, 20, "127.0.0.1", &port));
    let child = workshop.start(&["run", "p.jmx", "--strict"]);
    let tell = |signal: &str| {
        let sent = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(sent.expect("kill is there").success());
    };
    began.recv_timeout(LIMIT).expect("the run begins");
    std::thread::sleep(Duration::from_millis(700));
    tell("STOP");
    std::thread::sleep(Duration::from_millis(1600));
    tell("CONT");
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(6), "{finished:?}");
    let told = verdict(&finished);
    assert!(told.starts_with("verdict  INVALID\n"), "{told}");
    assert!(told.contains("the generator was stopped, "), "{told}");
    assert!(!told.contains("the target answered nothing"), "{told}");
}

/// Programs that use CPU until they are dropped.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn start(count: usize) -> Neighbours {
        let spin = || {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .spawn()
                .expect("a shell is there")
        };
        Neighbours((0..count).map(|_| spin()).collect())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn neighbours_that_take_the_cpu_are_named() {
    let _turn = MACHINE.write();
    let server = Server::start(|_| vec![ResponseStep::Send(ok(""))]);
    let workshop = workshop();
    let port = server.address().port().to_string();
    workshop.write("p.jmx", plan(3, 0, "127.0.0.1", &port));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let neighbours = Neighbours::start(4 * cores);
    let finished = workshop.run(&["run", "p.jmx"], LIMIT);
    drop(neighbours);
    assert!(
        verdict(&finished).contains("CPU taken by other programs, "),
        "{}",
        verdict(&finished)
    );
}

/// In a network of its own with ten local ports, if this system lets one be made.
#[test]
fn ports_that_run_out_are_named_with_how_many_there_are() {
    let _turn = MACHINE.read();
    let own_network = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "sh", "-c", script]);
        command
    };
    let set_up = "ip link set lo up && echo 40000 40009 > /proc/sys/net/ipv4/ip_local_port_range && echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse";
    if !own_network(set_up)
        .status()
        .is_ok_and(|done| done.success())
    {
        eprintln!("skipped: no network namespace can be made here");
        return;
    }
    let workshop = workshop();
    workshop.write(
        "p.jmx",
        plan(2, 5, "${__P(demo.host)}", "${__P(demo.port)}").replace(
            r#""HTTPSampler.use_keepalive">true"#,
            r#""HTTPSampler.use_keepalive">false"#,
        ),
    );
    let program = env!("CARGO_BIN_EXE_drumfire");
    let out = own_network(&format!("{set_up} && {program} run p.jmx --demo"))
        .current_dir(workshop.path(""))
        .output()
        .expect("unshare is there");
    let out = String::from_utf8_lossy(&out.stdout);
    assert!(out.contains("\nverdict  INVALID\n"), "{out}");
    assert!(
        out.contains("samples found no local port of 10 for each target"),
        "{out}"
    );
}

/// Twenty arrivals a second for two seconds, for a thread group of one user who needs half a second for each.
#[test]
fn arrivals_that_never_start_are_counted_and_told() {
    let _turn = MACHINE.read();
    let workshop = workshop();
    let group = |class: &str, properties: &str, children: &str| {
        format!(
            r#"<{class} guiclass="x" testclass="{class}" testname="{class}"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp>{properties}</{class}><hashTree>{children}</hashTree>"#
        )
    };
    let one_user = r#"<stringProp name="ThreadGroup.num_threads">1</stringProp>"#;
    let arrivals = r#"<stringProp name="TargetLevel">20</stringProp><stringProp name="RampUp">0</stringProp><stringProp name="Steps">0</stringProp><stringProp name="Hold">2</stringProp><stringProp name="ConcurrencyLimit">1</stringProp><stringProp name="Unit">S</stringProp>"#;
    let elements = [
        group("SetupThreadGroup", one_user, &debug("prepare")),
        group(
            "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup",
            arrivals,
            &(pause(500) + &debug("shop")),
        ),
    ];
    workshop.write("p.jmx", drumfire_testkit::plans::plan(&elements.concat()));
    let finished = workshop.run(&["run", "p.jmx", "--run-file", "r.drumfire"], LIMIT);
    assert!(
        verdict(&finished).contains("arrivals were due and did not start, "),
        "{finished:?}"
    );
    let options = drumfire_report::jtl::JtlOptions::default();
    let run = drumfire_report::read_input(&workshop.path("r.drumfire"), &options, &mut Vec::new());
    let run = run.expect("the run left a file behind");
    let marks: Vec<&str> = run.marks.iter().map(|mark| mark.text.as_str()).collect();
    assert_eq!(marks, ["setUp thread groups", "thread groups"]);
    let lines = |name: &str| {
        let group = run.health.iter().find(|group| group.name == name);
        let lines = group.map_or(&[][..], |group| &group.lines);
        lines
            .iter()
            .map(|line| line.name.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(lines("Arrivals"), ["due", "not started"]);
    assert!(lines("CPU of each core").contains(&"core 0") || lines("CPU of each core").len() == 3);
}
