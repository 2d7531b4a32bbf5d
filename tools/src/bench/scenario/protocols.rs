//! Protocols other than HTTP/1.1, and connections that last for a few requests.

use super::{Contender, Door, Scenario, each};
use crate::bench::aim::Figure::{Cpu, CpuIn, CpuUs, PeakTo};
use crate::bench::peers::{GRPC_TEXT, GRPC_TEXTS, LoadTester, MAIL_BYTES};

pub(super) fn all() -> Vec<Scenario> {
    vec![
        websocket(),
        events(),
        grpc(),
        mqtt(),
        ftp(),
        mails(),
        api(),
        database(),
        ten_requests(),
    ]
}

fn websocket() -> Scenario {
    let programs = [LoadTester::Drumfire, LoadTester::K6, LoadTester::JMeter];
    let entries = each(&programs, |program| {
        let entry = Contender {
            door: Door::Echo,
            // k6 does not write a line for each message, so our program does not either. JMeter's
            // samples are counted from its file.
            writes_results: program == LoadTester::JMeter,
            ..Contender::new(program, "websocket.jmx")
        };
        match program {
            LoadTester::JMeter => {
                entry.with("search_paths", "@JARS@/jmeter-websocket-samplers.jar")
            }
            _ => entry,
        }
    });
    Scenario {
        least_seconds: 5,
        ..Scenario::new(
            "websocket",
            "messages over WebSocket connections, each waits for its echo; a connection for a thousand",
            entries,
        )
    }
    // More than a third of k6's CPU is spent in the kernel, which no program can avoid.
    .at_most("", Cpu(LoadTester::K6), 0.6)
    .at_most("", Cpu(LoadTester::JMeter), 0.25)
}

fn grpc() -> Scenario {
    let programs = [
        LoadTester::Drumfire,
        LoadTester::H2load,
        LoadTester::Ghz,
        LoadTester::JMeter,
    ];
    let entries = each(&programs, |program| {
        let entry = Contender {
            door: Door::Grpc,
            path: "/compat.Echo/Hello",
            writes_results: program == LoadTester::JMeter,
            ..Contender::new(program, "grpc.jmx")
        };
        match program {
            LoadTester::JMeter => entry
                .with("search_paths", "@JARS@/jmeter-grpc-request.jar")
                .with("text", GRPC_TEXT.repeat(GRPC_TEXTS)),
            _ => entry.with("text", GRPC_TEXT.repeat(GRPC_TEXTS)),
        }
    });
    Scenario {
        // Java's JIT compiler needs some time.
        least_seconds: 10,
        ..Scenario::new(
            "grpc",
            "unary calls with 1 KiB each way, as JSON; h2load sends the same bytes and reads no message",
            entries,
        )
    }
    .at_most("", Cpu(LoadTester::H2load), 1.3)
    .at_most("", Cpu(LoadTester::Ghz), 0.5)
    .at_most("", Cpu(LoadTester::JMeter), 0.25)
}

/// The case in which nobody looks at the events of a stream.
const WHOLE: &str = "as one body";
const EVENTS: &str = "each event timed";

fn events() -> Scenario {
    let asking = |program, case| {
        Contender {
            path: "/events",
            writes_results: false,
            ..Contender::new(program, "requests.jmx")
        }
        .case(case, 10)
        .with("path", "/events")
    };
    let mut entries = vec![
        asking(LoadTester::Drumfire, EVENTS).with("drumfire.stream", "sse"),
        asking(LoadTester::Drumfire, WHOLE),
    ];
    let peers = [LoadTester::Oha, LoadTester::K6, LoadTester::JMeter];
    entries.extend(each(&peers, |program| Contender {
        writes_results: program == LoadTester::JMeter,
        ..asking(program, WHOLE)
    }));
    Scenario {
        least_seconds: 5,
        ..Scenario::new(
            "events",
            "answers of 1,000 server-sent events, 100 bytes each, in 100 KB; the others take them as bodies and know no event",
            entries,
        )
    }
    // 0.5 us an event.
    .at_most(EVENTS, CpuUs, 500.0)
    .at_most(WHOLE, Cpu(LoadTester::Oha), 1.0)
}

fn mqtt() -> Scenario {
    const ONE_CORE: &str = "10 clients, one core";
    const MANY: &str = "2,000 clients";
    let publishing = |program, case, users| {
        let entry = Contender {
            door: Door::Mqtt,
            writes_results: program == LoadTester::JMeter,
            ..Contender::new(program, "mqtt.jmx").case(case, users)
        };
        match program {
            // The plugin's client leaves threads that would keep the process alive.
            LoadTester::JMeter => entry
                .with("search_paths", "@JARS@/mqtt-xmeter.jar")
                .with("jmeterengine.force.system.exit", "true"),
            _ => entry,
        }
    };
    let entries = vec![
        Contender {
            cores: 1,
            ..publishing(LoadTester::Drumfire, ONE_CORE, 10)
        },
        publishing(LoadTester::Drumfire, MANY, 2_000),
        publishing(LoadTester::JMeter, MANY, 2_000),
    ];
    Scenario {
        // Connecting is a part of a round.
        least_seconds: 10,
        ..Scenario::new(
            "mqtt",
            "messages of 100 bytes with QoS 0 to Mosquitto, which nobody has subscribed to",
            entries,
        )
    }
    // 50,000 messages a second on a core.
    .at_most(ONE_CORE, CpuUs, 20.0)
    .at_most(MANY, Cpu(LoadTester::JMeter), 0.25)
    .at_most(MANY, PeakTo(LoadTester::JMeter), 0.1)
}

fn ftp() -> Scenario {
    let programs = [LoadTester::Drumfire, LoadTester::Curl, LoadTester::JMeter];
    let entries = each(&programs, |program| Contender {
        door: Door::Ftp,
        path: "/file",
        writes_results: program == LoadTester::JMeter,
        ..Contender::new(program, "ftp.jmx")
    });
    Scenario {
        // Java's JIT compiler needs some time.
        least_seconds: 10,
        ..Scenario::new(
            "ftp",
            "files of 1 KiB, each with a login and two connections; curl fetches one after the other",
            entries,
        )
    }
    .at_most("", Cpu(LoadTester::Curl), 1.0)
    .at_most("", Cpu(LoadTester::JMeter), 0.25)
}

/// The case of the program that only requests the cart.
const BARE: &str = "one answer of the API";
const API: &str = "API";

fn api() -> Scenario {
    let mut entries = each(&[LoadTester::Drumfire, LoadTester::K6], |program| {
        Contender {
            path: "/store/api/cart",
            writes_results: false,
            ..Contender::new(program, "api.jmx")
                .case(API, 10)
                .secure(Door::Http2Tls)
                .with("drumfire.http.version", 2)
        }
    });
    entries.push(Contender {
        path: "/store/api/cart",
        ..Contender::new(LoadTester::H2load, "api.jmx")
            .case(BARE, 10)
            .secure(Door::Http2Tls)
    });
    Scenario {
        least_seconds: 5,
        ..Scenario::new(
            "http2-api",
            "a JSON API over HTTP/2 and TLS: a JSONPath, a POST with what it found, an assertion; h2load asks for one answer",
            entries,
        )
    }
    .at_most(API, CpuIn(LoadTester::H2load, BARE), 1.5)
    .at_most(API, Cpu(LoadTester::K6), 0.2)
}

fn mails() -> Scenario {
    let programs = [
        LoadTester::Drumfire,
        LoadTester::SmtpSource,
        LoadTester::JMeter,
    ];
    let entries = each(&programs, |program| Contender {
        door: Door::Mail,
        writes_results: program == LoadTester::JMeter,
        ..Contender::new(program, "mails.jmx")
            .with("text", "0123456789abcdef".repeat(MAIL_BYTES / 16))
    });
    Scenario {
        // Java's JIT compiler needs some time.
        least_seconds: 10,
        ..Scenario::new(
            "mails",
            "mails of 1 KiB to an SMTP server, each over a connection of its own; smtp-source sends 20,000",
            entries,
        )
    }
    .at_most("", Cpu(LoadTester::JMeter), 0.5)
}

fn database() -> Scenario {
    const POSTGRES: &str = "PostgreSQL";
    const IN_MEMORY: &str = "H2 in memory, its driver in Java";
    let both = [LoadTester::Drumfire, LoadTester::JMeter];
    let asking = |program, case, driver, url: &str, user, jar: &str| {
        Contender::new(program, "jdbc.jmx")
            .case(case, 10)
            .with("db_driver", driver)
            .with("db_url", url)
            .with("db_user", user)
            .with("user.classpath", format!("@JARS@/{jar}.jar"))
    };
    let mut entries = each(&both, |program| {
        asking(
            program,
            POSTGRES,
            "org.postgresql.Driver",
            "jdbc:postgresql://127.0.0.1:@DB_PORT@/postgres",
            "jm",
            "postgresql",
        )
        .with("db_password", "pw")
    });
    entries.extend(each(&both, |program| {
        asking(
            program,
            IN_MEMORY,
            "org.h2.Driver",
            "jdbc:h2:mem:bench;DB_CLOSE_DELAY=-1",
            "sa",
            "h2",
        )
    }));
    Scenario {
        // Java's JIT compiler needs some time.
        least_seconds: 10,
        ..Scenario::new(
            "jdbc",
            "a select of one row into variables, connections from a pool; JMeter by each database's driver for Java",
            entries,
        )
    }
    .at_most(POSTGRES, Cpu(LoadTester::JMeter), 0.25)
    .at_most(IN_MEMORY, Cpu(LoadTester::JMeter), 1.0)
}

fn ten_requests() -> Scenario {
    let programs = [
        LoadTester::Drumfire,
        LoadTester::Wrk,
        LoadTester::Oha,
        LoadTester::K6,
        LoadTester::JMeter,
    ];
    Scenario {
        least_seconds: 5,
        ..Scenario::new(
            "tls-ten",
            "the server closes each TLS connection after ten requests and resumes none",
            each(&programs, |program| {
                Contender::new(program, "requests.jmx").secure(Door::TenRequests)
            }),
        )
    }
    .at_most("", Cpu(LoadTester::Wrk), 1.25)
    .at_most("", Cpu(LoadTester::K6), 0.5)
    .at_most("", Cpu(LoadTester::JMeter), 0.25)
}
