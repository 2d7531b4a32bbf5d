//! JDBC Connection Configuration.

use crate::form::{
    ElementFacts, Language, Property, Role, choice, code, flag, same, secret, section, suggested,
    text, whole,
};

pub const CLASS: &str = "JDBCDataSource";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "JDBC Connection Configuration",
    "TestBeanGUI",
)
.help("Makes a pool of connections to a database.")
.fields(&[POOL])
.sections(&[
    section(
        "Connection Pool Configuration",
        &[
            SIZE,
            MAX_WAIT,
            TRIM_INTERVAL,
            AUTOCOMMIT,
            ISOLATION,
            POOL_PREPARED_STATEMENTS,
            PREINIT,
            INIT_QUERY,
        ],
    ),
    section(
        "Connection Validation by Pool",
        &[TEST_IDLE, MIN_IDLE, CHECK_QUERY],
    ),
    section(
        "Database Connection Configuration",
        &[URL, DRIVER, USERNAME, PASSWORD, CONNECTION_PROPERTIES],
    ),
]);

pub const POOL: Property = text("dataSource")
    .label("Variable Name for created pool")
    .sets()
    .help("Names the pool.");

pub const SIZE: Property = whole("poolMax")
    .label("Max Number of Connections")
    .default("0")
    .help("Limits the number of connections; 0 gives each user its own.");

pub const MAX_WAIT: Property = whole("timeout")
    .label("Max Wait (ms)")
    .default("10000")
    .help("Waits at most this many milliseconds for a connection.");

pub const TRIM_INTERVAL: Property = whole("trimInterval")
    .label("Time Between Eviction Runs (ms)")
    .default("60000")
    .help("Closes idle connections once in so many milliseconds.");

pub const AUTOCOMMIT: Property = flag("autocommit")
    .label("Auto Commit")
    .default("true")
    .help("Commits each statement.");

pub const ISOLATION: Property = choice(
    "transactionIsolation",
    &[
        same("TRANSACTION_NONE"),
        same("TRANSACTION_READ_UNCOMMITTED"),
        same("TRANSACTION_READ_COMMITTED"),
        same("TRANSACTION_SERIALIZABLE"),
        same("DEFAULT"),
        same("TRANSACTION_REPEATABLE_READ"),
    ],
)
.label("Transaction Isolation")
.default("DEFAULT")
.help("Sets the isolation of transactions.");

pub const POOL_PREPARED_STATEMENTS: Property = whole("poolPreparedStatements")
    .label("Pool Prepared Statements")
    .default("-1")
    .help("Keeps this many prepared statements; -1 keeps none.");

pub const PREINIT: Property = flag("preinit")
    .label("Preinit Pool")
    .default("false")
    .help("Opens the connections before the run.");

pub const INIT_QUERY: Property = code("initQuery", Language::Sql)
    .label("Init SQL statements separated by new line")
    .help("Runs these statements on each new connection.");

pub const TEST_IDLE: Property = flag("keepAlive")
    .label("Test While Idle")
    .default("true")
    .help("Checks idle connections.");

pub const MIN_IDLE: Property = whole("connectionAge")
    .label("Soft Min Evictable Idle Time(ms)")
    .default("5000")
    .help("Keeps idle connections for so many milliseconds.");

pub const CHECK_QUERY: Property = suggested(
    "checkQuery",
    &[
        "select 1",
        "select 1 from INFORMATION_SCHEMA.SYSTEM_USERS",
        "select 1 from dual",
        "select 1 from rdb$database",
        "select 1 from sysibm.sysdummy1",
    ],
)
.label("Validation Query")
.help("Checks connections with this statement.");

pub const URL: Property = text("dbUrl")
    .label("Database URL")
    .help("Holds the address of the database.");

pub const DRIVER: Property = suggested(
    "driver",
    &[
        "com.exasol.jdbc.EXADriver",
        "com.ibm.db2.jcc.DB2Driver",
        "com.ingres.jdbc.IngresDriver",
        "com.microsoft.jdbc.sqlserver.SQLServerDriver",
        "com.microsoft.sqlserver.jdbc.SQLServerDriver",
        "com.mysql.jdbc.Driver",
        "net.sourceforge.jtds.jdbc.Driver",
        "oracle.jdbc.OracleDriver",
        "org.apache.derby.jdbc.ClientDriver",
        "org.firebirdsql.jdbc.FBDriver",
        "org.h2.Driver",
        "org.hsqldb.jdbc.JDBCDriver",
        "org.mariadb.jdbc.Driver",
        "org.postgresql.Driver",
        "org.sqlite.JDBC",
    ],
)
.label("JDBC Driver class")
.help("Names the JDBC driver.");

pub const USERNAME: Property = text("username").label("Username").help("Names the user.");

pub const PASSWORD: Property = secret("password")
    .label("Password")
    .help("Holds the password.");

pub const CONNECTION_PROPERTIES: Property = text("connectionProperties")
    .label("Connection Properties")
    .help("Lists settings of the driver, with semicolons between them.");
