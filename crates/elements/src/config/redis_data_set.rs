//! jp@gc - Redis Data Set.

use crate::form::{
    ElementFacts, Property, Role, Saved, choice, flag, is, secret, section, text, whole,
};
use crate::when::When;

pub const CLASS: &str = "kg.apc.jmeter.config.redis.RedisDataSet";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Data, CLASS, "jp@gc - Redis Data Set", "TestBeanGUI")
        .help("Reads a row of a list or set on a Redis server into variables in each iteration.")
        .sections(&[
            section(
                "Data Configuration",
                &[KEY, VARIABLE_NAMES, DELIMITER, DATA_TYPE, RECYCLE, OLD_MODE],
            ),
            section(
                "Connection Configuration",
                &[HOST, PORT, TIMEOUT, PASSWORD, DATABASE, SSL],
            ),
            section(
                "Pool Configuration",
                &[POOL_MAX_ACTIVE, POOL_MAX_IDLE, POOL_MIN_IDLE, POOL_MAX_WAIT],
            ),
        ])
        .ends_run(When::Always);

pub const KEY: Property = text("redisKey")
    .label("Redis key")
    .help("Names the list or set.");

pub const VARIABLE_NAMES: Property = text("variableNames")
    .label("Variable Names")
    .sets_each(',')
    .help("Names the variables of the values in a row.");

pub const DELIMITER: Property = text("delimiter")
    .label("Delimiter")
    .default(",")
    .help("Divides the values of a row.");

pub const DATA_TYPE: Property = choice(
    "redisDataType",
    &[is("0", "Redis list"), is("1", "Redis set")],
)
.saved(Saved::IntProp)
.label("Data sources type")
.default("0")
.help("Says whether the key is a list or a set.");

pub const RECYCLE: Property = flag("recycleDataOnUse")
    .label("Recycle data on use")
    .default("false")
    .help("Keeps rows that were read.");

pub const OLD_MODE: Property = choice(
    "getMode",
    &[is("0", "RANDOM_REMOVE"), is("1", "RANDOM_KEEP")],
)
.saved(Saved::IntProp)
.label("Get mode")
.help("Said in old plans whether rows are removed or kept.");

pub const HOST: Property = text("host")
    .label("Redis server host")
    .help("Names the server.");

pub const PORT: Property = whole("port")
    .label("Redis server port")
    .default("6379")
    .help("Sets the port.");

pub const TIMEOUT: Property = whole("timeout")
    .label("Timeout for connection in ms")
    .default("2000")
    .help("Limits connecting and answers in milliseconds.");

pub const PASSWORD: Property = secret("password")
    .label("Password for connection")
    .help("Holds the password.");

pub const DATABASE: Property = whole("database")
    .label("Database")
    .default("0")
    .help("Selects the database.");

pub const SSL: Property = flag("ssl")
    .label("SSL")
    .default("false")
    .help("Connects with TLS; the plugin's own class then runs it.");

pub const POOL_MAX_ACTIVE: Property = whole("maxActive")
    .saved(Saved::IntProp)
    .label("maxActive")
    .default("20")
    .help("Sets the size of the plugin's pool.");

pub const POOL_MAX_IDLE: Property = whole("maxIdle")
    .saved(Saved::IntProp)
    .label("maxIdle")
    .default("10")
    .help("Sets how many idle connections the plugin keeps.");

pub const POOL_MIN_IDLE: Property = whole("minIdle")
    .saved(Saved::IntProp)
    .label("minIdle")
    .default("0")
    .help("Sets how many idle connections the plugin makes.");

pub const POOL_MAX_WAIT: Property = whole("maxWait")
    .saved(Saved::LongProp)
    .label("maxWait")
    .default("30000")
    .help("Sets how long the plugin waits for a connection.");
