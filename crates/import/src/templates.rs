//! Small starter plans for `drumfire new`.

use drumfire_elements::config::jdbc_connection;
use drumfire_elements::controllers::loop_controller;
use drumfire_elements::samplers::{
    jdbc_request, websocket_close, websocket_open, websocket_request_response,
};
use drumfire_elements::timers::uniform_random_timer;
use drumfire_jmx::{Node, Tree};

use crate::elements::{self, ServerFields};
use crate::exchange::{Request, RequestBody};
use crate::plan;
use crate::text::PlanText;
use crate::url::Address;

/// A template: its name, its purpose, and a data file for the plan.
pub struct Template {
    /// The name that `drumfire new` takes.
    pub name: &'static str,
    /// Its purpose, in a line.
    pub about: &'static str,
    /// The content of the data file beside the plan.
    pub data: Option<&'static str>,
    /// The server that a trial run needs and `--demo` does not have; empty if there is none.
    pub needs: &'static str,
    /// The options for a first trial run of the plan.
    pub first_run: &'static str,
    make: fn(data_file: &str) -> Tree,
}

impl Template {
    /// The plan. `data_file` is the name under which the data is saved.
    pub fn tree(&self, data_file: &str) -> Tree {
        (self.make)(data_file)
    }
}

/// All templates.
pub static TEMPLATES: [Template; 5] = [
    Template {
        name: "http",
        about: "Users who open two pages and think between them",
        data: None,
        needs: "",
        first_run: "--demo",
        make: http,
    },
    Template {
        name: "login-csv",
        about: "Users from a CSV file who log in with the token of the form",
        data: Some("user,password\nann,secret\nbob,secret\n"),
        needs: "",
        first_run: "--demo",
        make: login,
    },
    Template {
        name: "open-model",
        about: "Requests at a rate, however long the answers take",
        data: None,
        needs: "",
        first_run: "--demo",
        make: open_model,
    },
    Template {
        name: "websocket",
        about: "Messages over a WebSocket connection",
        data: None,
        needs: "a WebSocket server at ws://127.0.0.1:8080/socket",
        first_run: "-Jhost=127.0.0.1 -Jport=8080 -Jpath=/socket",
        make: websocket,
    },
    Template {
        name: "jdbc",
        about: "Queries to a database",
        data: None,
        needs: "a PostgreSQL server at 127.0.0.1:5432, which user `postgres` may enter without a password",
        first_run: "-Jdb.url=jdbc:postgresql://127.0.0.1:5432/postgres -Jdb.user=postgres",
        make: jdbc,
    },
];

/// The template of this name.
pub fn named(name: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.name == name)
}

const SERVER: &str =
    "Run it with: drumfire run PLAN.jmx -Jhost=shop.example -Jusers=50 -Jseconds=300";

fn variables(all: &[(&str, &str, &str)]) -> Vec<(String, PlanText, String)> {
    all.iter()
        .map(|(name, value, about)| {
            (
                (*name).to_owned(),
                PlanText::expression(*value),
                (*about).to_owned(),
            )
        })
        .collect()
}

fn server() -> Node {
    elements::http_defaults(&ServerFields {
        scheme: "${__P(scheme,http)}".to_owned(),
        host: "${__P(host,${__P(demo.host,127.0.0.1)})}".to_owned(),
        port: "${__P(port,${__P(demo.port,)})}".to_owned(),
    })
}

fn users(content: Vec<Node>) -> Node {
    let mut group = elements::thread_group(
        "Users",
        "${__P(users,5)}",
        "${__P(ramp_up,10)}",
        "${__P(loops,-1)}",
        "${__P(seconds,60)}",
    );
    group
        .props
        .put("ThreadGroup.same_user_on_next_iteration", false);
    group.above(content)
}

fn think() -> Node {
    Node::new(
        uniform_random_timer::CLASS,
        "UniformRandomTimerGui",
        "Think 1 to 3 seconds",
    )
    .with("ConstantTimer.delay", "1000")
    .with("RandomTimer.range", "2000.0")
}

fn request(method: &str, name: &str, path: &str, body: RequestBody) -> Node {
    let address = Address {
        path: path.into(),
        ..Address::default()
    };
    let mut request = Request::new(method, address);
    request.name = Some(name.to_owned());
    request.body = body;
    plan::sampler(&request)
}

fn http(_: &str) -> Tree {
    let plan = elements::test_plan("HTTP", &format!("Users open two pages.\n{SERVER}"), &[]);
    let content = vec![
        server(),
        elements::cookie_manager(&[]),
        elements::cache_manager(),
        think(),
        request("GET", "Home page", "/", RequestBody::None)
            .above([elements::code_assertion("200")]),
        request("GET", "Search", "/api/search?q=drum", RequestBody::None),
    ];
    Tree::new(plan.above([users(content)]))
}

fn login(data_file: &str) -> Tree {
    let comments = format!(
        "Each user takes a line of {data_file}, opens the form and logs in with its token.\n{SERVER}"
    );
    let plan = elements::test_plan("Log-in", &comments, &[]);
    let fields = vec![
        ("username".into(), PlanText::variable("user")),
        ("password".into(), PlanText::variable("password")),
        ("csrf".into(), PlanText::variable("csrf")),
    ];
    let token = elements::css_extractor("csrf", "input[name=\"csrf\"]", "value", 1);
    let steps = vec![
        request("GET", "Log-in form", "/login", RequestBody::None).above([token]),
        request("POST", "Log in", "/login", RequestBody::Form(fields)),
        request("GET", "Account", "/account", RequestBody::None)
            .above([elements::code_assertion("200")]),
    ];
    let content = vec![
        server(),
        elements::cookie_manager(&[]),
        elements::csv_data_set(data_file, "user,password", false),
        think(),
        elements::transaction("Visit").above(steps),
    ];
    Tree::new(plan.above([users(content)]))
}

fn open_model(_: &str) -> Tree {
    let comments = "Requests arrive at a rate, whatever the others do: up to 20 a second within a minute, then five minutes long.\n\
                    Run it with: drumfire run PLAN.jmx -Jhost=shop.example -Jrate=20 -Jramp_up=60 -Jseconds=300";
    let plan = elements::test_plan("Open model", comments, &[]);
    let schedule = format!(
        "rate(1/sec) random_arrivals(${{__P(ramp_up,60)}} sec) rate(${{__P(rate,20)}}/sec) random_arrivals(${{__P(seconds,300)}} sec) {}",
        plan::LAST_PAUSE
    );
    let group = elements::open_model("Arrivals", &schedule);
    let content = vec![
        server(),
        request("GET", "Home page", "/", RequestBody::None),
    ];
    Tree::new(plan.above([group.above(content)]))
}

fn websocket(_: &str) -> Tree {
    let comments = "Each user opens a connection, sends a message and waits for the answer until the time is over.\n\
                    The samplers are those of the plugin \"WebSocket Samplers by Peter Doornbosch\".\n\
                    Run it with: drumfire run PLAN.jmx -Jhost=chat.example -Jpath=/socket";
    let plan = elements::test_plan("WebSocket", comments, &[]);
    let open = websocket_open::FACTS
        .node("Connect")
        .with("TLS", false)
        .with("server", "${__P(host,127.0.0.1)}")
        .with("port", "${__P(port,80)}")
        .with("path", "${__P(path,/)}")
        .with("connectTimeout", "20000")
        .with("readTimeout", "6000");
    let ask = websocket_request_response::FACTS
        .node("Ask")
        .with("createNewConnection", false)
        .with("TLS", false)
        .with("server", "")
        .with("port", "80")
        .with("path", "")
        .with("connectTimeout", "20000")
        .with("payloadType", "Text")
        .with("requestData", "hello")
        .with("readTimeout", "6000")
        .with("loadDataFromFile", false)
        .with("dataFile", "");
    let close = websocket_close::FACTS
        .node("Close")
        .with("statusCode", "1000")
        .with("readTimeout", "6000");
    let ten_times = Node::new(loop_controller::CLASS, "LoopControlPanel", "Ten messages")
        .with("LoopController.loops", "10")
        .above([ask, elements::pause("Think", "${__P(pause_ms,1000)}")]);
    Tree::new(plan.above([users(vec![open, ten_times, close])]))
}

fn jdbc(_: &str) -> Tree {
    let comments = "Each user asks the database; connections come from a pool.\n\
                    Run it with: drumfire run PLAN.jmx -Jdb.url=jdbc:postgresql://127.0.0.1/shop -Jdb.user=ann -Jdb.password=…";
    let variables = variables(&[
        (
            "db_url",
            "${__P(db.url,jdbc:postgresql://127.0.0.1:5432/postgres)}",
            "The database",
        ),
        ("db_user", "${__P(db.user,postgres)}", ""),
        ("db_password", "${__P(db.password,)}", ""),
    ]);
    let plan = elements::test_plan("Database", comments, &variables);
    let pool = Node::new(jdbc_connection::CLASS, "TestBeanGUI", "Database connection")
        .with("autocommit", true)
        .with("checkQuery", "")
        .with("connectionAge", "5000")
        .with("connectionProperties", "")
        .with("dataSource", "db")
        .with("dbUrl", "${db_url}")
        .with("driver", "org.postgresql.Driver")
        .with("initQuery", "")
        .with("keepAlive", true)
        .with("password", "${db_password}")
        .with("poolMax", "0")
        .with("preinit", false)
        .with("timeout", "10000")
        .with("transactionIsolation", "DEFAULT")
        .with("trimInterval", "60000")
        .with("username", "${db_user}");
    let query = Node::new(jdbc_request::CLASS, "TestBeanGUI", "Select")
        .with("dataSource", "db")
        .with("query", "select 1")
        .with("queryArguments", "")
        .with("queryArgumentsTypes", "")
        .with("queryTimeout", "")
        .with("queryType", "Select Statement")
        .with("resultSetHandler", "Store as String")
        .with("resultSetMaxRows", "")
        .with("resultVariable", "")
        .with("variableNames", "");
    Tree::new(plan.above([users(vec![pool, think(), query])]))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_template_is_written_as_jmeter_would_save_it() {
        for template in &TEMPLATES {
            let written = drumfire_jmx::write(&template.tree("plan.csv"));
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
