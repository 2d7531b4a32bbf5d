//! JDBC Connection Configuration (`JDBCDataSource`): a pool of connections to a database, under the name of a variable.
//!
//! Properties: `dataSource` (the name), `dbUrl`, `driver`, `username`, `password`, `poolMax` (0: each user has a connection of
//! its own), `timeout` (milliseconds that a user waits for a connection), `autocommit`, `transactionIsolation`, `preinit` (connect
//! before the first sample), `initQuery` (a statement per line, for new connections), `keepAlive` with `connectionAge` and
//! `trimInterval` (milliseconds), `connectionProperties`. They are read before the run.
//!
//! PostgreSQL (`org.postgresql.Driver`) is spoken natively, as pgjdbc does it, and so are MySQL and MariaDB with
//! `com.mysql.cj.jdbc.Driver`, as Connector/J 8 does it. Java and the driver's own jar run all JDBC elements
//! of a plan where one of them needs them: another database (SQLite too, whose drivers for Java differ in what they throw), an address with settings beyond user, password and application
//! name (for MySQL: user, password, `useSSL=false` and its like, `characterEncoding=UTF-8`), connection properties, callable statements, result variables, parameters of rare types, scripts that use connections.
//!
//! Differences: connections are not encrypted; the transaction isolation is set once for a connection, not with each loan;
//! instead of a test of idle connections (`checkQuery`), those idle for longer than both times of `keepAlive` are replaced;
//! several statements in one text run on MySQL; statements are prepared whatever `poolPreparedStatements` says.

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::java;
use crate::elements::jdbc;

/// The pools themselves are made before anything is decoded, since all elements may use them (`jdbc::choose`).
pub fn decode(d: &mut Decoder) -> Roles {
    match jdbc::runs_here(d.decoding) {
        true => Roles::default(),
        false => java::config(d),
    }
}
