//! The plans of the kinds that JMeter's templates have.

use drumfire_elements::config::{ftp_defaults, ldap_defaults, ldap_extended_defaults};
use drumfire_elements::controllers::recording_controller;
use drumfire_elements::listeners::result_collector;
use drumfire_elements::other::script_recorder;
use drumfire_elements::samplers::{
    bean_shell_sampler, ftp_request, jsr223_sampler, ldap_extended_request, ldap_request,
};
use drumfire_elements::shared::{ftp, ldap, login, script};
use drumfire_elements::timers::{gaussian_random_timer, uniform_random_timer};
use drumfire_elements::{config::user_defined_variables, items};
use drumfire_jmx::{Element, Node, Prop, Tree};

use super::Values;
use super::own::{SERVER, request as page, server, think, users, variables};
use crate::elements;
use crate::exchange::RequestBody;
use crate::text::PlanText;

/// Shows each request and its response in JMeter, and in a file if it has a name.
fn results(file: &str) -> Node {
    let (gui, name) = ("ViewResultsFullVisualizer", "View Results Tree");
    Node::new(result_collector::CLASS, gui, name)
        .with("ResultCollector.error_logging", false)
        .with("filename", file)
}

/// One user who goes through the plan once.
fn one_user(content: Vec<Node>) -> Node {
    elements::thread_group("User", "1", "1", "${__P(loops,1)}", "").above(content)
}

/// A pause whose middle is likelier than its ends.
fn longer_think() -> Node {
    gaussian_random_timer::FACTS
        .node("Think about 3 seconds")
        .with(gaussian_random_timer::DELAY.name, "3000")
        .with(gaussian_random_timer::RANGE.name, "500.0")
}

/// Users of a shop.
pub fn shop(values: &Values<'_>) -> Tree {
    let comments = format!(
        "Each user takes a line of {}, opens a random product, puts it into the cart and logs in.\n{SERVER}",
        values.data_file
    );
    let plan = elements::test_plan("Shop", &comments, &[]);
    let random = elements::regex_extractor("product", "href=\"/product/(\\d+)\"", "false", 0);
    let token = elements::css_extractor("csrf", "input[name=\"csrf\"]", "value", 1);
    let look = vec![
        page("GET", "Home page", "/", RequestBody::None)
            .above([random, elements::code_assertion("200")]),
        page("GET", "Product", "/product/${product}", RequestBody::None).above([
            longer_think(),
            elements::text_assertion(&["price".to_owned()]),
        ]),
        page(
            "POST",
            "Put into the cart",
            "/cart",
            form(&[("product", "product")]),
        )
        .above([elements::code_assertion("200")]),
    ];
    let account = vec![
        page("GET", "Log-in form", "/login", RequestBody::None).above([token]),
        page(
            "POST",
            "Log in",
            "/login",
            form(&[
                ("username", "user"),
                ("password", "password"),
                ("csrf", "csrf"),
            ]),
        )
        .above([elements::code_assertion("200")]),
    ];
    let content = vec![
        server(values),
        elements::cookie_manager(&[]),
        elements::cache_manager(),
        elements::csv_data_set(values.data_file, "user,password", false),
        think(),
        elements::transaction("Look around").above(look),
        elements::transaction("Enter").above(account),
    ];
    Tree::new(plan.above([users(content)]))
}

/// A form whose fields are variables.
fn form(fields: &[(&str, &str)]) -> RequestBody {
    let fields = fields
        .iter()
        .map(|(name, variable)| ((*name).into(), PlanText::variable(variable)));
    RequestBody::Form(fields.collect())
}

/// One user who checks an API.
pub fn functional(values: &Values<'_>) -> Tree {
    let comments =
        format!("One user goes once through the API; every answer is checked.\n{SERVER}");
    let plan = elements::test_plan("Functional test", &comments, &[]);
    let steps = vec![
        page(
            "GET",
            "Search finds something",
            "/api/search?q=drum",
            RequestBody::None,
        )
        .above([
            elements::code_assertion("200"),
            elements::text_assertion(&["drum".to_owned()]),
        ]),
        page(
            "GET",
            "Orders need a token",
            "/api/orders",
            RequestBody::None,
        )
        .above([elements::code_assertion("401")]),
        page(
            "GET",
            "Unknown pages are not found",
            "/nowhere",
            RequestBody::None,
        )
        .above([elements::code_assertion("404")]),
    ];
    let content = [vec![server(values), elements::cookie_manager(&[])], steps].concat();
    Tree::new(plan.above([one_user(content), results("")]))
}

/// One request.
pub fn request(values: &Values<'_>) -> Tree {
    let plan = elements::test_plan(
        "One request",
        "The parameters of the template are its variables.",
        &[
            ("url".to_owned(), text(values.get("url")), "URL".to_owned()),
            (
                "body".to_owned(),
                text(values.get("body")),
                "Body of the request".to_owned(),
            ),
        ],
    );
    let mut fields = Vec::new();
    if !values.get("content-type").is_empty() {
        fields.push(("Content-Type".into(), text(values.get("content-type"))));
    }
    let body = match values.get("body") {
        "" => RequestBody::None,
        _ => RequestBody::Raw(PlanText::variable("body")),
    };
    let request = page(values.get("method"), "Request", "${url}", body);
    let content = vec![request.above([elements::header_manager(&fields)])];
    Tree::new(plan.above([one_user(content), results("")]))
}

/// A text in which `${…}` is evaluated.
fn text(given: &str) -> PlanText {
    PlanText::expression(given)
}

/// Calls of a SOAP web service.
pub fn soap(values: &Values<'_>) -> Tree {
    let (namespace, operation) = (values.get("namespace"), values.get("operation"));
    let envelope = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:own=\"{namespace}\">\n  \
         <soap:Body>\n    <own:{operation}>\n      <own:item>${{item}}</own:item>\n    </own:{operation}>\n  </soap:Body>\n\
         </soap:Envelope>"
    );
    let comments = "Each user calls the operation for an item.\nRun it with: drumfire run PLAN.jmx -Jusers=50 -Jseconds=300";
    let plan = elements::test_plan(
        "Web service",
        comments,
        &variables(&[
            ("url", values.get("url"), "The web service"),
            ("item", "${__P(item,1)}", "The item that is asked for"),
        ]),
    );
    let fields = [
        ("Content-Type", "text/xml; charset=utf-8"),
        ("SOAPAction", values.get("action")),
    ];
    let fields: Vec<(PlanText, PlanText)> = fields
        .iter()
        .map(|(name, value)| ((*name).into(), text(value)))
        .collect();
    let answer = format!("{operation}Response");
    let call = page(
        "POST",
        operation,
        "${url}",
        RequestBody::Raw(text(&envelope)),
    )
    .above([
        elements::header_manager(&fields),
        elements::code_assertion("200"),
        elements::text_assertion(&[answer]),
    ]);
    Tree::new(plan.above([users(vec![think(), call])]))
}

/// A recorder that makes samplers of what a browser sends.
pub fn recording(values: &Values<'_>) -> Tree {
    recorder(values, Vec::new())
}

/// A recorder that also makes a timer for each pause of the user.
pub fn recording_with_pauses(values: &Values<'_>) -> Tree {
    // JMeter's recorder puts a copy with the measured time before each sampler, where the text has `${T}`.
    let pause = uniform_random_timer::FACTS
        .node("Pause of the user")
        .with(uniform_random_timer::DELAY.name, "${T}")
        .with(uniform_random_timer::RANGE.name, "500.0");
    recorder(values, vec![pause])
}

fn recorder(values: &Values<'_>, copied: Vec<Node>) -> Tree {
    let comments = "Start the recorder, and set the proxy of the browser to its port. The requests go into the Recording Controller.\n\
                    Without a browser's settings: drumfire record --like PLAN.jmx -o RECORDED.jmx";
    let plan = elements::test_plan(
        "Recording",
        comments,
        &variables(&[
            ("host", values.get("host"), "The host that is recorded"),
            ("scheme", values.get("scheme"), ""),
        ]),
    );
    let server = elements::http_defaults(&elements::ServerFields {
        scheme: "${scheme}".to_owned(),
        host: "${host}".to_owned(),
        port: String::new(),
    });
    let group = elements::thread_group(
        "Users",
        "${__P(users,1)}",
        "${__P(ramp_up,1)}",
        "${__P(loops,1)}",
        "",
    )
    .above([recording_controller::FACTS.node("Recorded requests")]);
    let patterns = ["(?i).*\\.(bmp|css|gif|ico|jpe?g|js|png|svg|webp|woff2?)([?;].*)?"];
    let patterns = patterns
        .iter()
        .map(|pattern| Prop::new("", *pattern))
        .collect::<Vec<_>>();
    let proxy = script_recorder::FACTS
        .node("Recorder")
        .with(script_recorder::PORT.name, values.get("port"))
        .with(script_recorder::DOMAINS.name, "")
        .with(script_recorder::GROUPING.name, 4)
        .with(script_recorder::CAPTURE_HEADERS.name, true)
        .with(script_recorder::ADD_ASSERTION.name, false)
        .with(script_recorder::REGEX_MATCH.name, false)
        .with(script_recorder::FOLLOW_REDIRECTS.name, true)
        .with(script_recorder::USE_KEEPALIVE.name, true)
        .with(script_recorder::INCLUDE_LIST.name, Vec::new())
        .with(script_recorder::EXCLUDE_LIST.name, patterns);
    let below = [copied, vec![results(values.get("file"))]].concat();
    let content = vec![
        server,
        elements::cookie_manager(&[]),
        group,
        proxy.above(below),
    ];
    Tree::new(plan.above(content))
}

/// Files of an FTP server.
pub fn ftp(values: &Values<'_>) -> Tree {
    let comments = "Each user stores a file and fetches it.\nRun it with: drumfire run PLAN.jmx -Jhost=ftp.example -Jusers=10 -Jseconds=60";
    let plan = elements::test_plan("FTP", comments, &[]);
    let defaults = ftp_defaults::FACTS
        .node("FTP server")
        .with(ftp::SERVER.name, values.property("host"))
        .with(ftp::PORT.name, values.property("port"))
        .with(ftp::REMOTE_FILE.name, "")
        .with(ftp::LOCAL_FILE.name, "")
        .with(ftp::INPUTDATA.name, "")
        .with(ftp::UPLOAD.name, false)
        .with(ftp::BINARY.name, false)
        .with(ftp::SAVE_RESPONSE.name, false);
    let transfer = |name: &str, file: &str, text: &str| {
        ftp_request::FACTS
            .node(name)
            .with(ftp::SERVER.name, "")
            .with(ftp::PORT.name, "")
            .with(ftp::REMOTE_FILE.name, file)
            .with(ftp::LOCAL_FILE.name, "")
            .with(ftp::INPUTDATA.name, text)
            .with(ftp::UPLOAD.name, !text.is_empty())
            .with(ftp::BINARY.name, true)
            .with(ftp::SAVE_RESPONSE.name, false)
            .with(login::USERNAME.name, values.property("user"))
            .with(login::PASSWORD.name, values.property("password"))
    };
    let file_name = format!("{}drumfire-${{__threadNum}}.txt", values.property("folder"));
    let fetched = match values.get("file") {
        "" => &file_name,
        file => file,
    };
    let store = transfer("Store a file", &file_name, "from user ${__threadNum}");
    let fetch = transfer("Fetch a file", fetched, "");
    Tree::new(plan.above([defaults, users(vec![think(), store, fetch])]))
}

/// The entry that a user of the plan adds.
const ENTRY: &str = "cn=user-${__threadNum}";

/// The attributes of a new entry.
fn attributes(all: &[(&str, &str)]) -> Element {
    let items = all.iter().map(|(name, value)| {
        let argument = Element::new(items::ARGUMENT.class)
            .with(items::NAME.name, *name)
            .with(items::VALUE.name, *value)
            .with(items::METADATA.name, "=");
        Prop::new(name, argument)
    });
    Element::new(items::ARGUMENTS.class)
        .shown("ArgumentsPanel", "User Defined Variables")
        .with(
            user_defined_variables::VARIABLES.name,
            items.collect::<Vec<_>>(),
        )
}

const PERSON: [(&str, &str); 3] = [
    ("objectClass", "person"),
    ("cn", "user-${__threadNum}"),
    ("sn", "Load"),
];

/// Entries of a directory, with a connection for each request.
pub fn ldap(values: &Values<'_>) -> Tree {
    let comments = "Each user adds an entry, finds it, changes it and deletes it.";
    let plan = elements::test_plan("LDAP", comments, &[]);
    let defaults = ldap_defaults::FACTS
        .node("LDAP server")
        .with(ldap::SERVER.name, values.property("host"))
        .with(ldap::PORT.name, values.property("port"))
        .with(ldap::ROOT_DN.name, values.get("root"))
        .with(ldap::USER_DEFINED.name, false);
    let add = operation(values, "Add", "add")
        .with(ldap::ENTRY_DN.name, ENTRY)
        .with(ldap::ENTRY_ATTRIBUTES.name, attributes(&PERSON));
    let search = operation(values, "Search", "search")
        .with(ldap::SEARCH_BASE.name, "")
        .with(ldap::SEARCH_FILTER.name, format!("({ENTRY})"));
    let modify = operation(values, "Modify", "modify")
        .with(ldap::ENTRY_DN.name, ENTRY)
        .with(
            ldap::ENTRY_ATTRIBUTES.name,
            attributes(&[("sn", "Changed")]),
        );
    let delete = operation(values, "Delete", "delete").with(ldap::DELETED_ENTRY.name, ENTRY);
    Tree::new(plan.above([users(vec![defaults, think(), add, search, modify, delete])]))
}

/// An LDAP request of this kind.
fn operation(values: &Values<'_>, name: &str, test: &str) -> Node {
    ldap_request::FACTS
        .node(name)
        .with(login::USERNAME.name, values.get("user"))
        .with(login::PASSWORD.name, values.get("password"))
        .with(ldap::SERVER.name, "")
        .with(ldap::PORT.name, "")
        .with(ldap::ROOT_DN.name, "")
        .with(ldap::SIMPLE_TEST.name, test)
        .with(ldap::USER_DEFINED.name, true)
}

/// Entries of a directory, over a connection that each user binds.
pub fn ldap_extended(values: &Values<'_>) -> Tree {
    let comments = "Each user binds, adds an entry, finds it, compares it, renames it, deletes it and unbinds.";
    let plan = elements::test_plan("LDAP over one connection", comments, &[]);
    let defaults = ldap_extended_defaults::FACTS
        .node("LDAP server")
        .with(ldap::SERVER.name, values.property("host"))
        .with(ldap::PORT.name, values.property("port"))
        .with(ldap::ROOT_DN.name, values.get("root"))
        .with(ldap::USER_DN.name, values.get("user"))
        .with(ldap::USER_PASSWORD.name, values.get("password"));
    let operation = |name: &str, test: &str| {
        ldap_extended_request::FACTS
            .node(name)
            .with(ldap::EXTENDED_TEST_KIND.name, test)
    };
    let bind = operation("Bind", "bind")
        .with(ldap::SERVER.name, values.property("host"))
        .with(ldap::PORT.name, values.property("port"))
        .with(ldap::ROOT_DN.name, values.get("root"))
        .with(ldap::USER_DN.name, values.get("user"))
        .with(ldap::USER_PASSWORD.name, values.get("password"));
    let add = operation("Add", "add")
        .with(ldap::ENTRY_DN.name, ENTRY)
        .with(ldap::ENTRY_ATTRIBUTES.name, attributes(&PERSON));
    let search = operation("Search", "search")
        .with(ldap::SEARCH_BASE.name, "")
        .with(ldap::SEARCH_FILTER.name, format!("({ENTRY})"))
        .with(ldap::SEARCH_SCOPE.name, "2");
    let compare = operation("Compare", "compare")
        .with(ldap::COMPARED_ENTRY.name, ENTRY)
        .with(ldap::COMPARE_FILTER.name, "sn=Load");
    let renamed = "cn=renamed-${__threadNum}";
    let rename = operation("Rename", "rename")
        .with(ldap::OLD_NAME.name, ENTRY)
        .with(ldap::NEW_NAME.name, renamed);
    let delete = operation("Delete", "delete").with(ldap::DELETED_ENTRY.name, renamed);
    let unbind = operation("Unbind", "unbind");
    let steps = vec![
        defaults,
        think(),
        bind,
        add,
        search,
        compare,
        rename,
        delete,
        unbind,
    ];
    Tree::new(plan.above([users(steps)]))
}

/// A sampler that a script makes.
fn scripted(name: &str, code: &str) -> Node {
    jsr223_sampler::FACTS
        .node(name)
        .with(script::BSF_LANGUAGE.name, "groovy")
        .with(script::PARAMETERS.name, "")
        .with(script::FILE.name, "")
        .with(script::CACHE.name, "true")
        .with(script::SCRIPT.name, code)
}

/// Documents of MongoDB.
pub fn mongodb(values: &Values<'_>) -> Tree {
    let comments = "Each user inserts a document and counts the documents. The driver's jar belongs into lib of JMeter.";
    let plan = elements::test_plan(
        "MongoDB",
        comments,
        &variables(&[
            ("url", values.get("url"), "The server"),
            ("database", values.get("database"), ""),
            ("collection", values.get("collection"), ""),
        ]),
    );
    let connected = "import com.mongodb.MongoClient\nimport com.mongodb.MongoClientURI\nimport com.mongodb.BasicDBObject\n\n\
                     // All users share one client, which has a pool of connections.\n\
                     def client = props.get('mongo.client')\n\
                     if (client == null) {\n    synchronized (props) {\n        client = props.get('mongo.client') ?: new MongoClient(new MongoClientURI(vars.get('url')))\n        props.put('mongo.client', client)\n    }\n}\n\
                     def documents = client.getDB(vars.get('database')).getCollection(vars.get('collection'))\n";
    let insert = scripted(
        "Insert",
        &format!(
            "{connected}documents.insert(new BasicDBObject('user', ctx.threadNum))\n'inserted'"
        ),
    );
    let count = scripted("Count", &format!("{connected}documents.count().toString()"));
    Tree::new(plan.above([users(vec![think(), insert, count])]))
}

/// A pause that stands between samplers.
pub fn think_time(values: &Values<'_>) -> Vec<Node> {
    let timer = uniform_random_timer::FACTS
        .node("How long")
        .with(uniform_random_timer::DELAY.name, values.get("shortest"))
        .with(uniform_random_timer::RANGE.name, values.get("more"));
    vec![elements::pause("Think time", "0").above([timer])]
}

/// A sampler in Groovy.
pub fn groovy(_: &Values<'_>) -> Vec<Node> {
    let code = "// The label, the code and the body of the sample.\n\
                SampleResult.sampleLabel = 'user ' + ctx.threadNum\n\
                def visits = (vars.get('visits') ?: '0').toInteger() + 1\n\
                vars.put('visits', visits.toString())\n\
                log.info('visit {} of {}', visits, ctx.threadGroup.name)\n\
                SampleResult.setResponseCodeOK()\n\
                SampleResult.responseMessage = 'done'\n\
                return 'visit ' + visits";
    vec![scripted("Script", code)]
}

/// A sampler in BeanShell.
pub fn beanshell(_: &Values<'_>) -> Vec<Node> {
    let code = "// The code and the body of the sample. Groovy is many times faster.\n\
                String visits = vars.get(\"visits\");\n\
                int count = visits == null ? 1 : Integer.parseInt(visits) + 1;\n\
                vars.put(\"visits\", String.valueOf(count));\n\
                ResponseCode = \"200\";\n\
                ResponseMessage = \"done\";\n\
                return \"visit \" + count;";
    let sampler = bean_shell_sampler::FACTS
        .node("Script")
        .with(bean_shell_sampler::QUERY.name, code)
        .with(bean_shell_sampler::FILENAME.name, "")
        .with(bean_shell_sampler::PARAMETERS.name, "")
        .with(bean_shell_sampler::RESET_INTERPRETER.name, false);
    vec![sampler]
}
