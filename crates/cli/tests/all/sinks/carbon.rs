//! Graphite's carbon: text and pickle.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use drumfire_testkit::program::{LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server, ok};

use super::stage::{Running, await_number, backend_listener, installed, ports, run, start};
use drumfire_testkit::plans::{http, pause, plan, users};

struct Carbon {
    /// Holds `whisper/`, a file for each series.
    storage: PathBuf,
    text: u16,
    pickle: u16,
    _running: Running,
}

fn start_carbon(workshop: &Workshop) -> Option<Carbon> {
    let carbon = installed("carbon-cache.py")?;
    let folder = workshop.path("graphite");
    for part in ["conf", "storage"] {
        std::fs::create_dir_all(folder.join(part)).expect("there is room");
    }
    let [text, pickle, query] = ports();
    let config = format!(
        "[cache]\nMAX_CREATES_PER_MINUTE = inf\nMAX_UPDATES_PER_SECOND = 50000\nLINE_RECEIVER_INTERFACE = 127.0.0.1\nLINE_RECEIVER_PORT = {text}\nPICKLE_RECEIVER_INTERFACE = 127.0.0.1\nPICKLE_RECEIVER_PORT = {pickle}\nCACHE_QUERY_INTERFACE = 127.0.0.1\nCACHE_QUERY_PORT = {query}\nENABLE_LOGROTATION = False\n"
    );
    std::fs::write(folder.join("conf/carbon.conf"), config).expect("there is room");
    let schemas = "[all]\npattern = .*\nretentions = 1s:1h\n";
    std::fs::write(folder.join("conf/storage-schemas.conf"), schemas).expect("there is room");
    let own = carbon.with_file_name("python");
    let python = if own.is_file() { own } else { "python3".into() };
    let mut command = Command::new(python);
    command
        .arg(&carbon)
        .arg(format!(
            "--config={}",
            folder.join("conf/carbon.conf").display()
        ))
        .args(["--nodaemon", "start"])
        .env("GRAPHITE_ROOT", &folder)
        .env("GRAPHITE_STORAGE_DIR", folder.join("storage"));
    let running = start(&mut command, &folder);
    let deadline = Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(("127.0.0.1", pickle)).is_err() {
        assert!(Instant::now() < deadline, "carbon does not listen");
        std::thread::sleep(Duration::from_millis(100));
    }
    Some(Carbon {
        storage: folder.join("storage"),
        text,
        pickle,
        _running: running,
    })
}

#[test]
#[ignore = "needs carbon-cache.py: cargo xtask sinks"]
fn carbon_takes_graphite_lines() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(carbon) = start_carbon(&workshop) else {
        return;
    };
    let counted = run(&workshop, &[&format!("graphite=127.0.0.1:{}", carbon.text)]);
    let file = carbon.storage.join("whisper/drumfire/all/a/count.wsp");
    let total: f64 = counted.values().map(|counted| counted.samples).sum();
    await_number("all.a.count", total, || whisper_sum(&file));
}

#[test]
#[ignore = "needs carbon-cache.py: cargo xtask sinks"]
fn carbon_takes_a_backend_listeners_pickles() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(carbon) = start_carbon(&workshop) else {
        return;
    };
    let server = Server::start(|_| vec![ResponseStep::Send(ok("fine"))]);
    let client = "org.apache.jmeter.visualizers.backend.graphite";
    let sender = format!("{client}.PickleGraphiteMetricsSender");
    let port = carbon.pickle.to_string();
    let listener = backend_listener(
        &format!("{client}.GraphiteBackendListenerClient"),
        &[
            ("graphiteMetricsSender", sender.as_str()),
            ("graphiteHost", "127.0.0.1"),
            ("graphitePort", &port),
            ("rootMetricsPrefix", "jmeter."),
            ("summaryOnly", "false"),
            ("samplersList", "Home page"),
        ],
    );
    let target = server.address().port().to_string();
    let page = http(
        "Home page",
        &[
            ("domain", "127.0.0.1"),
            ("port", target.as_str()),
            ("path", "/"),
        ],
    );
    workshop.write(
        "p.jmx",
        plan(&users(2, 20, "", &[page, pause(100), listener].concat())),
    );
    let finished = workshop.run(&["run", "p.jmx"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for name in ["all", "Home page"] {
        let folder = name.replace(' ', "-");
        let file = carbon
            .storage
            .join(format!("whisper/jmeter/{folder}/a/count.wsp"));
        await_number(name, 40.0, || whisper_sum(&file));
    }
}

/// The sum of a whisper file's only archive: 16 bytes of head, 12 of each archive's, then points of 12 bytes.
fn whisper_sum(file: &Path) -> f64 {
    let bytes = std::fs::read(file).unwrap_or_default();
    let points = bytes.get(28..).unwrap_or_default().chunks_exact(12);
    points
        .filter(|point| point[..4] != [0; 4])
        .map(|point| f64::from_be_bytes(point[4..].try_into().expect("eight bytes")))
        .sum()
}
