//! JDBC Connection Configuration (`JDBCDataSource`): a pool of database connections, under the name of a variable.
//!
//! Properties: `dataSource` (the name), `dbUrl`, `driver`, `username`, `password`, `poolMax` (0: each user has a connection of
//! its own), `timeout` (milliseconds that a user waits for a connection), `autocommit`, `transactionIsolation`, `preinit`
//! (connect before the first sample), `initQuery` (a statement per line, for new connections), `keepAlive` with `connectionAge`
//! and `trimInterval` (milliseconds), `connectionProperties`. They are evaluated before the run.
//!
//! Three drivers are native: PostgreSQL's (`org.postgresql.Driver`) behaves as pgjdbc, MySQL's (`com.mysql.cj.jdbc.Driver`) as
//! Connector/J 8, and MariaDB's (`org.mariadb.jdbc.Driver`) as its version 3.5. If one JDBC element of a plan needs Java and the
//! driver's own jar, these run all of them; `drumfire check` names the line that fetches a common one. The reasons are: another
//! database, such as SQL Server, Oracle or SQLite; an address with other settings than those below; connection properties, callable
//! statements, result variables, parameters of rare types, and scripts that use connections or the sampler.
//!
//! | driver | settings of an address, besides user and password |
//! |---|---|
//! | PostgreSQL | `ApplicationName`, `sslmode`, `ssl`, `sslrootcert`, `sslfactory` with pgjdbc's `NonValidatingFactory` |
//! | MySQL | `sslMode`, `useSSL`, `requireSSL`, `verifyServerCertificate`, `characterEncoding=UTF-8`, `allowPublicKeyRetrieval` |
//! | MariaDB | `sslMode`, `serverSslCert` with the path of a file, which `verify-ca` and `verify-full` need here |
//!
//! A connection of PostgreSQL or MySQL is encrypted if the server offers it, and one of MariaDB's driver is not, unless the address
//! says otherwise. A certificate is verified only if the address asks for that. With `sslmode=verify-ca` and `verify-full`, which is
//! what `ssl=true` means, `sslrootcert` names the file with the authorities, by default `.postgresql/root.crt` in the home directory
//! (`%APPDATA%\postgresql\root.crt` on Windows). With MySQL's `sslMode=VERIFY_CA` and `VERIFY_IDENTITY` the authorities are the
//! system's and Mozilla's.
//!
//! Differences: a certificate that names its server only as common name does not fit `verify-full` and `VERIFY_IDENTITY`; client
//! certificates are not sent; failures to connect lack the connection's number, which MariaDB's driver puts in front; the transaction
//! isolation is set once per connection, not at each borrow; idle connections are not tested (`checkQuery`), but replaced after they
//! were idle for longer than both times of `keepAlive`; MySQL and MariaDB accept several statements in one text;
//! statements are prepared whatever `poolPreparedStatements` says.

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
