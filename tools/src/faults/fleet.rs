//! Failures of distributed runs: of agents, coordinators, servers and links. Each stage has its own NATS server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use drumfire_testkit::nats::Nats;
use drumfire_testkit::program::{Finished, LIMIT, Workshop};
use drumfire_testkit::slow_link::{LinkQuality, SlowLink};

use super::Fault;
use super::bench::{
    FaultBench, Running, ensure, expect, group, pause, plan, sample, start, words_for_agents,
};

const USERS: u32 = 6;
/// The iterations of a run of ten seconds, at a tenth of a second each.
const TEN_SECONDS: i32 = 100;

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "fleet-agent-killed",
        is_quick: false,
        before: "the run hung, or ended green",
        after: "within 10 s the agent is lost, by name and time; INVALID; the others end",
        stage: killed,
    },
    Fault {
        name: "fleet-agent-killed-redistribute",
        is_quick: false,
        before: "its users were gone",
        after: "the others take its users over",
        stage: |bench| {
            let stage = FleetStage::start(bench, 3, 250)?;
            let run = stage.run(&["--on-lost", "redistribute", "-l", "rows.jtl"])?;
            std::thread::sleep(Duration::from_secs(3));
            stage.agents[1].0.signal("KILL")?;
            let finished = run.finish()?;
            expect(
                &finished,
                0,
                &["agent `b` lost at", "its users go to `a`, `c`"],
            )?;
            let rows = stage.home.read("rows.jtl");
            let has = |user: u32| rows.contains(&format!(",users 1-{user},"));
            ensure((1..=USERS).all(has), "a user is in no row")
        },
    },
    Fault {
        name: "fleet-agent-killed-stop",
        is_quick: false,
        before: "the others went on to their end",
        after: "with `--on-lost stop` the run ends in order, INVALID",
        stage: stopped,
    },
    Fault {
        name: "fleet-agent-told-to-end",
        is_quick: false,
        before: "lost after 10 s, with its rows and its last second",
        after: "on SIGTERM users finish, rows and numbers are delivered; INVALID; the others go on",
        stage: told_to_end,
    },
    Fault {
        name: "fleet-agent-told-to-end-redistribute",
        is_quick: false,
        before: "lost after 10 s, with the arrivals of that time",
        after: "on SIGTERM the others take over at once; every arrival takes place once",
        stage: handed_over,
    },
    Fault {
        name: "fleet-agent-relative-paths",
        is_quick: false,
        before: "the agent ended after its first run",
        after: "three runs on one agent, idle again within 3 s of each",
        stage: relative_paths,
    },
    Fault {
        name: "fleet-agent-late",
        is_quick: false,
        before: "nobody could join a run",
        after: "agents that come later take over arrivals; every arrival takes place once",
        stage: late,
    },
    Fault {
        name: "fleet-agent-started-again",
        is_quick: false,
        before: "its part of the load was gone",
        after: "it takes its part again, from the beginning",
        stage: started_again,
    },
    Fault {
        name: "fleet-agent-frozen-redistribute",
        is_quick: false,
        before: "its users ran twice",
        after: "others have its users; when it is back, it ends; rows and numbers agree",
        stage: fenced,
    },
    Fault {
        name: "fleet-agent-frozen-5s",
        is_quick: false,
        before: "samples were missing or counted twice",
        after: "told after 3 s; every sample counts once",
        stage: |bench| frozen(bench, 5, "silent for 3 s"),
    },
    Fault {
        name: "fleet-agent-frozen-15s",
        is_quick: false,
        before: "the agent stayed lost",
        after: "lost after 10 s, back when it is heard; every sample counts once; INVALID",
        stage: |bench| frozen(bench, 15, "agent `b` is back at"),
    },
    Fault {
        name: "fleet-partition-6s",
        is_quick: false,
        before: "seconds were lost",
        after: "the agent goes on and delivers; every sample counts once",
        stage: |bench| partitioned(bench, 6, "silent for 3 s"),
    },
    Fault {
        name: "fleet-partition-15s",
        is_quick: false,
        before: "the agent stayed lost",
        after: "lost, then back; every sample counts once; INVALID",
        stage: |bench| partitioned(bench, 15, "agent `b` is back at"),
    },
    Fault {
        name: "fleet-agent-cut-off-to-its-end",
        is_quick: false,
        before: "its numbers were gone",
        after: "it goes on to its plan's end and delivers when it is back; `attach` counts it",
        stage: cut_off,
    },
    Fault {
        name: "fleet-slow-link",
        is_quick: false,
        before: "users waited for the link",
        after: "the load is as planned; every sample counts once",
        stage: slow,
    },
    Fault {
        name: "fleet-agent-out-of-memory",
        is_quick: false,
        before: "the run hung",
        after: "the agent is lost, by name; the others end",
        stage: out_of_memory,
    },
    Fault {
        name: "fleet-wrong-version",
        is_quick: false,
        before: "messages that nobody understood",
        after: "refused before the start, with both versions",
        stage: wrong_version,
    },
    Fault {
        name: "fleet-plan-refused-on-one",
        is_quick: false,
        before: "the run began without it",
        after: "nothing is sent; the agent and its reason are told",
        stage: refused,
    },
    Fault {
        name: "fleet-coordinator-killed",
        is_quick: false,
        before: "everything measured was lost",
        after: "`drumfire attach` goes on; every sample counts once",
        stage: coordinator_killed,
    },
    Fault {
        name: "fleet-nats-restarted",
        is_quick: false,
        before: "seconds were lost or counted twice",
        after: "all connect again; every sample counts once",
        stage: |bench| {
            let mut stage = FleetStage::start(bench, 2, TEN_SECONDS)?;
            let run = stage.run(&[])?;
            std::thread::sleep(Duration::from_secs(2));
            stage.nats.restart(Duration::from_secs(2));
            let finished = run.finish()?;
            expect(&finished, 0, &[])?;
            stage.counted(TEN_SECONDS)
        },
    },
];

/// A NATS server, agents named `a`, `b` and so on, each behind its own link, and a folder with a plan.
struct FleetStage {
    nats: Nats,
    agents: Vec<(Running, Workshop)>,
    ways: Vec<SlowLink>,
    home: Workshop,
}

impl FleetStage {
    fn start(bench: &FaultBench, agents: usize, loops: i32) -> anyhow::Result<FleetStage> {
        let inside = pause(100) + &sample("s");
        let home = bench.with_plan(&USERS.to_string(), loops, &inside);
        let nats = Nats::start();
        let mut stage = FleetStage {
            nats,
            agents: Vec::new(),
            ways: Vec::new(),
            home,
        };
        for name in ["a", "b", "c", "d"].iter().take(agents) {
            stage.ways.push(SlowLink::to(stage.nats.port)?);
            let agent = stage.agent(bench, stage.ways.len() - 1, name)?;
            stage.agents.push(agent);
        }
        Ok(stage)
    }

    /// Starts an agent with this name behind a link.
    fn agent(
        &self,
        bench: &FaultBench,
        way: usize,
        name: &str,
    ) -> anyhow::Result<(Running, Workshop)> {
        let (place, url) = (bench.folder(), self.url(way)?);
        let words = ["agent", "--nats", &url, "--name", name, "--once"];
        Ok((start(&place, &words), place))
    }

    /// The URL at which an agent reaches NATS.
    fn url(&self, agent: usize) -> anyhow::Result<String> {
        let way = self.ways.get(agent).context("there is such a way")?;
        Ok(format!("nats://127.0.0.1:{}", way.port()))
    }

    /// Starts the run and waits until its users are running.
    fn run(&self, words: &[&str]) -> anyhow::Result<Running> {
        let (url, count) = (self.nats.url(), self.agents.len().to_string());
        let fixed = words_for_agents(&url, &count);
        let lines = ["--progress", "lines"];
        let running = start(&self.home, &[&fixed[..], &lines, words].concat());
        self.begun()?;
        Ok(running)
    }

    /// Waits for the start of the run and returns its name.
    fn begun(&self) -> anyhow::Result<String> {
        let deadline = Instant::now() + LIMIT;
        loop {
            let log = std::fs::read_to_string(self.home.path("jmeter.log")).unwrap_or_default();
            let run = log.split("agents have begun run ").nth(1);
            if let Some(run) = run.and_then(|rest| rest.lines().next()) {
                return Ok(run.to_owned());
            }
            ensure(Instant::now() < deadline, "the run does not begin")?;
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn total(&self) -> anyhow::Result<u64> {
        let told: serde_json::Value = serde_json::from_str(&self.home.read("run.json"))?;
        told["total"]["count"]
            .as_u64()
            .context("run.json has a count")
    }

    /// The reasons of the verdict that come from the agents, and not from a busy machine.
    fn reasons(&self) -> anyhow::Result<Vec<String>> {
        const OF_AGENTS: [&str; 4] = [
            "an agent was lost",
            "a part of the load is missing",
            "numbers of an agent are missing",
            "the run was too short",
        ];
        let told: serde_json::Value = serde_json::from_str(&self.home.read("run.json"))?;
        let reasons = told["verdict"]["reasons"].as_array().context("reasons")?;
        let reasons = reasons.iter().filter_map(|reason| reason["what"].as_str());
        let of_agents = reasons.filter(|reason| OF_AGENTS.contains(reason));
        Ok(of_agents.map(str::to_owned).collect())
    }

    /// Checks that the run counted every sample of the plan exactly once.
    fn counted(&self, loops: i32) -> anyhow::Result<()> {
        let (total, planned) = (self.total()?, u64::from(USERS) * loops as u64);
        if total == planned {
            Ok(())
        } else {
            bail!("{total} samples are counted, {planned} were taken")
        }
    }

    fn attach(&self, run: &str) -> Finished {
        let url = self.nats.url();
        let words = [
            "attach",
            run,
            "--nats",
            &url,
            "--progress",
            "lines",
            "--summary-json",
            "run.json",
        ];
        self.home.run(&words, LIMIT)
    }
}

fn killed(bench: &FaultBench) -> anyhow::Result<()> {
    let stage = FleetStage::start(bench, 3, 200)?;
    let run = stage.run(&["--strict"])?;
    std::thread::sleep(Duration::from_secs(3));
    let since = Instant::now();
    stage.agents[1].0.signal("KILL")?;
    let finished = run.finish()?;
    expect(
        &finished,
        6,
        &[
            "agent `b` lost at",
            "2 users",
            "the others go on",
            "INVALID",
        ],
    )?;
    ensure(
        since.elapsed() < Duration::from_secs(40),
        "the run ends late",
    )?;
    // The other agents completed their whole share.
    ensure(
        stage.total()? >= 4 * 200,
        "samples of the others are missing",
    )
}

/// The arrivals of [`arrivals`].
const ARRIVALS: u64 = 600;

/// A thread group in which forty users a second arrive, for a quarter of a minute.
fn arrivals() -> String {
    let schedule = "rate(40/sec) even_arrivals(15 sec)";
    format!(
        r#"<OpenModelThreadGroup guiclass="g" testclass="OpenModelThreadGroup" testname="users"><stringProp name="OpenModelThreadGroup.schedule">{schedule}</stringProp></OpenModelThreadGroup><hashTree>{}</hashTree>"#,
        sample("${__threadNum}")
    )
}

/// Checks that rows and numbers agree, and returns how many there are.
fn rows_agree(stage: &FleetStage) -> anyhow::Result<u64> {
    let rows = stage.home.read("rows.jtl").lines().count() as u64 - 1;
    let total = stage.total()?;
    ensure(
        rows == total,
        &format!("{total} samples are counted, {rows} rows collected"),
    )?;
    Ok(total)
}

/// Tells the second agent to end, in the middle of the run, and waits for it.
fn end_second(stage: &mut FleetStage) -> anyhow::Result<()> {
    std::thread::sleep(Duration::from_secs(4));
    stage.agents[1].0.signal("TERM")?;
    let (agent, _place) = stage.agents.remove(1);
    let since = Instant::now();
    let ended = agent.finish()?;
    ensure(ended.code == Some(143), &format!("{ended:?}"))?;
    // `docker stop` would kill it then.
    ensure(
        since.elapsed() < Duration::from_secs(10),
        "the agent ends late",
    )
}

fn told_to_end(bench: &FaultBench) -> anyhow::Result<()> {
    let mut stage = FleetStage::start(bench, 3, 150)?;
    let run = stage.run(&["--strict", "-l", "rows.jtl"])?;
    end_second(&mut stage)?;
    let finished = run.finish()?;
    let words = ["agent `b` was told to end at", "the others go on"];
    expect(&finished, 6, &words)?;
    let told = stage.reasons()?;
    let is_told = told == ["a part of the load is missing"];
    ensure(is_told, &format!("the verdict says {told:?}"))?;
    // The others completed their whole share.
    let total = rows_agree(&stage)?;
    ensure(total > 4 * 150, "samples are missing")
}

fn handed_over(bench: &FaultBench) -> anyhow::Result<()> {
    let mut stage = FleetStage::start(bench, 3, 1)?;
    stage.home.write("p.jmx", plan(&arrivals()));
    let run = stage.run(&["--on-lost", "redistribute", "-l", "rows.jtl"])?;
    end_second(&mut stage)?;
    let finished = run.finish()?;
    expect(&finished, 0, &["its users go to `a`, `c`"])?;
    let told = stage.reasons()?;
    ensure(told.is_empty(), &format!("the verdict says {told:?}"))?;
    let total = rows_agree(&stage)?;
    ensure(
        total == ARRIVALS,
        &format!("{total} of {ARRIVALS} users arrived"),
    )
}

fn relative_paths(bench: &FaultBench) -> anyhow::Result<()> {
    let (nats, home) = (Nats::start(), bench.with_plan("2", 5, &sample("s")));
    let (url, place) = (nats.url(), bench.folder());
    let words = ["agent", "--nats", &url, "--name", "a", "--cache", "cache"];
    let agent = start(&place, &words);
    for number in 1..=3 {
        let finished = home.run(&words_for_agents(&url, "1"), LIMIT);
        expect(&finished, 0, &[])?;
        let told: serde_json::Value = serde_json::from_str(&home.read("run.json"))?;
        ensure(told["total"]["count"] == 10, &format!("run {number}"))?;
        let ended = Instant::now();
        loop {
            let asked = Instant::now();
            let listed = home.run(&["agents", "--nats", &url, "--json"], LIMIT);
            let listed: serde_json::Value = serde_json::from_str(&listed.out)?;
            if listed[0]["name"] == "a" && listed[0]["run"].is_null() {
                break;
            }
            // The question itself takes a second, and longer on a busy machine.
            let most = Duration::from_secs(3) + asked.elapsed();
            let is_soon = asked.duration_since(ended) < most;
            ensure(is_soon, "the agent is not idle again")?;
        }
    }
    ensure(place.path("cache/runs").is_dir(), "the cache is elsewhere")?;
    drop(agent);
    Ok(())
}

fn late(bench: &FaultBench) -> anyhow::Result<()> {
    let mut stage = FleetStage::start(bench, 1, 1)?;
    stage.home.write("p.jmx", plan(&arrivals()));
    let url = stage.nats.url();
    let words = words_for_agents(&url, "1..3");
    let more = ["--progress", "lines", "-l", "rows.jtl"];
    let run = start(&stage.home, &[&words[..], &more].concat());
    stage.begun()?;
    for name in ["b", "c"] {
        stage.ways.push(SlowLink::to(stage.nats.port)?);
        let agent = stage.agent(bench, stage.ways.len() - 1, name)?;
        stage.agents.push(agent);
    }
    let finished = run.finish()?;
    expect(&finished, 0, &["agent `b` joins at", "agent `c` joins at"])?;
    let total = rows_agree(&stage)?;
    ensure(
        total == ARRIVALS,
        &format!("{total} of {ARRIVALS} users arrived"),
    )?;
    for (agent, _place) in stage.agents.drain(1..) {
        let ended = agent.finish()?;
        ensure(
            !ended.out.contains("ended, 0 samples"),
            &format!("{ended:?}"),
        )?;
    }
    Ok(())
}

fn stopped(bench: &FaultBench) -> anyhow::Result<()> {
    // Without the stop order, the other agents would continue for ten minutes.
    let stage = FleetStage::start(bench, 3, TEN_SECONDS * 60)?;
    let run = stage.run(&["--on-lost", "stop", "--strict"])?;
    std::thread::sleep(Duration::from_secs(3));
    let since = Instant::now();
    stage.agents[1].0.signal("KILL")?;
    let finished = run.finish()?;
    let words = ["agent `b` lost at", "the run ends", "INVALID"];
    expect(&finished, 6, &words)?;
    ensure(
        since.elapsed() < Duration::from_secs(60),
        "the run ends late",
    )
}

fn started_again(bench: &FaultBench) -> anyhow::Result<()> {
    let mut stage = FleetStage::start(bench, 3, TEN_SECONDS * 3)?;
    let run = stage.run(&["-l", "rows.jtl"])?;
    // By then it has delivered a few seconds of samples.
    std::thread::sleep(Duration::from_secs(7));
    stage.agents[1].0.signal("KILL")?;
    let again = stage.agent(bench, 1, "b")?;
    stage.agents.push(again);
    let finished = run.finish()?;
    let words = [
        "agent `b` lost at",
        "agent `b` was started again",
        "lacks rows of samples that are counted",
    ];
    expect(&finished, 0, &words)?;
    // Its earlier samples count, except for its last second, in addition to its whole share.
    let planned = u64::from(USERS) * TEN_SECONDS as u64 * 3;
    ensure(
        stage.total()? >= planned,
        "its part was not taken again from the beginning",
    )
}

fn fenced(bench: &FaultBench) -> anyhow::Result<()> {
    let stage = FleetStage::start(bench, 3, TEN_SECONDS * 3)?;
    let run = stage.run(&["--on-lost", "redistribute", "-l", "rows.jtl"])?;
    std::thread::sleep(Duration::from_secs(3));
    stage.agents[1].0.signal("STOP")?;
    std::thread::sleep(Duration::from_secs(15));
    stage.agents[1].0.signal("CONT")?;
    let finished = run.finish()?;
    let words = ["its users go to `a`, `c`", "agent `b` is back at"];
    expect(&finished, 0, &words)?;
    let rows = stage.home.read("rows.jtl").lines().count() as u64 - 1;
    let total = stage.total()?;
    ensure(
        rows == total,
        &format!("{total} samples are counted, {rows} rows collected"),
    )?;
    // The other agents repeat everything that the two users of `b` had begun. Samples that `b` takes until it is declared lost,
    // and until it learns of that, also count.
    let planned = u64::from(USERS) * TEN_SECONDS as u64 * 3;
    let at_most = planned + 2 * TEN_SECONDS as u64;
    ensure(
        (planned..=at_most).contains(&total),
        &format!("{total} samples are counted, {planned} to {at_most} were taken"),
    )
}

fn frozen(bench: &FaultBench, seconds: u64, word: &str) -> anyhow::Result<()> {
    let loops = TEN_SECONDS * 2;
    let stage = FleetStage::start(bench, 2, loops)?;
    let run = stage.run(&[])?;
    std::thread::sleep(Duration::from_secs(2));
    stage.agents[1].0.signal("STOP")?;
    std::thread::sleep(Duration::from_secs(seconds));
    stage.agents[1].0.signal("CONT")?;
    let finished = run.finish()?;
    expect(&finished, 0, &[word])?;
    ensure(
        seconds < 10 || finished.out.contains("INVALID"),
        "the verdict does not say it",
    )?;
    stage.counted(loops)
}

fn partitioned(bench: &FaultBench, seconds: u64, word: &str) -> anyhow::Result<()> {
    let loops = TEN_SECONDS * 4;
    let stage = FleetStage::start(bench, 2, loops)?;
    let run = stage.run(&[])?;
    std::thread::sleep(Duration::from_secs(2));
    stage.ways[1].cut();
    std::thread::sleep(Duration::from_secs(seconds));
    stage.ways[1].open();
    let finished = run.finish()?;
    expect(&finished, 0, &[word])?;
    ensure(
        seconds < 10 || finished.out.contains("INVALID"),
        "the verdict does not say it",
    )?;
    stage.counted(loops)
}

fn cut_off(bench: &FaultBench) -> anyhow::Result<()> {
    let mut stage = FleetStage::start(bench, 2, TEN_SECONDS)?;
    let running = stage.run(&[])?;
    let run = stage.begun()?;
    std::thread::sleep(Duration::from_secs(2));
    stage.ways[1].cut();
    let finished = running.finish()?;
    expect(&finished, 0, &["agent `b` lost at", "INVALID"])?;
    stage.ways[1].open();
    let (agent, _place) = stage.agents.remove(1);
    let ended = agent.finish()?;
    ensure(
        ended.out.contains("has ended, 300 samples"),
        &format!("{ended:?}"),
    )?;
    let finished = stage.attach(&run);
    expect(&finished, 0, &[])?;
    stage.counted(TEN_SECONDS)
}

fn slow(bench: &FaultBench) -> anyhow::Result<()> {
    let stage = FleetStage::start(bench, 2, TEN_SECONDS)?;
    stage.ways[1].set(LinkQuality {
        delay: Duration::from_millis(150),
        bytes_per_s: 64 << 10,
        is_cut: false,
    });
    let since = Instant::now();
    let run = stage.run(&["-l", "rows.jtl"])?;
    let finished = run.finish()?;
    expect(&finished, 0, &["is known only to within"])?;
    ensure(
        since.elapsed() < Duration::from_secs(60),
        "the run ends late",
    )?;
    let rows = stage.home.read("rows.jtl").lines().count() - 1;
    ensure(rows as u64 == stage.total()?, "rows are missing")?;
    stage.counted(TEN_SECONDS)
}

/// Each user of the plan stores more megabytes in each iteration than one of the agents has.
fn out_of_memory(bench: &FaultBench) -> anyhow::Result<()> {
    let inside = pause(500) + &kept();
    let home = bench.with_plan("4", 12, &inside);
    let nats = Nats::start();
    let places = [bench.folder(), bench.folder()];
    let url = nats.url();
    let roomy = start(
        &places[0],
        &["agent", "--nats", &url, "--name", "a", "--once"],
    );
    let words = format!("agent --nats {url} --name b --once");
    let narrow = bench.start_limited(&places[1], "ulimit -v 900000", &words)?;
    let words = [
        "run",
        "p.jmx",
        "--nats",
        &url,
        "--agents",
        "2",
        "--progress",
        "lines",
    ];
    let finished = home.run(&words, LIMIT);
    expect(&finished, 0, &["agent `b` lost at", "INVALID"])?;
    let ended = narrow.finish()?;
    ensure(ended.code.is_none(), &format!("it had room: {ended:?}"))?;
    drop(roomy);
    Ok(())
}

/// A sample that stores another variable of 40 MB for its user in each iteration.
fn kept() -> String {
    r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="${__substring(${__RandomString(40000000,ab,kept${__counter(TRUE,)})},0,1)}"/><hashTree/>"#.to_owned()
}

/// Something that answers like an agent of another version.
fn wrong_version(bench: &FaultBench) -> anyhow::Result<()> {
    let home = bench.with_plan("1", 1, &sample("s"));
    let nats = Nats::start();
    let mut stream = TcpStream::connect(("127.0.0.1", nats.port))?;
    stream.write_all(b"CONNECT {\"verbose\":false}\r\nSUB df.who 1\r\n")?;
    let mut lines = BufReader::new(stream.try_clone()?);
    std::thread::spawn(move || {
        let hello = r#"{"protocol":99,"version":"9.9.9","name":"other","labels":{},"weight":1,"cores":1,"memory_mib":1,"open_files":1,"host":"h","java":null,"run":null}"#;
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let answer = match words[..] {
                ["PING"] => "PONG\r\n".to_owned(),
                ["MSG", _, _, reply, length] => {
                    let length: usize = length.parse().unwrap_or(0);
                    let mut body = vec![0; length + 2];
                    if lines.read_exact(&mut body).is_err() {
                        return;
                    }
                    format!("PUB {reply} {}\r\n{hello}\r\n", hello.len())
                }
                _ => String::new(),
            };
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
            line.clear();
        }
    });
    let url = nats.url();
    let words = [
        "run",
        "p.jmx",
        "--nats",
        &url,
        "--agents",
        "1",
        "--progress",
        "lines",
    ];
    let finished = home.run(&words, LIMIT);
    expect(
        &finished,
        1,
        &["agent `other` is drumfire 9.9.9", "nothing was sent"],
    )
}

fn refused(bench: &FaultBench) -> anyhow::Result<()> {
    let stage = FleetStage::start(bench, 2, 1)?;
    let data = super::inputs::data("rows-${__P(agent.index)}.csv");
    stage
        .home
        .write("p.jmx", plan(&group("2", 1, &(data + &sample("s")))));
    stage.home.write("rows-0.csv", "1\n2\n");
    let url = stage.nats.url();
    let words = [
        "run",
        "p.jmx",
        "--nats",
        &url,
        "--agents",
        "2",
        "--progress",
        "lines",
        "-Jagent.index=0",
    ];
    let finished = stage.home.run(&words, LIMIT);
    expect(
        &finished,
        1,
        &["nothing was sent", "agent `b`", "rows-1.csv"],
    )
}

fn coordinator_killed(bench: &FaultBench) -> anyhow::Result<()> {
    let stage = FleetStage::start(bench, 2, TEN_SECONDS)?;
    let running = stage.run(&[])?;
    let run = stage.begun()?;
    std::thread::sleep(Duration::from_secs(4));
    running.signal("KILL")?;
    running.finish()?;
    let finished = stage.attach(&run);
    expect(&finished, 0, &[])?;
    stage.counted(TEN_SECONDS)
}
