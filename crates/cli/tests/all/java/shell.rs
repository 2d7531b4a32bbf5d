//! The BeanShell that reads commands while a plan runs.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use drumfire_testkit::ports::free_port;
use drumfire_testkit::program::finish;

use super::{LIMIT, debug_sampler, group, plan, workshop};

/// A port whose next one is free, too.
fn port() -> u16 {
    let mut port = free_port();
    loop {
        let next = free_port();
        if next == port + 1 {
            return port;
        }
        port = next;
    }
}

/// Connects as soon as something listens.
fn connect(port: u16) -> TcpStream {
    let deadline = Instant::now() + LIMIT;
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn commands_change_properties_while_the_plan_runs() {
    let Some(workshop) = workshop() else { return };
    let controller = format!(
        r#"<WhileController guiclass="WhileControllerGui" testclass="WhileController" testname="while"><stringProp name="WhileController.condition">${{__jexl3("${{__P(done,no)}}" != "yes")}}</stringProp></WhileController><hashTree>{}<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="t"><stringProp name="ConstantTimer.delay">20</stringProp></ConstantTimer><hashTree/></hashTree>"#,
        debug_sampler("waits")
    );
    workshop.write("p.jmx", plan(&[group("g", 1, 1, &[controller])]));
    workshop.write("first.bsh", "twice(n) { return 2 * n; }");
    let port = port();
    let shell = format!("-Jbeanshell.server.port={port}");
    let words = ["-n", "-t", "p.jmx", "-l", "r.jtl", "-j", "run.log", "-f"];
    let words: Vec<&str> = words
        .into_iter()
        .chain([shell.as_str(), "-Jbeanshell.server.file=first.bsh"])
        .collect();
    let running = workshop.start(&words);
    let mut stream = connect(port + 1);
    stream.write_all(b"print(twice(21));\n").expect("it reads");
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("42") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("it answers");
        said.extend(byte);
    }
    let done = b"t.setprop(\"done\", \"yes\");\n";
    stream.write_all(done).expect("it reads");
    let finished = finish(running, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(workshop.read("r.jtl").lines().count() > 1, "{finished:?}");
}
