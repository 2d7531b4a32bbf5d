//! A fleet made by `drumfire fleet init`, at a real NATS server with TLS: who may do what.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use drumfire_testkit::nats::{Nats, has_server};
use drumfire_testkit::program::{Finished, LIMIT, Workshop, finish};

use super::stage::{column, group, pause, plan, sample, text, workshop};

/// A folder with the keys of agents `a` and `b`, and the server.
fn secured(hosts: &[&str]) -> (Workshop, Nats) {
    let home = workshop();
    let nats = Nats::start_with(|_, port| {
        let port = port.to_string();
        let mut words = vec![
            "fleet", "init", "keys", "--port", &port, "--agent", "a", "--agent", "b",
        ];
        hosts.iter().for_each(|host| words.extend(["--host", host]));
        let made = home.run(&words, LIMIT);
        assert_eq!(made.code, Some(0), "{}{}", made.out, made.err);
        assert!(
            made.out.contains("drumfire agent --name a --nats "),
            "{}",
            made.out
        );
        Some(home.path("keys/nats.conf"))
    });
    (home, nats)
}

fn words<'w>(home: &Workshop, fixed: &[&'w str], more: &[(&'w str, &str)]) -> Vec<String> {
    let mut words: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
    for (option, file) in more {
        words.push((*option).to_owned());
        let path: PathBuf = home.path(file);
        words.push(path.display().to_string());
    }
    words
}

fn run(home: &Workshop, url: &str, more: &[(&str, &str)]) -> Finished {
    let fixed = [
        "run",
        "plan.jmx",
        "--agents",
        "2",
        "--nats",
        url,
        "--progress",
        "lines",
        "-l",
        "rows.jtl",
    ];
    let words = words(home, &fixed, more);
    home.run(&words.iter().map(String::as_str).collect::<Vec<_>>(), LIMIT)
}

#[test]
fn a_signed_plan_runs_over_tls_with_rights_for_one_run() {
    if !has_server() {
        return;
    }
    let (home, nats) = secured(&["localhost", "127.0.0.1"]);
    let url = format!("tls://localhost:{}", nats.port);
    let agents = ["a", "b"].map(|name| {
        let place = workshop();
        let fixed = ["agent", "--nats", &url, "--name", name, "--once"];
        let creds = format!("keys/agents/{name}.creds");
        let files = [
            ("--nats-creds", creds.as_str()),
            ("--nats-ca", "keys/server.pem"),
            ("--trust", "keys/trust.pub"),
        ];
        let words = words(&home, &fixed, &files);
        let child = place.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
        (place, child)
    });
    let rows: String = (0..40).map(|row| format!("r{row}\n")).collect();
    home.write("rows.csv", rows);
    let csv = format!(
        r#"<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c">{}{}{}{}</CSVDataSet><hashTree/>"#,
        text("filename", "rows.csv"),
        text("variableNames", "row"),
        text("recycle", "false"),
        text("stopThread", "true")
    );
    let body = csv + &pause(5) + &sample("${row}");
    home.write("plan.jmx", plan(&group("ThreadGroup", 4, -1, None, &body)));
    let ca = ("--nats-ca", "keys/server.pem");
    let creds = ("--nats-creds", "keys/coordinator.creds");
    let Finished { code, out, err } = run(
        &home,
        &url,
        &[ca, creds, ("--sign", "keys/coordinator.key")],
    );
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(
        column(&home, "label").len(),
        40,
        "each row once: {out}{err}"
    );
    for (_place, child) in agents {
        let ended = finish(child, LIMIT);
        assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    }
    // The certificate is verified, always.
    let untrusted = run(&home, &url, &[creds]);
    assert_eq!(untrusted.code, Some(1), "{}", untrusted.out);
    assert!(
        untrusted.err.contains("NATS at tls://localhost"),
        "{}",
        untrusted.err
    );
}

#[test]
fn an_unsigned_plan_is_refused_by_an_agent_that_trusts_a_key() {
    if !has_server() {
        return;
    }
    let (home, nats) = secured(&[]);
    let url = nats.url();
    let fixed = ["agent", "--nats", &url, "--name", "a", "--once"];
    let files = [
        ("--nats-creds", "keys/agents/a.creds"),
        ("--trust", "keys/trust.pub"),
    ];
    let words = words(&home, &fixed, &files);
    let agent = workshop();
    let mut child = agent.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
    home.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 1, 1, None, &sample("x"))),
    );
    let creds = home.path("keys/coordinator.creds").display().to_string();
    let words = [
        "run",
        "plan.jmx",
        "--agents",
        "a",
        "--nats",
        &url,
        "--nats-creds",
        &creds,
    ];
    let refused = home.run(&words, LIMIT);
    assert_eq!(refused.code, Some(1), "{}{}", refused.out, refused.err);
    assert!(
        refused.err.contains("the plan is not signed"),
        "{}",
        refused.err
    );
    child.kill().expect("it waits for other work");
    finish(child, LIMIT);
}

#[test]
fn an_agent_that_accepted_is_free_again_when_another_one_refuses() {
    if !has_server() {
        return;
    }
    let home = workshop();
    let made = home.run(&["fleet", "init", "keys"], LIMIT);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let nats = Nats::start();
    let url = nats.url();
    let trust = home.path("keys/trust.pub").display().to_string();
    let places = [workshop(), workshop()];
    let mut agents = [
        places[0].start(&["agent", "--nats", &url, "--name", "a"]),
        places[1].start(&["agent", "--nats", &url, "--name", "b", "--trust", &trust]),
    ];
    home.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 1, 1, None, &sample("x"))),
    );
    let refused = home.run(
        &["run", "plan.jmx", "--agents", "a,b", "--nats", &url],
        LIMIT,
    );
    assert!(
        refused.err.contains("agent `b`: the plan is not signed"),
        "{}",
        refused.err
    );
    let again = [
        "run",
        "plan.jmx",
        "--agents",
        "a",
        "--nats",
        &url,
        "--agents-wait",
        "40s",
    ];
    let finished = home.run(&again, LIMIT);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    for agent in &mut agents {
        agent.kill().expect("it waits for work");
        agent.wait().expect("it was killed");
    }
}

#[test]
fn an_agent_away_from_its_server_needs_a_key_to_trust() {
    let away = workshop().run(&["agent", "--nats", "nats://192.0.2.1:4222"], LIMIT);
    assert_eq!(away.code, Some(1), "{}", away.out);
    assert!(away.err.contains("pass `--trust KEY`"), "{}", away.err);
}

/// Says something to the server as this user, and gives what it answers until it is silent.
fn say(nats: &Nats, creds: &str, lines: &str) -> String {
    let (jwt, seed) = {
        let mut parts = creds
            .lines()
            .filter(|line| !line.starts_with('-') && !line.is_empty());
        (parts.next().expect("a JWT"), parts.next().expect("a seed"))
    };
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", nats.port)).expect("it listens");
    stream
        .set_read_timeout(Some(Duration::from_millis(500)))
        .expect("it can be set");
    let mut answer = String::new();
    let mut chunk = [0; 8192];
    let read = stream.read(&mut chunk).expect("it greets");
    let greeting = String::from_utf8_lossy(&chunk[..read]).into_owned();
    let nonce = greeting
        .split("\"nonce\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let pair = nkeys::KeyPair::from_seed(seed).expect("a seed");
    let signature = pair
        .sign(nonce.expect("a nonce").as_bytes())
        .expect("it is a seed");
    let signature = URL_SAFE_NO_PAD.encode(signature);
    let connect = format!(r#"CONNECT {{"verbose":false,"jwt":"{jwt}","sig":"{signature}"}}"#);
    write!(stream, "{connect}\r\n{lines}PING\r\n").expect("it is read");
    while let Ok(read) = stream.read(&mut chunk) {
        if read == 0 {
            break;
        }
        answer.push_str(&String::from_utf8_lossy(&chunk[..read]));
    }
    answer
}

#[test]
fn an_agent_can_neither_read_another_run_nor_speak_as_another() {
    if !has_server() {
        return;
    }
    let (home, nats) = secured(&[]);
    let idle = home.read("keys/agents/a.creds");
    let account = home.read("keys/account.seed");
    let of_run = drumfire_fleet::run_credentials(&account, "r1", 1).expect("a seed");
    let refused = |creds: &str, line: &str| {
        let answer = say(&nats, creds, &format!("{line}\r\n"));
        assert!(
            !answer.contains("Authorization Violation"),
            "it may connect: {answer}"
        );
        answer.contains("Permissions Violation")
    };
    // The rights of each.
    assert!(!refused(&idle, "SUB df.who 1"));
    assert!(!refused(&idle, "SUB df.idle.a 1"));
    assert!(!refused(&of_run, "SUB df.r1.c.ctl 1"));
    assert!(!refused(&of_run, "PUB df.r1.a.1.hb 2\r\n{}"));
    assert!(!refused(&of_run, "PUB $KV.df_runs.r1.lease.x 1\r\n5"));
    // Another's work, another's words, another's run.
    for line in [
        "SUB df.idle.b 1",
        "SUB df.> 1",
        "SUB df.r1.c.ctl 1",
        "SUB _INBOX.> 1",
        "PUB df.r1.a.0.hb 2\r\n{}",
        "PUB $JS.API.STREAM.MSG.GET.KV_df_runs 2\r\n{}",
    ] {
        assert!(refused(&idle, line), "idle: {line}");
    }
    for line in [
        "SUB df.r2.c.ctl 1",
        "SUB df.r1.a.0.sec 1",
        "PUB df.r1.a.0.hb 2\r\n{}",
        "PUB df.r2.a.1.hb 2\r\n{}",
        "PUB df.r1.c.ctl 2\r\n{}",
        "PUB df.idle.b 2\r\n{}",
        "PUB $KV.df_runs.r1.state 2\r\n{}",
        "PUB $KV.df_runs.r2.lease.x 1\r\n5",
        "PUB $JS.API.DIRECT.GET.KV_df_runs.$KV.df_runs.r2.manifest 0\r\n",
        "PUB $JS.API.CONSUMER.CREATE.OBJ_df_files 2\r\n{}",
        "PUB $JS.API.STREAM.DELETE.DF_SECONDS 0\r\n",
        "PUB $O.df_ends.M.cjEuMC5lbmQ= 2\r\n{}",
    ] {
        assert!(refused(&of_run, line), "in run r1: {line}");
    }
}
