//! Kerberos of the HTTP Authorization Manager, with a real key distribution centre where one is installed (MIT's).

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_testkit::program::{LIMIT, Workshop};
use drumfire_testkit::server::{Server, Step, ok, respond};

use super::{group, plan, workshop};

/// The centre of the realm SHOP.TEST, which knows `ann` with the password `secret`, and the service `HTTP/localhost`.
struct Centre {
    process: Child,
    log: PathBuf,
}

impl Drop for Centre {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Centre {
    fn start(workshop: &Workshop) -> Option<Centre> {
        let programs = ["kdb5_util", "kadmin.local", "krb5kdc"];
        let found = programs.map(|program| Path::new("/usr/sbin").join(program));
        if !found.iter().all(|program| program.exists()) {
            println!("skipped: there is no krb5kdc");
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        configure(workshop, port);
        let [create, administer, serve] = found.map(|program| {
            let mut command = Command::new(program);
            command
                .env("KRB5_CONFIG", workshop.path("krb5.conf"))
                .env("KRB5_KDC_PROFILE", workshop.path("kdc.conf"))
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command
        });
        let mut create = create;
        succeed(create.args(["-r", "SHOP.TEST", "-P", "master", "create", "-s"]));
        for principal in [
            "+requires_preauth -pw secret ann",
            "-randkey HTTP/localhost",
        ] {
            let mut command = Command::new(administer.get_program());
            command.envs(administer.get_envs().filter_map(|(k, v)| Some((k, v?))));
            command.stdout(Stdio::null()).stderr(Stdio::null());
            succeed(command.args(["-q", &format!("addprinc {principal}")]));
        }
        let mut serve = serve;
        let centre = Centre {
            process: serve.arg("-n").spawn().expect("krb5kdc starts"),
            log: workshop.path("kdc.log"),
        };
        let deadline = Instant::now() + LIMIT;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "krb5kdc does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(centre)
    }

    /// How many lines of its log have both texts.
    fn count(&self, request: &str, of: &str) -> usize {
        let log = std::fs::read_to_string(&self.log).expect("it logs");
        let lines = log.lines();
        lines
            .filter(|line| line.contains(request) && line.contains(of))
            .count()
    }
}

fn succeed(command: &mut Command) {
    let status = command.status().expect("it starts");
    assert!(status.success(), "{command:?}");
}

fn configure(workshop: &Workshop, port: u16) {
    let folder = workshop.path("").display().to_string();
    let client = format!(
        "[libdefaults]\ndefault_realm = SHOP.TEST\ndns_lookup_kdc = false\nudp_preference_limit = 1\n\
         [realms]\nSHOP.TEST = {{\n kdc = 127.0.0.1:{port}\n}}\n[domain_realm]\nlocalhost = SHOP.TEST\n"
    );
    workshop.write("krb5.conf", client);
    let centre = format!(
        "[kdcdefaults]\nkdc_listen = 127.0.0.1:{port}\nkdc_tcp_listen = 127.0.0.1:{port}\n\
         [realms]\nSHOP.TEST = {{\n database_name = {folder}/principal\n key_stash_file = {folder}/stash\n}}\n\
         [logging]\nkdc = FILE:{folder}/kdc.log\n"
    );
    workshop.write("kdc.conf", centre);
    let login = "JMeter { com.sun.security.auth.module.Krb5LoginModule required; };\n";
    workshop.write("jaas.conf", login);
}

/// Asks three times per iteration.
fn requests(server: &Server, password: &str, clears: bool) -> Vec<String> {
    let port = server.address().port();
    let mut manager = format!(
        r#"<AuthManager guiclass="AuthPanel" testclass="AuthManager" testname="login"><boolProp name="AuthManager.clearEachIteration">{clears}</boolProp><collectionProp name="AuthManager.auth_list"><elementProp name="" elementType="Authorization">"#
    );
    for (name, value) in [
        ("url", format!("http://localhost:{port}/")),
        ("username", "ann".to_owned()),
        ("password", password.to_owned()),
        ("mechanism", "KERBEROS".to_owned()),
    ] {
        let _ = write!(
            manager,
            r#"<stringProp name="Authorization.{name}">{value}</stringProp>"#
        );
    }
    manager.push_str("</elementProp></collectionProp></AuthManager><hashTree/>");
    let request = format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="r"><stringProp name="HTTPSampler.domain">localhost</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>"#
    );
    [vec![manager], vec![request; 3]].concat()
}

#[test]
fn challenges_are_answered_by_tickets_of_the_centre() {
    let Some(workshop) = workshop() else { return };
    let Some(centre) = Centre::start(&workshop) else {
        return;
    };
    let server = Server::start(|request| {
        // A token of GSS-API, in DER.
        let is_ticket = request
            .header("authorization")
            .is_some_and(|value| value.starts_with("Negotiate YII"));
        vec![Step::Send(match is_ticket {
            true => ok("come in"),
            false => respond("401 No", "WWW-Authenticate: Negotiate\r\n", ""),
        })]
    });
    let groups = [
        group("kept", 2, 2, &requests(&server, "secret", false)),
        group("cleared", 1, 2, &requests(&server, "secret", true)),
        group("wrong", 1, 1, &requests(&server, "other", false)),
    ];
    workshop.write("p.jmx", plan(&groups));
    let of = |name: &str| format!("-D{name}={}", workshop.path("").display());
    let words = [
        "-n",
        "-t",
        "p.jmx",
        "-l",
        "r.jtl",
        "-Jkerberos.spnego.use_canonical_host_name=false",
        &format!("{}/krb5.conf", of("java.security.krb5.conf")),
        &format!("{}/jaas.conf", of("java.security.auth.login.config")),
    ];
    let finished = workshop.run(&words, LIMIT);
    let rows = workshop.read("r.jtl");
    let count = |group: &str, code: &str| {
        let of_group = rows
            .lines()
            .filter(|row| row.contains(&format!("{group} ")));
        of_group
            .filter(|row| row.contains(&format!(",{code},")))
            .count()
    };
    assert_eq!(
        [
            count("kept", "200"),
            count("cleared", "200"),
            count("wrong", "401")
        ],
        [12, 6, 3],
        "{finished:?} {rows}"
    );
    // A login of each user, and one of each iteration that forgets the last.
    assert_eq!(centre.count("AS_REQ", "ISSUE"), 4);
    assert_eq!(centre.count("TGS_REQ", "HTTP/localhost"), 4);
}
