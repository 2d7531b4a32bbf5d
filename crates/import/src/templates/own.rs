//! The plans of the templates that JMeter has no counterpart of, and what all templates are made of.

use drumfire_elements::config::jdbc_connection;
use drumfire_elements::controllers::{loop_controller, once_only_controller};
use drumfire_elements::samplers::{
    jdbc_request, mqtt_connect, mqtt_pub, mqtt_sub, smtp_sampler, websocket_close, websocket_open,
    websocket_request_response,
};
use drumfire_elements::shared::mqtt;
use drumfire_elements::timers::uniform_random_timer;
use drumfire_jmx::{Node, Tree};

use super::Values;
use crate::elements::{self, ServerFields};
use crate::exchange::{Request, RequestBody};
use crate::grpc::{GrpcMethod, GrpcServer, grpc_sampler};
use crate::plan;
use crate::text::PlanText;
use crate::url::Address;

/// How to run a plan against another server.
pub const SERVER: &str =
    "Run it with: drumfire run PLAN.jmx -Jhost=shop.example -Jusers=50 -Jseconds=300";

/// Variables of the plan: name, text and description.
pub fn variables(all: &[(&str, &str, &str)]) -> Vec<(String, PlanText, String)> {
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

/// The property `name`, whose default is the demo site's value if none is given.
fn or_demo(values: &Values<'_>, name: &str, demo: &str) -> String {
    match values.get(name) {
        "" => format!("${{__P({name},{demo})}}"),
        _ => values.property(name),
    }
}

/// The server of all requests. The demo site is meant where no host is given.
pub fn server(values: &Values<'_>) -> Node {
    elements::http_defaults(&ServerFields {
        scheme: values.property("scheme"),
        host: or_demo(values, "host", "${__P(demo.host,127.0.0.1)}"),
        port: or_demo(values, "port", "${__P(demo.port,)}"),
    })
}

/// A thread group whose numbers are properties.
pub fn users(content: Vec<Node>) -> Node {
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

/// A pause before each request.
pub fn think() -> Node {
    Node::new(
        uniform_random_timer::CLASS,
        "UniformRandomTimerGui",
        "Think 1 to 3 seconds",
    )
    .with("ConstantTimer.delay", "1000")
    .with("RandomTimer.range", "2000.0")
}

/// A request to the server of the plan.
pub fn request(method: &str, name: &str, path: &str, body: RequestBody) -> Node {
    let address = Address {
        path: if path.contains("${") {
            PlanText::expression(path)
        } else {
            path.into()
        },
        ..Address::default()
    };
    let mut request = Request::new(method, address);
    request.name = Some(name.to_owned());
    request.body = body;
    plan::sampler(&request)
}

/// Users who open two pages.
pub fn http(values: &Values<'_>) -> Tree {
    let plan = elements::test_plan("HTTP", &format!("Users open two pages.\n{SERVER}"), &[]);
    let content = vec![
        server(values),
        elements::cookie_manager(&[]),
        elements::cache_manager(),
        think(),
        request("GET", "Home page", "/", RequestBody::None)
            .above([elements::code_assertion("200")]),
        request("GET", "Search", "/api/search?q=drum", RequestBody::None),
    ];
    Tree::new(plan.above([users(content)]))
}

/// Users who log in with a token.
pub fn login(values: &Values<'_>) -> Tree {
    let data_file = values.data_file;
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
        server(values),
        elements::cookie_manager(&[]),
        elements::csv_data_set(data_file, "user,password", false),
        think(),
        elements::transaction("Visit").above(steps),
    ];
    Tree::new(plan.above([users(content)]))
}

/// Requests at a rate.
pub fn open_model(values: &Values<'_>) -> Tree {
    let comments = "Requests arrive at a rate, whatever the others do: up to 20 a second within a minute, then five minutes long.\n\
                    Run it with: drumfire run PLAN.jmx -Jhost=shop.example -Jrate=20 -Jramp_up=60 -Jseconds=300";
    let plan = elements::test_plan("Open model", comments, &[]);
    let schedule = format!(
        "rate(1/sec) random_arrivals(${{__P(ramp_up,60)}} sec) rate({}/sec) random_arrivals(${{__P(seconds,300)}} sec) {}",
        values.property("rate"),
        plan::LAST_PAUSE
    );
    let group = elements::open_model("Arrivals", &schedule);
    let content = vec![
        server(values),
        request("GET", "Home page", "/", RequestBody::None),
    ];
    Tree::new(plan.above([group.above(content)]))
}

/// Users who read a stream.
pub fn sse(values: &Values<'_>) -> Tree {
    let comments = "Each user reads a stream, whose events are timed. Drumfire's own properties of the request say how:\n\
                    drumfire.stream is the form (sse, ndjson, chunks, openai), drumfire.stream.stop.* say when a sample has seen enough.\n\
                    JMeter ignores them and waits for the end of the stream.\n\
                    Run it with: drumfire run PLAN.jmx -Jhost=chat.example -Jpath=/events -Jevents=20";
    let plan = elements::test_plan("Stream", comments, &[]);
    let accept = [("Accept".into(), "text/event-stream".into())];
    let path = values.property("path");
    let stream = request("GET", "Stream", &path, RequestBody::None)
        .with("drumfire.stream", values.property("form"))
        .with("drumfire.stream.stop.events", values.property("events"))
        .above([
            elements::header_manager(&accept),
            elements::code_assertion("200"),
        ]);
    Tree::new(plan.above([users(vec![server(values), stream])]))
}

/// Messages over a WebSocket connection.
pub fn websocket(values: &Values<'_>) -> Tree {
    let comments = "Each user opens a connection, sends a message and waits for the answer until the time is over.\n\
                    The samplers are those of the plugin \"WebSocket Samplers by Peter Doornbosch\".\n\
                    Run it with: drumfire run PLAN.jmx -Jhost=chat.example -Jpath=/socket";
    let plan = elements::test_plan("WebSocket", comments, &[]);
    let open = websocket_open::FACTS
        .node("Connect")
        .with("TLS", false)
        .with("server", values.property("host"))
        .with("port", values.property("port"))
        .with("path", values.property("path"))
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

/// Calls of a gRPC service.
pub fn grpc(values: &Values<'_>) -> Tree {
    let comments = "Each user calls a method of a gRPC service until the time is over.\n\
                    The sampler is that of the plugin \"jmeter-grpc-request\" by Zalopay.\n\
                    Run it with: drumfire run PLAN.jmx -Jhost=api.example -Jport=50051 -Jusers=50 -Jseconds=300";
    let plan = elements::test_plan("gRPC", comments, &[]);
    let server = GrpcServer {
        host: or_demo(values, "host", "${__P(demo.host,127.0.0.1)}"),
        port: or_demo(values, "port", "${__P(demo.port,8080)}"),
        tls: false,
        protos: values.get("protos").to_owned(),
    };
    let method = GrpcMethod {
        name: values.get("method").to_owned(),
        request: values.get("request").to_owned(),
    };
    let call = grpc_sampler(&server, &method);
    Tree::new(plan.above([users(vec![think(), call])]))
}

/// Messages over MQTT, whose latency the subscriber measures.
pub fn mqtt(values: &Values<'_>) -> Tree {
    let comments = "Each user connects once, and then publishes a message every second to a topic of its own.\n\
                    The Sub Sampler shows how long messages take from the publisher to the subscriber.\n\
                    The samplers are those of the plugin \"mqtt-jmeter\" by EMQ.\n\
                    Run it with: drumfire run PLAN.jmx -Jhost=broker.example -Jport=1883 -Jusers=50 -Jseconds=300";
    let plan = elements::test_plan("MQTT", comments, &[]);
    let topic = format!("{}/${{__threadNum}}", values.get("topic"));
    let connect = mqtt_connect::FACTS
        .node("Connect")
        .with(mqtt::SERVER.name, values.property("host"))
        .with(mqtt::PORT.name, values.property("port"))
        .with(mqtt::VERSION.name, "3.1.1")
        .with(mqtt::PROTOCOL.name, "TCP")
        .with(mqtt::TIMEOUT.name, mqtt::TIMEOUT.default)
        .with(mqtt::CLIENT_ID.name, "drumfire_")
        .with(mqtt::CLIENT_ID_SUFFIX.name, true)
        .with(mqtt::KEEP_ALIVE.name, mqtt::KEEP_ALIVE.default)
        .with(mqtt::ATTEMPTS.name, "0")
        .with(mqtt::RECONNECTIONS.name, "0")
        .with(mqtt::CLEAN.name, "true");
    let once = once_only_controller::FACTS.node("Once").above([connect]);
    let receive = mqtt_sub::FACTS
        .node("Receive")
        .with(mqtt::TOPICS.name, topic.as_str())
        .with(mqtt::QOS.name, "1")
        .with(mqtt_sub::TIMESTAMP.name, true)
        .with(mqtt_sub::DEBUG_RESPONSE.name, false)
        .with(mqtt_sub::CONDITION.name, mqtt_sub::CONDITION.default)
        .with(mqtt_sub::CONDITION_VALUE.name, "${__P(pause_ms,1000)}");
    let publish = mqtt_pub::FACTS
        .node("Publish")
        .with(mqtt::TOPIC.name, topic.as_str())
        .with(mqtt::QOS.name, "1")
        .with(mqtt_pub::TIMESTAMP.name, true)
        .with(mqtt_pub::RETAINED.name, false)
        .with(mqtt_pub::MESSAGE_TYPE.name, "String")
        .with(mqtt_pub::LENGTH.name, mqtt_pub::LENGTH.default)
        .with(mqtt_pub::MESSAGE.name, values.get("message"));
    Tree::new(plan.above([users(vec![once, receive, publish])]))
}

/// Mails to an SMTP server.
pub fn smtp(values: &Values<'_>) -> Tree {
    let comments = "Each user sends mails until the time is over, each over a connection of its own.\n\
                    Run it with: drumfire run PLAN.jmx -Jhost=mail.example -Jport=25 -Jusers=20 -Jseconds=300";
    let plan = elements::test_plan("SMTP", comments, &[]);
    let send = smtp_sampler::FACTS
        .node("Send a mail")
        .with(smtp_sampler::SERVER.name, values.property("host"))
        .with(smtp_sampler::PORT.name, values.property("port"))
        .with(smtp_sampler::CONNECT_TIMEOUT.name, "10000")
        .with(smtp_sampler::READ_TIMEOUT.name, "30000")
        .with(smtp_sampler::FROM.name, values.get("from"))
        .with(smtp_sampler::TO.name, values.get("to"))
        .with(smtp_sampler::SUBJECT.name, values.get("subject"))
        .with(smtp_sampler::MESSAGE.name, values.get("message"))
        .with(smtp_sampler::PLAIN_BODY.name, "true")
        .with(smtp_sampler::HEADER_FIELDS.name, Vec::new());
    Tree::new(plan.above([users(vec![think(), send])]))
}

/// Queries to a database.
pub fn jdbc(values: &Values<'_>) -> Tree {
    let comments = "Each user asks the database; connections come from a pool.\n\
                    Run it with: drumfire run PLAN.jmx -Jdb.url=jdbc:postgresql://127.0.0.1/shop -Jdb.user=ann -Jdb.password=…";
    let [url, user, password] =
        ["db.url", "db.user", "db.password"].map(|name| values.property(name));
    let variables = variables(&[
        ("db_url", &url, "The database"),
        ("db_user", &user, ""),
        ("db_password", &password, ""),
    ]);
    let plan = elements::test_plan("Database", comments, &variables);
    let pool = Node::new(jdbc_connection::CLASS, "TestBeanGUI", "Database connection")
        .with("autocommit", true)
        .with("checkQuery", "")
        .with("connectionAge", "5000")
        .with("connectionProperties", "")
        .with("dataSource", "db")
        .with("dbUrl", "${db_url}")
        .with("driver", values.get("driver"))
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
        .with("query", values.get("query"))
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
