//! JDBC elements as JMeter 5.6.3 runs them with MariaDB's driver 3.5.6.

use super::{AuthorityFiles, certificate_for, debug, plain, pool, prepared, rows, select, update};
use drumfire_testkit::databases::MariaDb;

fn mariadb(name: &str, url: &str, settings: &[(&str, &str)]) -> String {
    let driver = [("dbUrl", url), ("driver", "org.mariadb.jdbc.Driver")];
    pool(name, 0, &[&driver[..], settings].concat())
}

/// The rows, with `N` for the numbers of connections. Sizes of failures depend on these, so they are left out.
fn seen(body: &str) -> Vec<String> {
    let unnumbered = |row: String| match row.split_once("(conn=") {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}(conn=N{rest}")
        }
        None => row,
    };
    rows(body).into_iter().map(unnumbered).collect()
}

#[test]
fn statements_results_and_failures() {
    let Some(server) = MariaDb::start() else {
        return;
    };
    let url = format!("jdbc:mariadb://127.0.0.1:{}/d", server.port);
    values(&url);
    failures(&url);
    transactions(&url);
    connections(&url);
}

fn values(url: &str) {
    let body = mariadb("db", url, &[])
        + &update(
            "create table t (id int primary key, name varchar(20), f double, ts datetime, tp timestamp null, ok bool, y year, v decimal(10,7), b bit(1), bl blob, b8 bit(8))",
        )
        + &update(
            "insert into t values (1, 'one', 1e10, '2024-01-02 03:04:00', '2024-01-02 03:04:05', true, 2024, 0.0000001, b'1', 'AB', b'01000001'), (2, null, null, null, null, false, null, null, null, null, null)",
        )
        + &select(
            "select name, f, ts, tp, ok, y, v, b from t order by id",
            &[("variableNames", "N,F,S,P,O,Y,V,B")],
        )
        + &debug("${N_1} ${F_1} ${S_1} ${P_1} ${O_1} ${O_2} ${Y_1} ${V_1} ${B_1} ${N_2} ${N_#}")
        + &select(
            "select cast('-01:00:00' as time) a, cast('100:00:00' as time) b, cast('1:02:03.45' as time(2)) c, timestamp('2024-01-02 03:04:05.123456') d, bl, b8 from t where id = 1",
            &[("variableNames", "A,B,C,D,E,F")],
        )
        + &debug("${A_1} ${B_1} ${C_1} ${D_1} ${E_1} ${F_1}")
        + &prepared(
            "select ? + 1 s, ? n -- ?",
            "5,a'b\\c",
            "INTEGER,VARCHAR",
            "S,N",
        )
        + &debug("${S_1} ${N_1}")
        + &select("select id from t order by id", &[("resultSetMaxRows", "1")]);
    assert_eq!(
        seen(&body),
        [
            "200 9",
            "200 9",
            "200 144",
            "one 1.0E10 2024-01-02 03:04:00.0 2024-01-02 03:04:05.0 true false 2024-01-01 1E-7 true ${N_2} 2",
            "200 73",
            "23:00:00 04:00:00 01:02:03 2024-01-02 03:04:05.123456 AB A",
            "200 12",
            "6 a'b\\c",
            "200 5",
        ]
    );
}

fn failures(url: &str) {
    let body = mariadb("db", url, &[])
        + &select("select * from nix", &[])
        + &select("", &[])
        + &update("insert into t(id) values (1)")
        + &update("select 1")
        + &select("update t set name = 'x' where id = 2", &[])
        + &update("insert into t(id, name) values (5, '123456789012345678901')")
        + &prepared("select ?", "1,2", "INTEGER,INTEGER", "")
        + &prepared("select ?, ?", "1", "INTEGER", "")
        + &select("select sleep(20)", &[("queryTimeout", "1")])
        + &select("call nix()", &[])
        + &select("kill connection_id()", &[]);
    let sql = "java.sql.SQL";
    assert_eq!(
        seen(&body),
        [
            format!("42S02 1146: {sql}SyntaxErrorException: (conn=N) Table 'd.nix' doesn't exist"),
            format!("42000 1065: {sql}SyntaxErrorException: (conn=N) Query was empty"),
            format!(
                "23000 1062: {sql}IntegrityConstraintViolationException: (conn=N) Duplicate entry '1' for key 'PRIMARY'"
            ),
            format!(
                "HY000 -1: {sql}Exception: (conn=N) the given SQL statement produces an unexpected ResultSet object"
            ),
            "200 0".to_owned(),
            format!(
                "22001 1406: {sql}SyntaxErrorException: (conn=N) Data too long for column 'name' at row 1"
            ),
            "200 4".to_owned(),
            format!(
                "07004 -1: {sql}TransientConnectionException: (conn=N) Parameter at position 2 is not set"
            ),
            format!(
                "70100 1969: {sql}TimeoutException: (conn=N) Query execution was interrupted (max_statement_time exceeded)"
            ),
            format!(
                "42000 1305: {sql}SyntaxErrorException: (conn=N) PROCEDURE d.nix does not exist"
            ),
            format!("70100 1927: {sql}TimeoutException: (conn=N) Connection was killed"),
        ]
    );
}

fn transactions(url: &str) {
    let other = [("dataSource", "other"), ("variableNames", "N")];
    let count = select("select count(*) from t", &other) + &debug("${N_1}");
    let body = mariadb("db", url, &[("autocommit", "false")])
        + &mariadb("other", url, &[("poolMax", "2")])
        + &update("insert into t(id) values (7)")
        + &plain("Rollback")
        + &count
        + &update("insert into t(id) values (8)")
        + &plain("Commit")
        + &count
        + &plain("AutoCommit(true)")
        + &plain("Commit")
        + &plain("Rollback");
    assert_eq!(
        seen(&body),
        [
            "200 9", "200 8", "200 11", "2", "200 9", "200 6", "200 11", "3", "200 16", "200 6",
            "200 8"
        ]
    );
}

fn connections(url: &str) {
    let isolated = |level: &'static str| [("transactionIsolation", level)];
    let level = [("dataSource", "level"), ("variableNames", "L")];
    let body = mariadb("level", url, &isolated("TRANSACTION_SERIALIZABLE"))
        + &mariadb("none", url, &isolated("TRANSACTION_NONE"))
        + &mariadb("wrong", url, &[("password", "no")])
        + &mariadb("gone", "jdbc:mariadb://127.0.0.1:1/d", &[])
        + &mariadb("first", url, &[("initQuery", "select nix")])
        + &select("select @@tx_isolation", &level)
        + &debug("${L_1}")
        + &["none", "wrong", "gone", "first"]
            .map(|name| select("select 1", &[("dataSource", name)]))
            .concat();
    let cannot = "null 0: java.sql.SQLException: Cannot create PoolableConnectionFactory";
    assert_eq!(
        seen(&body),
        [
            "200 28".to_owned(),
            "SERIALIZABLE".to_owned(),
            format!("{cannot} (Unsupported transaction isolation level)"),
            // The driver puts `(conn=N)` in front.
            format!("{cannot} (Access denied for user 'jm'@'localhost' (using password: YES))"),
            format!("{cannot} (Socket fail to connect to 127.0.0.1:1. Connection refused)"),
            format!("{cannot} ((conn=N) Unknown column 'nix' in 'SELECT')"),
        ]
    );
}

#[test]
fn certificates_are_verified_as_the_address_says() {
    let certificate = certificate_for("localhost");
    let Some(server) = MariaDb::start_encrypted(&certificate) else {
        return;
    };
    let files = AuthorityFiles::of(&certificate);
    let AuthorityFiles {
        known,
        other,
        missing,
        ..
    } = &files;
    let with = |host: &str, query: &str| {
        let url = format!("jdbc:mariadb://{host}:{}/d?{query}", server.port);
        let cipher = select(
            "show status like 'Ssl_cipher'",
            &[("dataSource", "db"), ("variableNames", "N,C")],
        );
        let seen = seen(&(mariadb("db", &url, &[]) + &cipher + &debug("${C_1}")));
        let cannot = "null 0: java.sql.SQLException: Cannot create PoolableConnectionFactory ";
        seen[0].strip_prefix(cannot).unwrap_or(&seen[1]).to_owned()
    };
    for (host, query) in [
        ("127.0.0.1", "sslMode=trust".to_owned()),
        (
            "127.0.0.1",
            format!("sslMode=verify-ca&serverSslCert={known}"),
        ),
        (
            "localhost",
            format!("sslMode=verify-full&serverSslCert={known}"),
        ),
    ] {
        let cipher = with(host, &query);
        assert!(cipher.starts_with("TLS_"), "{query}: {cipher}");
    }
    let refused = with(
        "127.0.0.1",
        &format!("sslMode=verify-full&serverSslCert={known}"),
    );
    let name = "(SSL hostname verification failed : IPv4 host \"127.0.0.1\" doesn't correspond to certificate";
    assert!(refused.starts_with(name), "{refused}");
    let refused = with(
        "localhost",
        &format!("sslMode=verify-ca&serverSslCert={other}"),
    );
    assert!(
        refused.starts_with("(Self signed certificates. "),
        "{refused}"
    );
    let refused = with(
        "localhost",
        &format!("sslMode=verify-ca&serverSslCert={missing}"),
    );
    assert_eq!(refused, "(Failed load keyStore)");
    let refused = with("127.0.0.1", "sslMode=disable");
    // The server demands encryption.
    assert!(refused.starts_with("(Access denied "), "{refused}");
}
