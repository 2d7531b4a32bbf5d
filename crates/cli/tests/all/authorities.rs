//! Outputs, sources of metrics and downloads over TLS, from servers whose certificates an authority of the test's own vouches for.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use drumfire_testkit::program::{Finished, LIMIT, Workshop};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const PLAN: &str = r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree><TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p"/><hashTree><ThreadGroup guiclass="g" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup><hashTree><DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="a"/><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"#;

/// A server with TLS that answers 404 to whoever asks for jars, and 204 to others.
struct Company {
    port: u16,
    /// Its authority, in PEM.
    authority: String,
    /// The first lines of requests.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Company {
    fn start() -> Company {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key).expect("an authority").pem();
        let issuer = Issuer::new(params, key);
        let own = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("an address");
        let certificate = params.signed_by(&own, &issuer).expect("a certificate");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the versions are known")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivatePkcs8KeyDer::from(own.serialize_der()).into(),
            )
            .expect("the key is that of the certificate");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (noted, config) = (asked.clone(), Arc::new(config));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (noted, config) = (noted.clone(), config.clone());
                std::thread::spawn(move || answer(stream, config, &noted));
            }
        });
        Company {
            port,
            authority,
            asked,
        }
    }

    fn asked(&self) -> String {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.join("\n")
    }
}

/// Answers requests until the client has enough or does not trust the certificate.
fn answer(stream: TcpStream, config: Arc<ServerConfig>, noted: &Mutex<Vec<String>>) {
    let timeout = stream.set_read_timeout(Some(Duration::from_secs(20)));
    timeout.expect("a timeout can be set");
    let connection = ServerConnection::new(config).expect("the configuration is whole");
    let mut stream = StreamOwned::new(connection, stream);
    let (mut read, mut bytes) = (Vec::new(), [0; 4096]);
    while let Ok(count) = stream.read(&mut bytes)
        && count > 0
    {
        read.extend_from_slice(&bytes[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.to_ascii_lowercase();
        let length = length
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if body.len() < length.unwrap_or(0) {
            continue;
        }
        let first = head.lines().next().unwrap_or_default();
        noted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(first.to_owned());
        let status = if first.contains("/jars/") {
            "404 Not Found"
        } else {
            "200 OK"
        };
        let sent = write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        if sent.and_then(|()| stream.flush()).is_err() {
            return;
        }
        stream.conn.send_close_notify();
        let _ = stream.flush();
        return;
    }
}

fn workshop(company: &Company) -> Workshop {
    let home = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    home.write("plan.jmx", PLAN);
    home.write("company.pem", &company.authority);
    home
}

fn run(home: &Workshop, company: &Company, more: &[&str]) -> Finished {
    let out = format!("influxdb=https://127.0.0.1:{}/write?db=x", company.port);
    let watch = format!("node=https://127.0.0.1:{}/metrics", company.port);
    let words = [
        "run",
        "plan.jmx",
        "--progress",
        "quiet",
        "--out",
        &out,
        "--watch",
        &watch,
    ];
    let finished = home.run(&[&words, more].concat(), LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    finished
}

#[test]
fn the_authority_of_a_company_is_trusted_where_it_is_named() {
    let runs: [fn(&Workshop) -> Vec<&'static str>; 2] = [
        |_| vec!["--tls-ca", "company.pem"],
        |home| {
            home.write("drumfire.toml", "[tls]\nca = \"company.pem\"\n");
            vec![]
        },
    ];
    for prepare in runs {
        let company = Company::start();
        let home = workshop(&company);
        let words = prepare(&home);
        let finished = run(&home, &company, &words);
        assert!(finished.err.is_empty(), "{words:?}: {finished:?}");
        let asked = company.asked();
        assert!(
            asked.contains("POST /write?db=x") && asked.contains("GET /metrics"),
            "{asked}"
        );
    }
    let company = Company::start();
    let home = workshop(&company);
    let file = home.path("company.pem");
    let home = home.variable("SSL_CERT_FILE", &file.to_string_lossy());
    let finished = run(&home, &company, &[]);
    assert!(finished.err.is_empty(), "{finished:?}");
}

#[test]
fn a_server_that_no_authority_vouches_for_gets_nothing() {
    let company = Company::start();
    let finished = run(&workshop(&company), &company, &[]);
    assert!(
        finished.err.contains("were not delivered: "),
        "{finished:?}"
    );
    assert!(
        finished
            .err
            .matches("no trusted authority has signed")
            .count()
            >= 2,
        "{finished:?}"
    );
    assert_eq!(company.asked(), "");
}

#[test]
fn jars_come_from_a_company_too() {
    let company = Company::start();
    let home = workshop(&company).variable("JAVA_HOME", "/nowhere");
    let repository = format!(
        "-Jdrumfire.maven.repositories=https://127.0.0.1:{}/jars",
        company.port
    );
    let words = ["jvm", "install", &repository];
    let refused = home.run(&words, LIMIT);
    assert!(company.asked().is_empty(), "{refused:?}");
    let trusted = home.run(&[&words[..], &["--tls-ca", "company.pem"]].concat(), LIMIT);
    assert!(
        company.asked().contains("GET /jars/"),
        "{trusted:?}\n{refused:?}"
    );
    assert!(!trusted.err.contains("no trusted authority"), "{trusted:?}");
}

#[test]
fn a_file_without_certificates_is_refused_before_the_start() {
    let company = Company::start();
    let home = workshop(&company);
    home.write("empty.pem", "");
    for (file, why) in [("empty.pem", "in PEM"), ("missing.pem", "does not exist")] {
        let finished = home.run(&["run", "plan.jmx", "--tls-ca", file], LIMIT);
        assert_eq!(finished.code, Some(2), "{finished:?}");
        assert!(
            finished.err.contains(file) && finished.err.contains(why),
            "{finished:?}"
        );
    }
}
