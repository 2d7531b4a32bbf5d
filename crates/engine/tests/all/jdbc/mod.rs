//! JDBC elements against servers of PostgreSQL and MariaDB, as JMeter 5.6.3 with pgjdbc 42.7.4 and Connector/J 8.4.0 runs them.

#![cfg(feature = "jdbc")]

mod mariadb;

use crate::support::{Ran, group, run_group};
use drumfire_testkit::databases::{MariaDb, Pem, Postgres};

const REFUSED: &str = "Connection to 127.0.0.1:1 refused. Check that the hostname and port are correct and that the postmaster is accepting TCP/IP connections.";

fn element(class: &str, name: &str, texts: &[(&str, &str)], children: &str) -> String {
    let properties: String = texts
        .iter()
        .map(|(name, value)| {
            let value = value.replace('&', "&amp;").replace('<', "&lt;");
            format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
        })
        .collect();
    format!(
        r#"<{class} guiclass="TestBeanGUI" testclass="{class}" testname="{name}">{properties}</{class}><hashTree>{children}</hashTree>"#
    )
}

/// A pool: `name`, then settings as `name=value`.
fn pool(name: &str, port: u16, settings: &[(&str, &str)]) -> String {
    let url = format!("jdbc:postgresql://127.0.0.1:{port}/postgres");
    let mut texts = vec![
        ("dataSource", name),
        ("dbUrl", &url),
        ("driver", "org.postgresql.Driver"),
        ("username", "jm"),
        ("password", "pw"),
        ("poolMax", "0"),
        ("timeout", "10000"),
        ("autocommit", "true"),
        ("transactionIsolation", "DEFAULT"),
    ];
    for (name, value) in settings {
        texts.retain(|(known, _)| known != name);
        texts.push((name, value));
    }
    element("JDBCDataSource", "pool", &texts, "")
}

fn statement(class: &str, kind: &str, query: &str, more: &[(&str, &str)]) -> String {
    let mut texts = vec![("dataSource", "db"), ("queryType", kind), ("query", query)];
    for (name, value) in more {
        texts.retain(|(known, _)| known != name);
        texts.push((name, value));
    }
    element(class, "s", &texts, "")
}

fn select(query: &str, more: &[(&str, &str)]) -> String {
    statement("JDBCSampler", "Select Statement", query, more)
}

fn update(query: &str) -> String {
    statement("JDBCSampler", "Update Statement", query, &[])
}

fn prepared(query: &str, values: &str, types: &str, names: &str) -> String {
    let more = [
        ("queryArguments", values),
        ("queryArgumentsTypes", types),
        ("variableNames", names),
    ];
    statement("JDBCSampler", "Prepared Select Statement", query, &more)
}

fn plain(kind: &str) -> String {
    statement("JDBCSampler", kind, "", &[])
}

fn debug(name: &str) -> String {
    element("DebugSampler", name, &[], "")
}

fn ran(users: u32, body: &str) -> Ran {
    run_group(&group(users, 1, true), body, &[])
}

/// Code, bytes and message of each row, or its label if it is a Debug Sampler's.
fn rows(body: &str) -> Vec<String> {
    let rows = ran(1, body).rows;
    let row = |row: &crate::support::Row| match row["label"].as_str() {
        "s" if row["responseCode"] == "200" => format!("200 {}", row["bytes"]),
        "s" => format!("{}: {}", row["responseCode"], row["responseMessage"]),
        label => label.to_owned(),
    };
    rows.iter().map(row).collect()
}

#[test]
fn statements_results_and_failures() {
    let Some(server) = Postgres::start() else {
        return;
    };
    results(&server);
    failures(&server);
    parameters(&server);
    transactions(&server);
    pools(&server);
    processors(&server);
}

fn results(server: &Postgres) {
    let body = pool("db", server.port, &[])
        + &update(
            "create table t (id int primary key, name varchar(20), v numeric(10,2), b bytea)",
        )
        + &update("insert into t values (1, 'one', 1.50, 'AB'), (2, null, null, null)")
        + &select(
            "select * from t order by id",
            &[("variableNames", "ID,NAME,,B")],
        )
        + &debug("${ID_1} ${ID_2} ${ID_#} ${NAME_1} ${NAME_2} ${B_1}")
        + &select(
            "select id from t order by id",
            &[("variableNames", "ID"), ("resultSetMaxRows", "1")],
        )
        + &debug("${ID_1} ${ID_2} ${ID_#}")
        + &select(
            "select 1.5::float8 a, true b, '2024-01-02 03:04:00'::timestamp c, 0.0000001 d, '1 day'::interval e, '12:00:01.5'::time f",
            &[("variableNames", "A,B,C,D,E,F")],
        )
        + &debug("${A_1} ${B_1} ${C_1} ${D_1} ${E_1} ${F_1}")
        + &update("update t set v = 1; update t set v = 2 where id = 1");
    assert_eq!(
        rows(&body),
        [
            "200 9",
            "200 9",
            "200 43",
            "1 2 2 one ${NAME_2} AB",
            "200 5",
            "1 ${ID_2} 1",
            "200 103",
            "1.5 true 2024-01-02 03:04:00.0 1E-7 0 years 0 mons 1 days 0 hours 0 mins 0.0 secs 12:00:01",
            "200 9"
        ]
    );
}

fn failures(server: &Postgres) {
    let body = pool("db", server.port, &[])
        + &select("select * from nix", &[])
        + &update("insert into t(id) values (1)")
        + &update("select 1")
        + &select("update t set v = 2", &[])
        + &select("select 1; select 2", &[])
        + &select("", &[])
        + &select("copy t to stdout", &[])
        + &select("select pg_sleep(20)", &[("queryTimeout", "1")])
        + &plain("Foo")
        + &select("select 1", &[("dataSource", "nope")])
        + &select("select 1", &[("dataSource", "")]);
    let sql = "org.postgresql.util.PSQLException";
    assert_eq!(
        rows(&body),
        [
            format!("42P01 0: {sql}: ERROR: relation \"nix\" does not exist\n  Position: 15"),
            format!(
                "23505 0: {sql}: ERROR: duplicate key value violates unique constraint \"t_pkey\"\n  Detail: Key (id)=(1) already exists."
            ),
            format!("0100E 0: {sql}: A result was returned when none was expected."),
            format!("02000 0: {sql}: No results were returned by the query."),
            format!("0100E 0: {sql}: Multiple ResultSets were returned by the query."),
            format!("02000 0: {sql}: No results were returned by the query."),
            format!("0A000 0: {sql}: COPY commands are only supported using the CopyManager API."),
            format!("57014 0: {sql}: ERROR: canceling statement due to user request"),
            "000: java.lang.UnsupportedOperationException: Unexpected query type: Foo".to_owned(),
            "null 0: java.sql.SQLException: No pool found named: 'nope', ensure Variable Name matches Variable Name of JDBC Connection Configuration".to_owned(),
            "000: java.lang.IllegalArgumentException: Name for DataSoure must not be empty in s".to_owned(),
        ]
    );
}

fn parameters(server: &Postgres) {
    let seen = "${A_1} ${B_1}";
    let body = pool("db", server.port, &[])
        + &prepared(
            "select ?::int + 1 a, ? b -- ?",
            "5,abc",
            "INTEGER,VARCHAR",
            "A,B",
        )
        + &debug(seen)
        + &prepared(
            "select ? a, ? b",
            r#""x,y",]NULL["#,
            "VARCHAR,INTEGER",
            "A,B",
        )
        + &debug(seen)
        + &prepared("select name a from t where id = ?", "1", "VARCHAR", "")
        + &prepared("select ? a", "x", "INTEGER", "")
        + &prepared("select ? a", "1,2", "INTEGER,INTEGER", "")
        + &prepared("select ?, ?", "1", "INTEGER", "");
    let sql = "org.postgresql.util.PSQLException";
    assert_eq!(
        rows(&body),
        [
            "200 10".to_owned(),
            "6 abc".to_owned(),
            "200 13".to_owned(),
            "x,y ${B_1}".to_owned(),
            format!(
                "42883 0: {sql}: ERROR: operator does not exist: integer = character varying\n  Hint: No operator matches the given name and argument types. You might need to add explicit type casts.\n  Position: 31"
            ),
            "000: java.lang.NumberFormatException: For input string: \"x\"".to_owned(),
            format!("22023 0: {sql}: The column index is out of range: 2, number of columns: 1."),
            format!("22023 0: {sql}: No value specified for parameter 2."),
        ]
    );
    // A statement that is run often gets a name on the server.
    let often = prepared("select ? a", "${__counter(TRUE,)}", "INTEGER", "A") + &debug("${A_1}");
    let body = pool("db", server.port, &[("poolMax", "1")]) + &often;
    let ran = run_group(&group(1, 8, true), &body, &[]);
    let labels: Vec<_> = ran
        .column("label")
        .into_iter()
        .filter(|label| *label != "s")
        .collect();
    assert_eq!(labels, ["1", "2", "3", "4", "5", "6", "7", "8"]);
}

fn transactions(server: &Postgres) {
    let other = |query: &str| {
        select(query, &[("dataSource", "other"), ("variableNames", "N")]) + &debug("${N_1}")
    };
    let body = pool("db", server.port, &[("autocommit", "false")])
        + &pool("other", server.port, &[("poolMax", "1")])
        + &update("create table x (i int)")
        + &plain("Commit")
        + &update("insert into x values (1)")
        + &other("select count(*) from x")
        + &plain("Commit")
        + &other("select count(*) from x")
        + &update("insert into x values (2)")
        + &plain("Rollback")
        + &other("select count(*) from x")
        + &select("selec", &[])
        + &select("select 1", &[])
        + &plain("Rollback")
        + &update("insert into x values (3)")
        + &plain("AutoCommit(true)")
        + &other("select count(*) from x")
        + &statement("JDBCSampler", "Commit", "", &[("dataSource", "other")]);
    let seen = rows(&body);
    let counts: Vec<_> = seen.iter().filter(|row| row.len() == 1).collect();
    assert_eq!(counts, ["0", "1", "1", "2"]);
    let codes: Vec<_> = seen
        .iter()
        .filter(|row| !row.starts_with("200") && row.len() > 1)
        .collect();
    assert_eq!(codes.len(), 3);
    assert!(codes[0].starts_with("42601 0: "));
    assert!(codes[1].starts_with("25P02 0: "));
    assert!(codes[2].ends_with("PSQLException: Cannot commit when autoCommit is enabled."));
}

fn pools(server: &Postgres) {
    let wait = pool("db", server.port, &[("poolMax", "1"), ("timeout", "100")]);
    let body = wait + &select("select pg_sleep(1)", &[]);
    let ran = ran(2, &body);
    let mut messages = ran.column("responseMessage");
    messages.sort_unstable();
    assert_eq!(
        messages,
        [
            "OK",
            "java.sql.SQLException: Cannot get a connection, pool error Timeout waiting for idle object, borrowMaxWaitDuration=PT0.1S"
        ]
    );
    let cannot = "null 0: java.sql.SQLException: Cannot create PoolableConnectionFactory";
    let nobody = pool("db", 1, &[]) + &pool("shared", 1, &[("poolMax", "2")]);
    let wrong = pool("wrong", server.port, &[("password", "no")]);
    let started = pool(
        "started",
        server.port,
        &[("initQuery", "select 1\nselect nix")],
    );
    let levels = pool(
        "level",
        server.port,
        &[("transactionIsolation", "TRANSACTION_SERIALIZABLE")],
    );
    let names = ["db", "shared", "wrong", "started"]
        .map(|name| select("select 1", &[("dataSource", name)]));
    let level = select(
        "show transaction_isolation",
        &[("dataSource", "level"), ("variableNames", "L")],
    );
    let body = nobody + &wrong + &started + &levels + &names.concat() + &level + &debug("${L_1}");
    assert_eq!(
        rows(&body),
        [
            format!("{cannot} ({REFUSED})"),
            format!("{cannot} ({REFUSED})"),
            format!("{cannot} (FATAL: password authentication failed for user \"jm\")"),
            format!("{cannot} (ERROR: column \"nix\" does not exist\n  Position: 8)"),
            "200 35".to_owned(),
            "serializable".to_owned()
        ]
    );
}

fn processors(server: &Postgres) {
    let before = |query: &str, more: &[(&str, &str)]| {
        statement("JDBCPreProcessor", "Select Statement", query, more)
    };
    let after = |query: &str, more: &[(&str, &str)]| {
        statement("JDBCPostProcessor", "Select Statement", query, more)
    };
    let sampler = |name: &str, children: &str| element("DebugSampler", name, &[], children);
    let body = pool("db", server.port, &[])
        + &sampler(
            "a ${A_1} ${B_1}",
            &(before("select 5", &[("variableNames", "A")])
                + &after("select 7", &[("variableNames", "B")])),
        )
        + &sampler("b ${B_1}", "")
        + &sampler("lost", &before("select 1", &[("dataSource", "")]))
        + &sampler("c", &after("selec", &[]));
    assert_eq!(rows(&body), ["a 5 ${B_1}", "b 7", "c"]);
}

#[test]
fn mysql_as_connector_j_speaks_it() {
    let Some(server) = MariaDb::start() else {
        return;
    };
    let url = |port: u16| format!("jdbc:mysql://127.0.0.1:{port}/d");
    let mysql = |name: &str, url: &str, settings: &[(&str, &str)]| {
        let driver = [("dbUrl", url), ("driver", "com.mysql.cj.jdbc.Driver")];
        pool(name, 0, &[&driver[..], settings].concat())
    };
    let own = url(server.port);
    let body = mysql("db", &own, &[])
        + &update(
            "create table t (id int primary key, name varchar(20), f double, ts datetime, tp timestamp null, ok bool, y year, v decimal(10,7), b bit(1))",
        )
        + &update(
            "insert into t values (1, 'one', 1e10, '2024-01-02 03:04:00', '2024-01-02 03:04:05', true, 2024, 0.0000001, b'1'), (2, null, null, null, null, false, null, null, null)",
        )
        + &select(
            "select name, f, ts, tp, ok, y, v, b from t order by id",
            &[("variableNames", "N,F,S,P,O,Y,V,B")],
        )
        + &debug("${N_1} ${F_1} ${S_1} ${P_1} ${O_1} ${O_2} ${Y_1} ${V_1} ${B_1} ${N_2} ${N_#}")
        + &update("update t set name = 'one' where id = 1")
        + &prepared(
            "select ? + 1 s, ? n -- ?",
            "5,a'b\\c",
            "INTEGER,VARCHAR",
            "S,N",
        )
        + &debug("${S_1} ${N_1}")
        + &select("select id from t order by id", &[("resultSetMaxRows", "1")])
        + &select("select * from nix", &[])
        + &select("selec 1", &[])
        + &update("insert into t(id) values (1)")
        + &update("select 1")
        + &update("insert into t(id, name) values (5, '123456789012345678901')")
        + &prepared("select ?", "1,2", "INTEGER,INTEGER", "")
        + &select("select sleep(20)", &[("queryTimeout", "1")])
        + &plain("Commit");
    let body = body + &select("select cast('-01:00:00' as time)", &[]) + &select("select 1", &[]);
    let seen = rows(&body);
    assert!(seen[16].starts_with(
        "S1009 0: java.sql.SQLException: The value '-1:00:00' is an invalid TIME value. "
    ));
    assert_eq!(seen[17], "200 4");
    assert_eq!(
        seen[..16],
        [
            "200 9",
            "200 9",
            "200 139",
            "one 1.0E10 2024-01-02T03:04 2024-01-02 03:04:05.0 true false 2024-01-01 1E-7 true ${N_2} 2",
            "200 9",
            "200 12",
            "6 a'b\\c",
            "200 5",
            "42S02 1146: java.sql.SQLSyntaxErrorException: Table 'd.nix' doesn't exist",
            "S1009 0: java.sql.SQLException: Statement.executeQuery() cannot issue statements that do not produce result sets.",
            "23000 1062: java.sql.SQLIntegrityConstraintViolationException: Duplicate entry '1' for key 'PRIMARY'",
            "01S03 0: java.sql.SQLException: Statement.executeUpdate() or Statement.executeLargeUpdate() cannot issue statements that produce result sets.",
            "22001 1406: com.mysql.cj.jdbc.exceptions.MysqlDataTruncation: Data truncation: Data too long for column 'name' at row 1",
            "S1009 0: java.sql.SQLException: Parameter index out of range (2 > number of parameters, which is 1).",
            "null 0: com.mysql.cj.jdbc.exceptions.MySQLTimeoutException: Statement cancelled due to timeout or client request",
            "null 0: java.sql.SQLException: Can't call commit when autocommit=true",
        ]
    );
    let other = [("dataSource", "other"), ("variableNames", "N")];
    let count = select("select count(*) from t", &other) + &debug("${N_1}");
    let link = "Communications link failure\n\nThe last packet sent successfully to the server was 0 milliseconds ago. The driver has not received any packets from the server.";
    let body = mysql("db", &own, &[("autocommit", "false")])
        + &mysql("other", &own, &[("poolMax", "2")])
        + &mysql("wrong", &own, &[("password", "no")])
        + &mysql("gone", &url(1), &[])
        + &(update("insert into t(id) values (7)") + &plain("Rollback") + &count)
        + &(update("insert into t(id) values (8)") + &plain("Commit") + &count)
        + &select("select 1", &[("dataSource", "wrong")])
        + &select("select 1", &[("dataSource", "gone")]);
    let cannot = "null 0: java.sql.SQLException: Cannot create PoolableConnectionFactory";
    let seen = rows(&body);
    assert_eq!([&*seen[3], &*seen[7]], ["2", "3"]);
    assert!(
        seen[8].starts_with(&format!("{cannot} (Access denied for user 'jm'@'")),
        "{}",
        seen[8]
    );
    assert_eq!(seen[9], format!("{cannot} ({link})"));
}

fn certificate() -> Pem {
    certificate_for("db.test")
}

fn certificate_for(name: &str) -> Pem {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]);
    let made = made.expect("a key can be made");
    Pem {
        chain: made.cert.pem(),
        key: made.signing_key.serialize_pem(),
    }
}

/// pgjdbc encrypts if the server offers it, and goes without if the server refuses the client only then.
#[test]
fn postgresql_is_asked_for_encryption() {
    let Some(server) = Postgres::start_encrypted(&certificate()) else {
        return;
    };
    let at = |name: &str, database: &str, query: &str| {
        let url = format!(
            "jdbc:postgresql://127.0.0.1:{}/{database}{query}",
            server.port
        );
        pool(name, 0, &[("dbUrl", &url)])
    };
    let is_encrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    let of = |name: &str| {
        let columns = [("dataSource", name), ("variableNames", "SSL")];
        select(is_encrypted, &columns) + &debug(&format!("{name} ${{SSL_1}}"))
    };
    let body = at("db", "postgres", "")
        + &update("create database tls")
        + &update("create database plain")
        + &at("preferred", "postgres", "?sslmode=prefer")
        + &of("preferred")
        + &at("disabled", "postgres", "?sslmode=disable")
        + &of("disabled")
        + &at("allowed", "postgres", "?sslmode=allow")
        + &of("allowed")
        + &at("required", "postgres", "?sslmode=require")
        + &of("required")
        + &at("only tls", "tls", "")
        + &of("only tls")
        + &at("allowed tls", "tls", "?sslmode=allow")
        + &of("allowed tls")
        + &at("only plain", "plain", "")
        + &of("only plain");
    let labels: Vec<String> = rows(&body)
        .into_iter()
        .filter(|row| !row.starts_with("200 "))
        .collect();
    assert_eq!(
        labels,
        [
            "preferred true",
            "disabled false",
            "allowed false",
            "required true",
            "only tls true",
            "allowed tls true",
            "only plain false",
        ]
    );
    let body = at("db", "tls", "?sslmode=disable") + &select("select 1", &[]);
    assert_eq!(
        rows(&body),
        [
            "null 0: java.sql.SQLException: Cannot create PoolableConnectionFactory (FATAL: no pg_hba.conf entry for host \"127.0.0.1\", user \"jm\", database \"tls\", no encryption)"
        ]
    );
}

/// Files that settings name as those of the authorities.
struct AuthorityFiles {
    /// It has the server's certificate.
    known: String,
    /// It has another server's.
    other: String,
    empty: String,
    missing: String,
    _folder: tempfile::TempDir,
}

impl AuthorityFiles {
    fn of(server: &Pem) -> AuthorityFiles {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let file = |name: &str, text: &str| {
            std::fs::write(path(name), text).expect("the folder is writable");
            path(name)
        };
        AuthorityFiles {
            known: file("known.pem", &server.chain),
            other: file("other.pem", &certificate_for("localhost").chain),
            empty: file("empty.pem", ""),
            missing: path("missing.pem"),
            _folder: folder,
        }
    }
}

/// A file of authorities for `sslrootcert`; the words are pgjdbc's.
#[test]
fn postgresql_shows_a_certificate() {
    let own = certificate_for("localhost");
    let Some(server) = Postgres::start_encrypted(&own) else {
        return;
    };
    let files = AuthorityFiles::of(&own);
    let AuthorityFiles {
        known,
        other,
        empty,
        missing,
        ..
    } = &files;
    let seen = |host: &str, query: &str| {
        let url = format!("jdbc:postgresql://{host}:{}/postgres?{query}", server.port);
        let body = pool("db", 0, &[("dbUrl", &url)]) + &select("select 1", &[]);
        let row = rows(&body).remove(0);
        let cannot = "null 0: java.sql.SQLException: Cannot create PoolableConnectionFactory ";
        row.strip_prefix(cannot).unwrap_or(&row).to_owned()
    };
    let with = |mode: &str, file: &str| format!("sslmode={mode}&sslrootcert={file}");
    for (host, query) in [
        ("localhost", with("verify-full", known)),
        ("localhost", format!("ssl=true&sslrootcert={known}")),
        ("127.0.0.1", with("verify-ca", known)),
        ("127.0.0.1", with("require", missing)),
        (
            "localhost",
            "ssl=true&sslfactory=org.postgresql.ssl.NonValidatingFactory".to_owned(),
        ),
    ] {
        let row = seen(host, &query);
        assert!(row.starts_with("200 "), "{query}: {row}");
    }
    let name = "(The hostname 127.0.0.1 could not be verified by hostnameverifier PgjdbcHostnameVerifier.)";
    assert_eq!(seen("127.0.0.1", &with("verify-full", known)), name);
    let untrusted = seen("localhost", &with("verify-ca", other));
    assert!(untrusted.starts_with("(SSL error: "), "{untrusted}");
    let absent = format!("(Could not open SSL root certificate file {missing}.)");
    assert_eq!(seen("localhost", &with("verify-ca", missing)), absent);
    let useless = format!("(Loading the SSL root certificate {empty} into a TrustManager failed.)");
    assert_eq!(seen("localhost", &with("verify-full", empty)), useless);
}

/// So does Connector/J; a server without encryption is used without.
#[test]
fn mariadb_is_asked_for_encryption() {
    let Some(server) = MariaDb::start_encrypted(&certificate()) else {
        return;
    };
    let at = |name: &str, query: &str| {
        let url = format!("jdbc:mysql://127.0.0.1:{}/d{query}", server.port);
        let driver = [("dbUrl", &*url), ("driver", "com.mysql.cj.jdbc.Driver")];
        pool(name, 0, &driver)
    };
    let cipher = |name: &str| {
        select(
            "show status like 'Ssl_cipher'",
            &[("dataSource", name), ("variableNames", "N,C")],
        ) + &debug(&format!("{name} ${{C_1}}"))
    };
    let body = at("preferred", "")
        + &cipher("preferred")
        + &at("required", "?sslMode=REQUIRED")
        + &cipher("required");
    let labels: Vec<String> = rows(&body)
        .into_iter()
        .filter(|row| !row.starts_with("200 "))
        .collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert!(labels[0].starts_with("preferred TLS_"), "{labels:?}");
    assert!(labels[1].starts_with("required TLS_"), "{labels:?}");
    let body = at("db", "?useSSL=false") + &select("select 1", &[]);
    let refused = rows(&body);
    assert!(refused[0].contains("Access denied"), "{refused:?}");
    // The system's authorities do not know the certificate.
    for mode in ["VERIFY_CA", "VERIFY_IDENTITY"] {
        let body = at("db", &format!("?sslMode={mode}")) + &select("select 1", &[]);
        let untrusted = rows(&body);
        assert!(
            untrusted[0].contains("Communications link failure"),
            "{mode}: {untrusted:?}"
        );
    }
}
