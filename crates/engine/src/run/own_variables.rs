//! Variables that JMeter sets itself. Here they are not stored among a user's variables.

/// The variable that says how the last sample went (`JMeterThread.LAST_SAMPLE_OK`).
pub const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";
/// `JMeterVariables.VAR_IS_SAME_USER_KEY`.
pub const SAME_USER: &str = "__jmv_SAME_USER";
/// `HTTPHC4Impl.JMETER_VARIABLE_USER_TOKEN`: the user's name, as long as its connections are kept alive.
pub const USER_TOKEN: &str = "__jmeter.U_T__";
/// All of them.
pub const OWN_VARIABLES: [&str; 3] = [LAST_SAMPLE_OK, SAME_USER, USER_TOKEN];
