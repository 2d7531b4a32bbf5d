//! Where the drivers of databases come from.

/// Classes of drivers, and the Maven artifacts that have them.
const ARTIFACTS: &[(&str, &str)] = &[
    ("com.ibm.db2.jcc.DB2Driver", "com.ibm.db2:jcc:11.5.9.0"),
    (
        "com.microsoft.sqlserver.jdbc.SQLServerDriver",
        "com.microsoft.sqlserver:mssql-jdbc:12.8.1.jre11",
    ),
    (
        "com.mysql.cj.jdbc.Driver",
        "com.mysql:mysql-connector-j:9.1.0",
    ),
    ("com.mysql.jdbc.Driver", "com.mysql:mysql-connector-j:9.1.0"),
    (
        "oracle.jdbc.OracleDriver",
        "com.oracle.database.jdbc:ojdbc11:23.5.0.24.07",
    ),
    ("org.h2.Driver", "com.h2database:h2:2.2.224"),
    (
        "org.mariadb.jdbc.Driver",
        "org.mariadb.jdbc:mariadb-java-client:3.5.6",
    ),
    ("org.postgresql.Driver", "org.postgresql:postgresql:42.7.4"),
    ("org.sqlite.JDBC", "org.xerial:sqlite-jdbc:3.47.0.0"),
];

/// The artifact of a driver, if it is a common one.
fn artifact(driver: &str) -> Option<&'static str> {
    let found = ARTIFACTS.iter().find(|(class, _)| *class == driver);
    found.map(|(_, artifact)| *artifact)
}

/// Why a connection needs Java, and how the user gets the driver.
pub fn needs_driver(url: &str, driver: &str) -> String {
    let get = match artifact(driver) {
        Some(artifact) => {
            format!("fetch it with `drumfire jvm install -Jdrumfire.jvm.dependencies={artifact}`")
        }
        None => "put its jar on the plan's class path".to_owned(),
    };
    format!("{url} with {driver} needs the JDBC driver: {get}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_driver_has_its_line() {
        let url = "jdbc:sqlserver://db;databaseName=shop";
        let why = needs_driver(url, "com.microsoft.sqlserver.jdbc.SQLServerDriver");
        let line = "`drumfire jvm install -Jdrumfire.jvm.dependencies=com.microsoft.sqlserver:mssql-jdbc:12.8.1.jre11`";
        assert!(why.ends_with(line), "{why}");
        let why = needs_driver("jdbc:rare:x", "com.example.Driver");
        assert!(
            why.ends_with("put its jar on the plan's class path"),
            "{why}"
        );
    }
}
