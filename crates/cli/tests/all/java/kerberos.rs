//! Kerberos of the HTTP Authorization Manager, with a real key distribution centre where one is installed (MIT's).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_testkit::ports::free_port;
use drumfire_testkit::program::{Finished, LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server, ok, respond};

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
        let port = free_port();
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

/// An Authorization Manager whose only row is for `url`.
fn manager(url: &str, password: &str, clears: bool) -> String {
    let mut manager = format!(
        r#"<AuthManager guiclass="AuthPanel" testclass="AuthManager" testname="login"><boolProp name="AuthManager.clearEachIteration">{clears}</boolProp><collectionProp name="AuthManager.auth_list"><elementProp name="" elementType="Authorization">"#
    );
    for (name, value) in [
        ("url", url),
        ("username", "ann"),
        ("password", password),
        ("mechanism", "KERBEROS"),
    ] {
        let _ = write!(
            manager,
            r#"<stringProp name="Authorization.{name}">{value}</stringProp>"#
        );
    }
    manager.push_str("</elementProp></collectionProp></AuthManager><hashTree/>");
    manager
}

fn request(protocol: &str, host: &str, port: u16) -> String {
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="r"><stringProp name="HTTPSampler.protocol">{protocol}</stringProp><stringProp name="HTTPSampler.domain">{host}</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>"#
    )
}

/// Asks three times per iteration.
fn requests(server: &Server, password: &str, clears: bool) -> Vec<String> {
    let port = server.address().port();
    let manager = manager(&format!("http://localhost:{port}/"), password, clears);
    [vec![manager], vec![request("http", "localhost", port); 3]].concat()
}

/// Runs a plan in which Java finds the centre.
fn run(workshop: &Workshop, groups: &[String], more: &[&str]) -> Finished {
    workshop.write("p.jmx", plan(groups));
    let of = |name: &str, file: &str| format!("-D{name}={}", workshop.path(file).display());
    let configuration = [
        of("java.security.krb5.conf", "krb5.conf"),
        of("java.security.auth.login.config", "jaas.conf"),
        "-Jkerberos.spnego.use_canonical_host_name=false".to_owned(),
    ];
    let words = ["-n", "-t", "p.jmx", "-l", "r.jtl"].into_iter();
    let words = words.chain(configuration.iter().map(String::as_str));
    workshop.run(
        &words.chain(more.iter().copied()).collect::<Vec<_>>(),
        LIMIT,
    )
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
        vec![ResponseStep::Send(match is_ticket {
            true => ok("come in"),
            false => respond("401 No", "WWW-Authenticate: Negotiate\r\n", ""),
        })]
    });
    let groups = [
        group("kept", 2, 2, &requests(&server, "secret", false)),
        group("cleared", 1, 2, &requests(&server, "secret", true)),
        group("wrong", 1, 1, &requests(&server, "other", false)),
    ];
    let finished = run(&workshop, &groups, &[]);
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

/// JMeter 5.6.3, with the same centre and such a proxy, sends two requests in each sample: one that is refused, and one with
/// a ticket for the proxy.
#[test]
fn proxies_are_answered_by_tickets_too() {
    let Some(workshop) = workshop() else { return };
    let Some(centre) = Centre::start(&workshop) else {
        return;
    };
    let proxy = Server::start(|request| {
        let has_ticket = request
            .header("proxy-authorization")
            .is_some_and(|value| value.starts_with("Negotiate YII"));
        vec![ResponseStep::Send(match (has_ticket, &*request.method) {
            (false, _) => respond("407 No", "Proxy-Authenticate: Negotiate\r\n", ""),
            // It lets the ticket pass, but leads nowhere.
            (true, "CONNECT") => respond("502 Nowhere", "", ""),
            (true, _) => ok("come in"),
        })]
    });
    let known = [
        manager("http://shop.test/", "secret", false),
        request("http", "shop.test", 80),
        request("http", "shop.test", 80),
    ];
    let secure = [
        manager("https://shop.test/", "secret", false),
        request("https", "shop.test", 443),
    ];
    let unknown = [
        manager("http://other.test/", "secret", false),
        request("http", "shop.test", 80),
    ];
    let groups = [
        group("known", 1, 1, &known),
        group("secure", 1, 1, &secure),
        group("unknown", 1, 1, &unknown),
    ];
    let port = proxy.address().port().to_string();
    let finished = run(&workshop, &groups, &["-H", "localhost", "-P", &port]);
    let rows = workshop.read("r.jtl");
    let codes = |group: &str| {
        let of_group = rows
            .lines()
            .filter(|row| row.contains(&format!(",{group} ")));
        let codes = of_group.filter_map(|row| row.split(',').nth(3));
        codes.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(codes("known"), ["200", "200"], "{finished:?} {rows}");
    assert_eq!(codes("secure"), ["502"], "{finished:?} {rows}");
    assert_eq!(codes("unknown"), ["407"], "{finished:?} {rows}");
    let sent = |method: &str| {
        let requests = proxy.requests();
        let of_method = requests.iter().filter(|request| request.method == method);
        of_method.count()
    };
    assert_eq!([sent("GET"), sent("CONNECT")], [5, 2]);
    assert_eq!(centre.count("TGS_REQ", "HTTP/localhost"), 2);
}
