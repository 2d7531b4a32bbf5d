//! Plans to start from, for `drumfire new` and the editor: own ones, and those of the kinds that JMeter's templates have.

mod kinds;
mod own;

use std::collections::BTreeMap;

use drumfire_jmx::{Node, Tree};

use crate::elements;

/// A template: its name, its purpose, and a data file for the plan.
pub struct Template {
    /// The name that `drumfire new` takes.
    pub name: &'static str,
    /// Its purpose, in a line.
    pub about: &'static str,
    /// JMeter's name for a template of the same kind; empty if it has none.
    pub like: &'static str,
    /// Its parameters.
    pub parameters: &'static [TemplateParameter],
    /// The content of the data file beside the plan.
    pub data: Option<&'static str>,
    /// The server that a trial run needs and `--demo` does not have; empty if there is none.
    pub needs: &'static str,
    /// The options for a first trial run of the plan.
    pub first_run: &'static str,
    make: Make,
}

/// A value that can be given to a template.
#[derive(Debug, Clone, Copy)]
pub struct TemplateParameter {
    /// Its name.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// The value if none is given.
    pub default: &'static str,
}

/// How a template is made: a plan, or elements that go into one.
#[derive(Clone, Copy)]
enum Make {
    Plan(fn(&Values<'_>) -> Tree),
    Part(fn(&Values<'_>) -> Vec<Node>),
}

/// The values that the user gives to the parameters of a template.
struct Values<'v> {
    parameters: &'static [TemplateParameter],
    given: &'v BTreeMap<String, String>,
    /// The name of the data file.
    data_file: &'v str,
}

impl Values<'_> {
    /// The value of a parameter.
    fn get(&self, name: &str) -> &str {
        let parameter = self.parameters.iter().find(|one| one.name == name);
        let default = parameter.map(|one| one.default).unwrap_or("");
        self.given.get(name).map(String::as_str).unwrap_or(default)
    }

    /// The value of a parameter as the default of the property with its name. A value that would need escapes stands alone.
    fn property(&self, name: &str) -> String {
        let value = self.get(name);
        if value.contains([',', '\\', '$', '(', ')', '{', '}']) {
            value.to_owned()
        } else {
            format!("${{__P({name},{value})}}")
        }
    }
}

impl Template {
    /// Whether it is not a plan but elements that go into one.
    pub fn is_part(&self) -> bool {
        matches!(self.make, Make::Part(_))
    }

    /// The first of the names that none of its parameters has.
    pub fn unknown<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Option<&'n str> {
        let mut names = names.into_iter();
        let is_known = |name: &str| self.parameters.iter().any(|one| one.name == name);
        names.find(|name| !is_known(name)).map(String::as_str)
    }

    /// The plan. `data_file` is the name under which the data is saved. Elements stand in a thread group of one user.
    pub fn tree(&self, data_file: &str, given: &BTreeMap<String, String>) -> Tree {
        match self.make {
            Make::Plan(make) => make(&self.values(data_file, given)),
            Make::Part(make) => {
                let group = elements::thread_group("Users", "1", "1", "1", "");
                let within = make(&self.values(data_file, given));
                let plan = elements::test_plan("Plan", "", &[]);
                Tree::new(plan.above([group.above(within)]))
            }
        }
    }

    /// The elements that go into a plan; `None` if it is a plan.
    pub fn elements(&self, given: &BTreeMap<String, String>) -> Option<Vec<Node>> {
        match self.make {
            Make::Plan(_) => None,
            Make::Part(make) => Some(make(&self.values("", given))),
        }
    }

    fn values<'v>(&self, data_file: &'v str, given: &'v BTreeMap<String, String>) -> Values<'v> {
        Values {
            parameters: self.parameters,
            given,
            data_file,
        }
    }
}

const fn takes(
    name: &'static str,
    default: &'static str,
    about: &'static str,
) -> TemplateParameter {
    TemplateParameter {
        name,
        about,
        default,
    }
}

/// The server of a plan whose first run goes to the demo site.
const SERVER: [TemplateParameter; 3] = [
    takes(
        "host",
        "",
        "Host of the site; the demo site's if it is empty",
    ),
    takes("port", "", "Port; that of the scheme if it is empty"),
    takes("scheme", "http", "`http` or `https`"),
];
const DATABASE: [TemplateParameter; 5] = [
    takes(
        "db.url",
        "jdbc:postgresql://127.0.0.1:5432/postgres",
        "JDBC URL of the database",
    ),
    takes("db.user", "postgres", "User of the database"),
    takes("db.password", "", "Password"),
    takes(
        "driver",
        "org.postgresql.Driver",
        "Class of the JDBC driver",
    ),
    takes("query", "select 1", "Query"),
];

const fn plan(
    name: &'static str,
    like: &'static str,
    about: &'static str,
    parameters: &'static [TemplateParameter],
    make: Make,
) -> Template {
    Template {
        name,
        about,
        like,
        parameters,
        data: None,
        needs: "",
        first_run: "",
        make,
    }
}

impl Template {
    /// The options of a first trial run.
    const fn tried_with(mut self, options: &'static str) -> Template {
        self.first_run = options;
        self
    }

    /// The server or program that a trial run needs.
    const fn needs(mut self, what: &'static str) -> Template {
        self.needs = what;
        self
    }

    const fn with_data(mut self, data: &'static str) -> Template {
        self.data = Some(data);
        self
    }
}

/// The users of the demo site.
const ACCOUNTS: &str = "user,password\nann,secret\nbob,secret\n";

/// All templates: plans, then elements that go into plans.
pub static TEMPLATES: [Template; 22] = [
    plan("http", "Building a Web Test Plan", "Users who open two pages and think between them", &SERVER, Make::Plan(own::http))
        .tried_with("--demo"),
    plan("login-csv", "", "Users from a CSV file who log in with the token of the form", &SERVER, Make::Plan(own::login))
        .with_data(ACCOUNTS)
        .tried_with("--demo"),
    plan(
        "open-model",
        "",
        "Requests at a rate, however long the answers take",
        &[SERVER[0], SERVER[1], SERVER[2], takes("rate", "20", "Requests a second")],
        Make::Plan(own::open_model),
    )
    .tried_with("--demo"),
    plan(
        "sse",
        "",
        "Users who read server-sent events or another stream, and time its events",
        &[
            SERVER[0],
            SERVER[1],
            SERVER[2],
            takes("path", "/stream", "Path of the stream"),
            takes("form", "sse", "`sse`, `ndjson`, `chunks` or `openai`"),
            takes("events", "0", "Events after which a sample ends; 0 waits for the server"),
        ],
        Make::Plan(own::sse),
    )
    .tried_with("--demo"),
    plan(
        "websocket",
        "",
        "Messages over a WebSocket connection",
        &[takes("host", "127.0.0.1", "Host"), takes("port", "80", "Port"), takes("path", "/", "Path")],
        Make::Plan(own::websocket),
    )
    .needs("a WebSocket server at ws://127.0.0.1:8080/socket")
    .tried_with("-Jhost=127.0.0.1 -Jport=8080 -Jpath=/socket"),
    plan(
        "grpc",
        "",
        "Calls of a gRPC service",
        &[
            takes("host", "", "Host of the service; the demo site's if it is empty"),
            takes("port", "", "Port; the demo site's if it is empty"),
            takes("protos", "", "Folder of the `.proto` files; the server is asked for them if it is empty"),
            takes("method", "drumfire.demo.Greeter/Hello", "Method"),
            takes("request", "{\"name\": \"Ann\"}", "Request as JSON"),
        ],
        Make::Plan(own::grpc),
    )
    .tried_with("--demo"),
    plan(
        "mqtt",
        "",
        "Messages over MQTT, with their latency",
        &[
            takes("host", "127.0.0.1", "Host of the broker"),
            takes("port", "1883", "Port"),
            takes("topic", "drumfire", "First level of the topics"),
            takes("message", "{\"temperature\": 21.5}", "Message"),
        ],
        Make::Plan(own::mqtt),
    )
    .needs("an MQTT broker at 127.0.0.1:1883")
    .tried_with("-Jhost=127.0.0.1 -Jport=1883"),
    plan(
        "smtp",
        "",
        "Mails to an SMTP server",
        &[
            takes("host", "127.0.0.1", "Host of the server"),
            takes("port", "25", "Port"),
            takes("from", "load@example.com", "Sender"),
            takes("to", "user${__threadNum}@example.com", "Receivers, with semicolons between them"),
            takes("subject", "Load test", "Subject"),
            takes("message", "Hello from user ${__threadNum}", "Text of the mail"),
        ],
        Make::Plan(own::smtp),
    )
    .needs("an SMTP server at 127.0.0.1:25")
    .tried_with("-Jhost=127.0.0.1 -Jport=25"),
    plan("jdbc", "JDBC Load Test", "Queries to a database", &DATABASE, Make::Plan(own::jdbc))
        .needs("a PostgreSQL server at 127.0.0.1:5432, which user `postgres` may enter without a password")
        .tried_with("-Jdb.url=jdbc:postgresql://127.0.0.1:5432/postgres -Jdb.user=postgres"),
    plan(
        "shop",
        "Building an Advanced Web Test Plan",
        "Users who open a random product, put it into the cart and log in, with think times and assertions",
        &SERVER,
        Make::Plan(kinds::shop),
    )
    .with_data(ACCOUNTS)
    .tried_with("--demo"),
    plan(
        "functional",
        "Functional Testing Test Plan [01]",
        "One user who goes once through an API and checks every answer",
        &SERVER,
        Make::Plan(kinds::functional),
    )
    .tried_with("--demo"),
    plan(
        "request",
        "Simple HTTP request",
        "One request with a body",
        &[
            takes("url", "http://127.0.0.1:8080/echo", "URL"),
            takes("method", "POST", "Method"),
            takes("content-type", "application/json", "`Content-Type` of the body"),
            takes("body", "{}", "Body"),
        ],
        Make::Plan(kinds::request),
    )
    .needs("a server at the URL"),
    plan(
        "soap",
        "Building a SOAP WebService Test Plan",
        "Calls of a SOAP web service with an assertion on the answer",
        &[
            takes("url", "http://127.0.0.1:8080/service", "URL of the service"),
            takes("action", "urn:quote", "`SOAPAction`"),
            takes("namespace", "urn:example:quotes", "Namespace of the operation"),
            takes("operation", "GetQuote", "Operation"),
        ],
        Make::Plan(kinds::soap),
    )
    .needs("a web service at the URL"),
    plan(
        "recording",
        "Recording",
        "A recorder for the browser, and the thread group that it records into",
        &RECORDER,
        Make::Plan(kinds::recording),
    )
    .needs("a recording first: `drumfire record --like PLAN.jmx -o RECORDED.jmx`"),
    plan(
        "recording-think-time",
        "Recording with Think Time",
        "The same, where the replay pauses as long as the user did",
        &RECORDER,
        Make::Plan(kinds::recording_with_pauses),
    )
    .needs("a recording first: `drumfire record --like PLAN.jmx -o RECORDED.jmx`"),
    plan(
        "ftp",
        "Building an FTP Test Plan",
        "Files that are stored on an FTP server and fetched from there",
        &[
            takes("host", "127.0.0.1", "FTP server"),
            takes("port", "21", "Port"),
            takes("user", "anonymous", "User"),
            takes("password", "guest", "Password"),
            takes("folder", "", "Folder of the stored files, with a slash behind it"),
            takes("file", "", "File to fetch; the stored one if it is empty"),
        ],
        Make::Plan(kinds::ftp),
    )
    .needs("an FTP server at 127.0.0.1:2121")
    .tried_with("-Jhost=127.0.0.1 -Jport=2121"),
    plan("ldap", "Building an LDAP Test Plan", "Entries that are added, found, changed and deleted", &DIRECTORY, Make::Plan(kinds::ldap))
        .needs("Java, and an LDAP server at the host"),
    plan(
        "ldap-extended",
        "Building an Extended LDAP Test Plan",
        "The same over one connection that each user binds, with a comparison and a new name",
        &DIRECTORY,
        Make::Plan(kinds::ldap_extended),
    )
    .needs("Java, and an LDAP server at the host"),
    plan(
        "mongodb",
        "MongoDB Load Test",
        "Documents that a Groovy script inserts and counts",
        &[
            takes("url", "mongodb://127.0.0.1:27017", "URL of the server"),
            takes("database", "test", "Database"),
            takes("collection", "visits", "Collection"),
        ],
        Make::Plan(kinds::mongodb),
    )
    .needs("Java with MongoDB's driver, and a server at the URL"),
    plan(
        "think-time",
        "Think Time at a point",
        "A pause between two samplers",
        &[takes("shortest", "900", "Shortest pause in milliseconds"), takes("more", "200", "How much longer it may be")],
        Make::Part(kinds::think_time),
    ),
    plan("groovy", "JSR223 Sampler using Groovy", "A sampler that a Groovy script makes", &[], Make::Part(kinds::groovy))
        .needs("Java, which runs the script"),
    plan("beanshell", "BeanShell Sampler", "A sampler that a BeanShell script makes", &[], Make::Part(kinds::beanshell))
        .needs("Java, which runs the script"),
];

const RECORDER: [TemplateParameter; 4] = [
    takes("host", "www.example.com", "Host that is recorded"),
    takes("scheme", "https", "`http` or `https`"),
    takes("port", "8888", "Port of the recorder"),
    takes(
        "file",
        "recording.xml",
        "File for the requests and responses",
    ),
];
const DIRECTORY: [TemplateParameter; 5] = [
    takes("host", "127.0.0.1", "LDAP server"),
    takes("port", "389", "Port"),
    takes("root", "dc=example,dc=com", "Root of the entries"),
    takes(
        "user",
        "cn=admin,dc=example,dc=com",
        "Name of the user who may write",
    ),
    takes("password", "", "Password"),
];

/// The template of this name, or of JMeter's name for its kind.
pub fn named(name: &str) -> Option<&'static Template> {
    TEMPLATES
        .iter()
        .find(|template| template.name == name)
        .or_else(|| {
            TEMPLATES
                .iter()
                .find(|template| !name.is_empty() && template.like == name)
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_template_is_written_as_jmeter_would_save_it() {
        for template in &TEMPLATES {
            let written = drumfire_jmx::write(&template.tree("plan.csv", &BTreeMap::new()));
            let read = drumfire_jmx::read(written.as_bytes(), Path::new("plan.jmx"));
            let read = read.unwrap_or_else(|findings| panic!("{}", findings[0].render(false)));
            assert!(read.warnings.is_empty(), "{}", template.name);
            assert_eq!(
                drumfire_jmx::write(&read.tree),
                written,
                "{}",
                template.name
            );
            assert!(named(template.name).is_some());
        }
        assert!(named("none").is_none());
    }
}
