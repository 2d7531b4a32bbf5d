//! The cost of one small request.

use super::{Contender, Door, Scenario, each};
use crate::bench::aim::Figure::{self, Cpu, CpuIn};
use crate::bench::peers::LoadTester;

pub(super) fn all() -> Vec<Scenario> {
    vec![
        keep_alive(),
        extract(),
        new_state_plain(),
        new_state_tls(),
        sessions(),
        ports(),
        http2(),
        seed(),
    ]
}

fn keep_alive() -> Scenario {
    let programs = [
        LoadTester::Drumfire,
        LoadTester::Wrk,
        LoadTester::Wrk2,
        LoadTester::Oha,
        LoadTester::K6,
        LoadTester::Gatling,
        LoadTester::Artillery,
        LoadTester::JMeter,
    ];
    Scenario::new(
        "keepalive",
        "ten requests an iteration over kept-alive connections",
        each(&programs, |program| Contender::new(program, "requests.jmx")),
    )
    .at_most("", Cpu(LoadTester::Wrk), 1.25)
}

fn extract() -> Scenario {
    let programs = [LoadTester::Drumfire, LoadTester::Wrk, LoadTester::JMeter];
    Scenario::new(
        "extract",
        "three variables in the path, a Response Assertion and a Boundary Extractor; wrk only asks",
        each(&programs, |program| Contender {
            path: "/shop/index.html?user=42",
            ..Contender::new(program, "extract.jmx")
        }),
    )
    .at_most("", Cpu(LoadTester::Wrk), 1.25)
}

fn new_state_plain() -> Scenario {
    let programs = [
        LoadTester::Drumfire,
        LoadTester::Wrk,
        LoadTester::Oha,
        LoadTester::JMeter,
    ];
    Scenario::new(
        "newstate",
        "connections thrown away at each iteration of ten requests; oha: at each request; wrk: never",
        each(&programs, new_state),
    )
}

fn new_state(program: LoadTester) -> Contender {
    Contender {
        reconnects: true,
        ..Contender::new(program, "requests.jmx").with("same_user", false)
    }
}

fn new_state_tls() -> Scenario {
    let mut entries = Vec::new();
    for version in ["TLSv1.3", "TLSv1.2"] {
        for program in [LoadTester::Drumfire, LoadTester::Oha, LoadTester::JMeter] {
            if program == LoadTester::Oha && version != "TLSv1.3" {
                continue; // it uses the newest
            }
            entries.push(
                new_state(program)
                    .secure(Door::Tls)
                    .case(version, 10)
                    .with("https.socket.protocols", version),
            );
        }
    }
    Scenario::new("newstate-tls", "the same over HTTPS", entries)
        .at_most("TLSv1.3", Cpu(LoadTester::JMeter), 0.1)
        .at_most("TLSv1.2", Cpu(LoadTester::JMeter), 0.1)
}

/// A new connection for each request, to measure the handshake.
fn sessions() -> Scenario {
    let both = [LoadTester::Drumfire, LoadTester::JMeter];
    let mut entries = each(&both, |program| {
        closing(program, "full")
            .with("requests", 1)
            .with("same_user", false)
    });
    entries.extend(each(&both, |program| closing(program, "of the user")));
    entries.extend(each(&both, |program| {
        closing(program, "of all users")
            .with("https.sessioncontext.shared", true)
            .with("requests", 1)
            .with("same_user", false)
    }));
    for (case, file, kind) in [
        ("certificate, PKCS#12", "client.p12", "PKCS12"),
        ("certificate, JKS", "client.jks", "JKS"),
    ] {
        entries.extend(each(&both, |program| Contender {
            plan: "certificate.jmx".to_owned(),
            ..closing(program, case)
                .secure(Door::ClientCertificate)
                .with("requests", 1)
                .with("same_user", false)
                .with("javax.net.ssl.keyStore", format!("@FOLDER@/{file}"))
                .with("javax.net.ssl.keyStoreType", kind)
                .with("javax.net.ssl.keyStorePassword", "changeit")
        }));
    }
    Scenario::new(
        "sessions",
        "a TLS connection for each request: full handshakes, resumed ones, and those with a client's certificate",
        entries,
    )
    .at_most("of the user", Figure::CpuToCase("full"), 1.0)
    .at_most("of all users", Figure::CpuToCase("full"), 1.0)
}

fn closing(program: LoadTester, case: &str) -> Contender {
    Contender::new(program, "requests.jmx")
        .secure(Door::Tls)
        .case(case, 10)
        .with("keep_alive", false)
}

/// A new connection for each request at the highest rate, closed by the client.
fn ports() -> Scenario {
    let closing = |case: &str| {
        Contender::new(LoadTester::Drumfire, "ports.jmx")
            .case(case, 10)
            .with("requests", 1)
            .with("same_user", false)
    };
    let entries = vec![
        closing("one address"),
        closing("four addresses").with("sources", "127.0.0.1,127.0.0.2,127.0.0.3,127.0.0.4"),
        closing("closed with reset").with("drumfire.http.close_with_reset", true),
    ];
    Scenario {
        least_seconds: 60,
        ..Scenario::new(
            "ports",
            "a connection for each request, closed by the client, for a minute: no port is missing",
            entries,
        )
    }
    .at_most("one address", Figure::Failed, 0.0)
    .at_most("four addresses", Figure::Failed, 0.0)
    .at_most("closed with reset", Figure::Failed, 0.0)
}

fn http2() -> Scenario {
    Scenario::new(
        "http2",
        "ten requests an iteration over kept-alive HTTP/2 connections, one stream each",
        each(&[LoadTester::Drumfire, LoadTester::H2load], |program| {
            Contender {
                door: Door::Http2,
                ..Contender::new(program, "requests.jmx").with("drumfire.http.version", 2)
            }
        }),
    )
    .at_most("", Cpu(LoadTester::H2load), 1.2)
}

fn seed() -> Scenario {
    let mut entries = Vec::new();
    for keep_alive in [true, false] {
        for requests in [1, 10, 100] {
            for users in [1, 3] {
                let kept = if keep_alive { "kept" } else { "closed" };
                let case = format!("{requests} {kept}, {users} user(s)");
                for program in [LoadTester::Drumfire, LoadTester::JMeter] {
                    entries.push(
                        Contender::new(program, "requests.jmx")
                            .case(&case, users)
                            .with("requests", requests)
                            .with("keep_alive", keep_alive)
                            .with("same_user", false),
                    );
                }
            }
        }
    }
    // The least and the most favourable case for JMeter.
    Scenario::new(
        "seed",
        "requests of an iteration, with and without keep-alive, few users",
        entries,
    )
    .at_most("1 closed, 1 user(s)", Cpu(LoadTester::JMeter), 0.5)
    .at_most(
        "100 kept, 3 user(s)",
        CpuIn(LoadTester::JMeter, "100 kept, 3 user(s)"),
        0.5,
    )
}
