//! The MongoDB samplers by their own classes, against a server that knows as much of the wire protocol as a script needs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::{group, plan, run, workshop};

/// Scripts that arrived.
type Scripts = Arc<Mutex<Vec<String>>>;

/// A BSON document of these elements.
fn document(elements: &[Vec<u8>]) -> Vec<u8> {
    let inside = elements.concat();
    let length = inside.len() as i32 + 5;
    [&length.to_le_bytes()[..], &inside, &[0]].concat()
}

fn element(kind: u8, name: &str, value: &[u8]) -> Vec<u8> {
    [&[kind], name.as_bytes(), &[0], value].concat()
}

fn number(name: &str, value: f64) -> Vec<u8> {
    element(1, name, &value.to_le_bytes())
}

fn text(name: &str, value: &str) -> Vec<u8> {
    let length = value.len() as i32 + 1;
    let value = [&length.to_le_bytes()[..], value.as_bytes(), &[0]].concat();
    element(2, name, &value)
}

/// The script of a command `$eval`, whose first element it is.
fn script_of(command: &[u8]) -> Option<String> {
    let rest = command.get(4..)?.strip_prefix(b"\x02$eval\0")?;
    let length = i32::from_le_bytes(rest.get(..4)?.try_into().ok()?) as usize;
    Some(String::from_utf8_lossy(rest.get(4..4 + length - 1)?).into_owned())
}

/// The server's reply to a command: to a script it gives back a number, a document, an error or the script itself.
fn reply(command: &[u8], scripts: &Scripts) -> Vec<u8> {
    let Some(script) = script_of(command) else {
        // The driver asks who is the master, and how large a document may be.
        return document(&[element(8, "ismaster", &[1]), number("ok", 1.0)]);
    };
    let mut seen = scripts.lock().unwrap_or_else(PoisonError::into_inner);
    seen.push(script.clone());
    if script.starts_with("throw") {
        return document(&[text("errmsg", "it was thrown"), number("ok", 0.0)]);
    }
    let value = match &*script {
        "return 2" => number("retval", 2.0),
        "return {a: 1}" => element(3, "retval", &document(&[number("a", 1.0)])),
        other => text("retval", other),
    };
    document(&[value, number("ok", 1.0)])
}

/// Answers queries of the old protocol (OP_QUERY by OP_REPLY) until the client goes.
fn serve(mut stream: TcpStream, scripts: &Scripts) -> std::io::Result<()> {
    const REPLY: i32 = 1;
    loop {
        let mut head = [0; 16];
        stream.read_exact(&mut head)?;
        let field = |at: usize| i32::from_le_bytes(head[at..at + 4].try_into().expect("four"));
        let mut body = vec![0; field(0) as usize - head.len()];
        stream.read_exact(&mut body)?;
        // Flags, the collection's name, how many to skip and to return; then the command.
        let name = body[4..].iter().position(|byte| *byte == 0).unwrap_or(0);
        let answer = reply(&body[4 + name + 1 + 8..], scripts);
        let length = (head.len() + 20 + answer.len()) as i32;
        let mut message = Vec::new();
        for number in [length, 0, field(4), REPLY, 0, 0, 0, 0, 1] {
            message.extend(number.to_le_bytes());
        }
        message.extend(answer);
        stream.write_all(&message)?;
    }
}

fn server() -> (u16, Scripts) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let scripts = Scripts::default();
    let seen = scripts.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = seen.clone();
            std::thread::spawn(move || serve(stream, &seen));
        }
    });
    (port, scripts)
}

/// The jars of the samplers and the driver, which JMeter leaves out; none where Maven's local repository lacks them.
fn jars() -> Option<String> {
    let repository = std::env::home_dir()?.join(".m2/repository");
    let jars: [PathBuf; 2] = [
        "org/apache/jmeter/ApacheJMeter_mongodb/5.6.3/ApacheJMeter_mongodb-5.6.3.jar",
        "org/mongodb/mongo-java-driver/2.11.3/mongo-java-driver-2.11.3.jar",
    ]
    .map(|jar| repository.join(jar));
    if !jars.iter().all(|jar| jar.is_file()) {
        println!("skipped: Maven's local repository has no MongoDB jars");
        return None;
    }
    std::env::join_paths(jars).ok()?.into_string().ok()
}

fn bean(class: &str, name: &str, properties: &[(&str, &str)]) -> String {
    let properties: String = properties
        .iter()
        .map(|(name, value)| format!(r#"<stringProp name="{name}">{value}</stringProp>"#))
        .collect();
    format!(
        r#"<{class} guiclass="TestBeanGUI" testclass="{class}" testname="{name}">{properties}</{class}><hashTree/>"#
    )
}

#[test]
fn scripts_run_in_the_database() {
    let (Some(workshop), Some(jars)) = (workshop(), jars()) else {
        return;
    };
    let (port, scripts) = server();
    let connection = format!("127.0.0.1:{port}");
    let source = bean(
        "MongoSourceElement",
        "source",
        &[
            ("connection", &connection),
            ("source", "db"),
            ("connectionsPerHost", "5"),
            ("threadsAllowedToBlockForConnectionMultiplier", "5"),
            ("maxWaitTime", "60000"),
        ],
    );
    let sampler = |script: &str| {
        let settings = [("source", "db"), ("database", "shop"), ("script", script)];
        bean("MongoScriptSampler", script, &settings)
    };
    let children = [
        source,
        sampler("return '${__threadNum}'"),
        sampler("return 2"),
        sampler("return {a: 1}"),
        sampler("throw 'it'"),
    ];
    let finished = run(
        &workshop,
        &plan(&[group("g", 1, 2, &children)]),
        &[
            &format!("-Juser.classpath={jars}"),
            "-Jjmeter.save.saveservice.response_data=true",
            "-Jjmeter.save.saveservice.output_format=xml",
        ],
    );
    assert_eq!(finished.code, Some(0), "{finished:?}");
    // As JMeter 5.6.3 with the same jars and the same server.
    let results = workshop.read("r.jtl");
    let field = |row: &str, name: &str| {
        let value = row.split_once(&format!(" {name}=\""))?.1;
        Some(value.split('"').next()?.to_owned())
    };
    let told: Vec<[String; 3]> = results
        .split("<sample ")
        .skip(1)
        .map(|row| {
            let body = row.split_once("java.lang.String\">").map(|(_, rest)| rest);
            let body = body.and_then(|rest| rest.split("</").next());
            [
                field(row, "rc").unwrap_or_default(),
                field(row, "rm").unwrap_or_default(),
                body.unwrap_or_default().to_owned(),
            ]
        })
        .collect();
    let thrown = format!(
        "{{ &quot;serverUsed&quot; : &quot;/{connection}&quot; , &quot;errmsg&quot; : &quot;it was thrown&quot; , &quot;ok&quot; : 0.0}}"
    );
    let failure = format!("com.mongodb.CommandFailureException: {thrown}");
    let expected = [
        ["200", "OK", "return &apos;1&apos;"],
        ["200", "OK", "2.0"],
        ["200", "OK", "{ &quot;a&quot; : 1.0}"],
        ["500", &failure, &thrown],
    ];
    assert_eq!(told, [expected, expected].concat());
    let seen = scripts.lock().unwrap_or_else(PoisonError::into_inner);
    let sent = ["return '1'", "return 2", "return {a: 1}", "throw 'it'"];
    assert_eq!(*seen, [sent, sent].concat());
}
