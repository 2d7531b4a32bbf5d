//! JDBC Connection Configuration (`JDBCDataSource`): a pool of database connections, under the name of a variable.
//!
//! Properties: `dataSource` (the name), `dbUrl`, `driver`, `username`, `password`, `poolMax` (0: each user has a connection of
//! its own), `timeout` (milliseconds that a user waits for a connection), `autocommit`, `transactionIsolation`, `preinit`
//! (connect before the first sample), `initQuery` (a statement per line, for new connections), `keepAlive` with `connectionAge`
//! and `trimInterval` (milliseconds), `connectionProperties`. They are evaluated before the run.
//!
//! PostgreSQL (`org.postgresql.Driver`) is native and behaves as pgjdbc; MySQL and MariaDB (`com.mysql.cj.jdbc.Driver`) are
//! native and behave as Connector/J 8. If one JDBC element of a plan needs Java and the driver's own jar, these run all of them.
//! The reasons are: another database (SQLite too, whose Java drivers differ in the exceptions they throw), an address with
//! settings beyond user, password, application name, `sslmode`, `ssl`, `sslrootcert` and `sslfactory` with pgjdbc's
//! `NonValidatingFactory` (for MySQL: user, password, `sslMode` without `VERIFY_CA`, `useSSL`, `requireSSL`,
//! `characterEncoding=UTF-8`), connection properties, callable statements, result variables, parameters of rare types, and
//! scripts that use connections or the sampler.
//!
//! As with the drivers, a connection is encrypted if the server offers it, unless the address says otherwise. A certificate is
//! verified only if the address asks for that. With `sslmode=verify-ca` and `verify-full`, which is what `ssl=true` means,
//! `sslrootcert` names the file with the authorities, by default `.postgresql/root.crt` in the home directory
//! (`%APPDATA%\postgresql\root.crt` on Windows). With `sslMode=VERIFY_IDENTITY` the authorities are the system's and Mozilla's.
//!
//! Differences: a certificate that names its server only as common name does not fit `verify-full`; client certificates are not
//! sent; the transaction isolation is set once per connection, not at each borrow; idle
//! connections are not tested (`checkQuery`), but replaced after they were idle for longer than both times of `keepAlive`; MySQL
//! accepts several statements in one text; statements are prepared whatever `poolPreparedStatements` says.

use drumfire_elements::config::jdbc_connection as facts;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::java;
use crate::elements::jdbc;

/// `jdbc::choose` makes the pools before it decodes anything, since all elements may use them.
pub fn decode(d: &mut Decoder) -> Roles {
    if drumfire_java::text::is_blank(&d.text_now(facts::POOL.name)) {
        let message = format!(
            "JDBC Connection Configuration '{}' has no variable name for its pool",
            d.element.name
        );
        d.refuse(
            "jdbc-name-missing",
            message,
            "JMeter does not start such a plan: name the pool as the JDBC Requests do, or disable the element",
        );
    }
    if jdbc::runs_here(d.decoding) {
        Roles::default()
    } else {
        java::config(d)
    }
}
