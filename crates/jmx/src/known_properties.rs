//! The properties of JMeter 5.6.3, and Drumfire's own: what each means here. The reference page of properties is this list.

/// How Drumfire treats a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// As JMeter does.
    Honoured,
    /// As JMeter does; JMeter's own class reads it where Java runs that class.
    Java,
    /// Nothing, and why.
    None(&'static str),
}

/// One property, or all whose names begin alike.
#[derive(Debug, Clone, Copy)]
pub struct KnownProperty {
    /// The name; with `*` at its end all names that begin so.
    pub name: &'static str,
    /// The default; empty for none.
    pub default: &'static str,
    /// Its meaning.
    pub doc: &'static str,
    /// How Drumfire treats it.
    pub effect: Effect,
}

impl KnownProperty {
    /// Whether it is the property of that name.
    pub fn covers(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.name,
        }
    }
}

/// Properties that have to do with one thing.
#[derive(Debug, Clone, Copy)]
pub struct PropertySection {
    /// The subject of the group.
    pub title: &'static str,
    /// The properties.
    pub properties: &'static [KnownProperty],
}

/// The property of that name.
pub fn known_property(name: &str) -> Option<&'static KnownProperty> {
    let mut all = KNOWN_PROPERTIES
        .iter()
        .flat_map(|section| section.properties);
    all.find(|property| property.covers(name))
}

const fn honoured(name: &'static str, default: &'static str, doc: &'static str) -> KnownProperty {
    KnownProperty {
        name,
        default,
        doc,
        effect: Effect::Honoured,
    }
}

const fn without(name: &'static str, why: &'static str) -> KnownProperty {
    KnownProperty {
        name,
        default: "",
        doc: "",
        effect: Effect::None(why),
    }
}

const fn read_by_java(name: &'static str, doc: &'static str) -> KnownProperty {
    KnownProperty {
        name,
        default: "",
        doc,
        effect: Effect::Java,
    }
}

const GUI: &str = "it concerns the graphical interface";
const RECORDER: &str = "it concerns the recorder";
const REMOTE: &str = "agents connect to NATS, and send sums and files of rows";
const CACHE: &str = "compiled expressions are kept for the whole run";
const NOT_BUILT: &str = "the feature is not built";
const JAVA: &str = "it concerns Java's implementation";

/// All properties.
pub const KNOWN_PROPERTIES: &[PropertySection] = &[
    PropertySection {
        title: "Drumfire's own",
        properties: &[
            honoured(
                "drumfire.skip_unsupported",
                "false",
                "Leave out elements that cannot run, with a warning, instead of refusing the plan.",
            ),
            honoured(
                "drumfire.shutdown",
                "",
                "`fast`: a shutdown ends timers and pauses at once; otherwise they come to their end first, as in JMeter.",
            ),
            honoured(
                "drumfire.grace_seconds",
                "15",
                "After the first SIGINT, SIGTERM or SIGHUP, users have so long to finish their sample; then samples are broken off.",
            ),
            honoured(
                "drumfire.fail_on",
                "",
                "Thresholds with semicolons between them; a run that does not meet one ends with exit code 5.",
            ),
            honoured(
                "drumfire.abort_on",
                "",
                "Thresholds with semicolons between them; the first that is true ends the run, with exit code 5.",
            ),
            honoured(
                "drumfire.missing_files",
                "refuse",
                "`jmeter`: a file that is missing does what it does in JMeter, where users end or samples fail, instead of keeping the plan from running.",
            ),
            honoured(
                "drumfire.bad_numbers",
                "refuse",
                "`jmeter`: a number from the command line that is none counts as JMeter counts it, instead of keeping the plan from running.",
            ),
            honoured(
                "drumfire.max_users",
                "2000000",
                "A plan with more users than this, in all thread groups together, is refused.",
            ),
            honoured(
                "drumfire.max_matches",
                "1000000",
                "A Regular Expression Extractor or Boundary Extractor keeps so many matches; with more, the rest is left out and the sample fails.",
            ),
            honoured(
                "drumfire.max_label_bytes",
                "65536",
                "Labels with more bytes are counted by so many of their first; rows keep them whole.",
            ),
            honoured(
                "drumfire.max_row_bytes",
                "268435456",
                "A result file with a longer row or XML element is refused.",
            ),
            honoured(
                "drumfire.keep_runs",
                "true",
                "Keep the run files of the last 20 runs in .drumfire/, each written while its run goes on.",
            ),
            honoured(
                "drumfire.runs.keep",
                "20",
                "How many run files stay in .drumfire/.",
            ),
            honoured(
                "drumfire.out",
                "",
                "Where the numbers go while the run goes on, as `--out` takes it, with semicolons between.",
            ),
            honoured(
                "drumfire.tags",
                "",
                "Tags of everything that `drumfire.out` sends: `NAME=VALUE`, with semicolons between.",
            ),
            honoured(
                "drumfire.watch",
                "",
                "The target's own metrics, as `--watch` takes them, with semicolons between.",
            ),
            honoured(
                "drumfire.ui",
                "",
                "Where the live page listens, as `--ui` takes it: `127.0.0.1:0` is a free port of this machine.",
            ),
            honoured(
                "prometheus.ip",
                "127.0.0.1",
                "Where Prometheus Listeners of the plan are shown (jmeter-prometheus-plugin).",
            ),
            honoured("prometheus.port", "9270", "The port of it."),
            honoured(
                "prometheus.delay",
                "0",
                "How many seconds it stays after the end of the run.",
            ),
            honoured(
                "prometheus.save.threads",
                "true",
                "Show the users of the run beside the plan's collectors.",
            ),
            honoured(
                "prometheus.save.threads.name",
                "jmeter_threads",
                "The name of that metric.",
            ),
            honoured(
                "drumfire.jvm.home",
                "",
                "The folder of the Java that scripts and Java elements run in; else JAVA_HOME's, or the one on the PATH.",
            ),
            honoured(
                "drumfire.jvm.options",
                "",
                "Options of that Java, with blanks between them.",
            ),
            honoured(
                "drumfire.jvm.dependencies",
                "",
                "Jars as group:artifact:version with commas between them; Maven brings them with all that they depend on.",
            ),
            honoured(
                "maven.repo.local",
                "~/.m2/repository",
                "Maven's own repository, where jars are looked for first.",
            ),
            honoured(
                "drumfire.jmeter.home",
                "",
                "The folder of the JMeter whose jars are used; else JMETER_HOME's, the one in whose bin the run is started, or one put together from Maven's jars.",
            ),
            honoured(
                "drumfire.keep_failures",
                "true",
                "Run files and reports keep the first failed request and response of each kind; secrets in them are masked.",
            ),
            honoured(
                "drumfire.load.users",
                "",
                "Users in all, divided among the thread groups in the proportion of their own (`run --users`).",
            ),
            honoured(
                "drumfire.load.ramp_up",
                "",
                "Seconds until all users have started (`run --ramp-up`).",
            ),
            honoured(
                "drumfire.load.duration",
                "",
                "Seconds that each thread group runs (`run --duration`).",
            ),
            honoured(
                "drumfire.load.rate",
                "",
                "Samples a second, all groups together (`run --rate`); needs a duration.",
            ),
            honoured(
                "drumfire.load.group",
                "",
                "Only the thread group of this name gets that load (`run --group`).",
            ),
            honoured(
                "drumfire.load.arrivals",
                "",
                "Iterations a second that start whether or not earlier ones have ended, as in an Arrivals Thread Group; `drumfire capacity` sets it.",
            ),
            honoured(
                "drumfire.load.once",
                "false",
                "One user and one iteration of each thread group (`run --once`).",
            ),
            honoured(
                "drumfire.strict",
                "false",
                "A run whose verdict is not VALID ends with exit code 6.",
            ),
            honoured(
                "demo.*",
                "",
                "Set by `run --demo`: `demo.host`, `demo.port` and `demo.https.port` of the demo site.",
            ),
        ],
    },
    PropertySection {
        title: "The run",
        properties: &[
            honoured(
                "user.properties",
                "user.properties",
                "The file with the user's properties, looked for in the working directory and in `bin`.",
            ),
            honoured(
                "system.properties",
                "system.properties",
                "The file with system properties, looked for in the same places.",
            ),
            honoured(
                "jmeterengine.nongui.port",
                "4445",
                "First UDP port, on loopback, for the messages `Shutdown` and `StopTestNow`; 0 for none.",
            ),
            honoured(
                "jmeterengine.nongui.maxport",
                "4455",
                "Last port that is tried for them.",
            ),
            honoured(
                "includecontroller.prefix",
                "",
                "Text in front of the paths of Include Controllers.",
            ),
            honoured(
                "timer.factor",
                "1.0",
                "Factor for the delays of random timers.",
            ),
            honoured(
                "dynamic_tg.temporisation",
                "10",
                "Concurrency Thread Group: how long the level waits for the first user, in milliseconds.",
            ),
            honoured(
                "jmeter.regex.engine",
                "oro",
                "Regular expressions of extractors, assertions and functions: `oro` or `java`.",
            ),
            honoured(
                "csvdataset.eofstring",
                "<EOF>",
                "Value of a CSV Data Set's variables at the end of its file when it neither recycles nor stops the user.",
            ),
            honoured("csvread.delimiter", ",", "Delimiter of `__CSVRead`."),
            honoured(
                "time.*",
                "",
                "`time.YMD`, `time.HMS`, `time.YMDHMS`, `time.USER1`, `time.USER2`: patterns that `__time` takes by name.",
            ),
            honoured(
                "sample_variables",
                "",
                "Variables that result files show in columns of their own.",
            ),
            honoured(
                "START.*",
                "",
                "`START.MS`, `START.YMD`, `START.HMS`: when the program started; set by it.",
            ),
            honoured(
                "TESTSTART.MS",
                "",
                "When the run started; set by the program.",
            ),
            honoured(
                "jmeter.version",
                "5.6.3",
                "The version of JMeter whose behaviour is run; set by the program.",
            ),
            without(
                "function.cache.per.iteration",
                "functions are evaluated whenever they are read, which is JMeter's default",
            ),
            without(
                "jmeterthread.rampup.granularity",
                "users are started on time without it",
            ),
            without(
                "jmeterengine.threadstop.wait",
                "users stop at once when told to",
            ),
            without(
                "jmeterengine.force.system.exit",
                "the program ends with the run",
            ),
            without(
                "jmeterengine.stopfail.system.exit",
                "there are no threads that fail to stop",
            ),
            without("jmeterengine.remote.system.exit", REMOTE),
            without(
                "jmeterengine.startlistenerslater",
                "JMeter 5 does not read it any more",
            ),
            without(
                "jmeter.exit.check.pause",
                "threads that outlive the run are named after two seconds",
            ),
            without("classfinder.*", "plugins are found without it"),
            without(
                "language",
                "numbers and dates are those of JMeter in English",
            ),
            without("locales.add", GUI),
            without(
                "upgrade_properties",
                "the table of renamed classes is part of the program",
            ),
        ],
    },
    PropertySection {
        title: "HTTP requests",
        properties: &[
            honoured(
                "jmeter.httpsampler",
                "HttpClient4",
                "Implementation of HTTP Requests that name none: `HttpClient4` or `Java`.",
            ),
            honoured(
                "httpsampler.max_redirects",
                "20",
                "Number of redirects that a sample follows.",
            ),
            honoured(
                "httpsampler.max_frame_depth",
                "5",
                "Depth of nested frames that are searched for embedded resources.",
            ),
            honoured(
                "httpsampler.redirect.removeslashdotdot",
                "true",
                "Resolve `/../` in redirects.",
            ),
            honoured(
                "httpsampler.separate.container",
                "true",
                "Embedded resources of a redirected page are in a sample around all of it.",
            ),
            honoured(
                "httpsampler.ignore_failed_embedded_resources",
                "false",
                "A page does not fail with its embedded resources.",
            ),
            honoured(
                "httpsampler.embedded_resources_use_md5",
                "false",
                "Keep the MD5 sum of embedded resources in place of their bodies.",
            ),
            honoured(
                "httpsampler.max_bytes_to_store_per_request",
                "0",
                "Number of bytes of a body that are kept; 0 keeps all.",
            ),
            honoured(
                "http.post_add_content_type_if_missing",
                "false",
                "Send a POST without `Content-Type` as a form.",
            ),
            honoured(
                "subresults.disable_renaming",
                "false",
                "Sub-results keep their own labels.",
            ),
            honoured(
                "sampleresult.default.encoding",
                "UTF-8",
                "Charset of responses that name none.",
            ),
            without(
                "HTTPResponse.parsers",
                "the parsers for embedded resources are the program's own",
            ),
            without(
                "htmlParser.*",
                "the parsers for embedded resources are the program's own",
            ),
            without(
                "wmlParser.*",
                "the parsers for embedded resources are the program's own",
            ),
            without(
                "cssParser.*",
                "the parsers for embedded resources are the program's own",
            ),
            without(
                "css.parser.*",
                "the parsers for embedded resources are the program's own",
            ),
            without(
                "post_add_content_type_if_missing",
                "the property that JMeter reads is `http.post_add_content_type_if_missing`",
            ),
            without("httpsampler.user_defined_methods", "any method is taken"),
            without(
                "httpsampler.max_buffer_size",
                "buffers have the size that is needed",
            ),
            without(
                "httpsampler.parallel_download_thread_keepalive_inseconds",
                "downloads take no threads",
            ),
            without(
                "jmeter.httpclient.strict_rfc2616",
                "only HttpClient 3 read it",
            ),
            without("httpclient.version", "only HttpClient 3 read it"),
            without("http.java.sampler.retries", NOT_BUILT),
            without("document.max_size", "documents are not read with Tika"),
        ],
    },
    PropertySection {
        title: "Connections",
        properties: &[
            honoured(
                "httpclient.reset_state_on_thread_group_iteration",
                "true",
                "A user's connections and TLS sessions end with the iteration of its thread group.",
            ),
            honoured(
                "websocket.result.size_includes_filtered_frames",
                "false",
                "Frames that a WebSocket frame filter leaves out count into the size of the sample.",
            ),
            honoured(
                "drumfire.http.version",
                "1.1",
                "With 2, HTTP Requests speak HTTP/2: over TLS where the server wants it, over plain TCP without asking. With 3, in builds with the feature http3, HTTP/3 for HTTPS without a proxy.",
            ),
            honoured(
                "drumfire.http.max_head_bytes",
                "1048576",
                "A response whose status line and headers are larger fails; 0 is no limit.",
            ),
            honoured(
                "drumfire.http.max_body_bytes",
                "268435456",
                "A response whose body is larger fails, if something reads the body; counted after decompression; 0 is no limit.",
            ),
            honoured(
                "drumfire.http.max_decoded_bytes",
                "1073741824",
                "A response whose body becomes larger when it is decompressed fails, whether something reads it or not; 0 is no limit.",
            ),
            honoured(
                "drumfire.http.decode_unread",
                "true",
                "Decompress bodies that nothing reads too, since JMeter fails on damaged ones; false drops them unread, which costs less.",
            ),
            honoured(
                "drumfire.tls_verify",
                "false",
                "Verify the certificates of HTTPS and WebSocket servers. JMeter trusts all of them.",
            ),
            honoured(
                "drumfire.tls_ca_file",
                "",
                "Certificates in PEM to verify servers with, instead of the system's authorities.",
            ),
            honoured(
                "drumfire.http.close_with_reset",
                "false",
                "Close connections with RST, so that their ports are free at once instead of after TIME_WAIT.",
            ),
            honoured(
                "httpclient.localaddress",
                "",
                "Address that connections start from, where the plan has none.",
            ),
            honoured(
                "httpclient4.auth.preemptive",
                "true",
                "Send Basic credentials without being asked.",
            ),
            honoured(
                "httpclient4.deflate_relax_mode",
                "false",
                "Take deflate bodies without their header.",
            ),
            honoured(
                "httpclient4.default_user_agent_disabled",
                "false",
                "Send no `User-Agent` of our own.",
            ),
            honoured(
                "httpclient4.validate_after_inactivity",
                "4900",
                "Idle time in milliseconds after which a connection is checked before it is used.",
            ),
            honoured(
                "httpclient4.time_to_live",
                "60000",
                "Age in milliseconds after which a connection is not reused.",
            ),
            honoured(
                "httpclient4.idletimeout",
                "0",
                "Milliseconds for which an idle connection is kept; 0 is as long as it lives.",
            ),
            honoured(
                "http.proxyHost",
                "",
                "Proxy for requests whose sampler names none; a system property or one of JMeter's.",
            ),
            honoured("http.proxyPort", "", "Its port."),
            honoured("http.proxyUser", "", "Its user."),
            honoured("http.proxyPass", "", "Its password."),
            honoured(
                "http.nonProxyHosts",
                "",
                "Hosts that are reached without it: names, or `*` and the end of names, with `|` between.",
            ),
            honoured(
                "https.sessioncontext.shared",
                "false",
                "All users share one store of TLS sessions.",
            ),
            honoured(
                "https.keyStoreStartIndex",
                "0",
                "First key of the key store that is used.",
            ),
            honoured(
                "https.keyStoreEndIndex",
                "-1",
                "Last key of the key store that is used.",
            ),
            honoured(
                "javax.net.ssl.keyStore*",
                "",
                "System properties: file, password and type of the store with client certificates.",
            ),
            honoured(
                "httpclient4.retrycount",
                "0",
                "Number of retries after a broken connection.",
            ),
            honoured(
                "httpclient4.request_sent_retry_enabled",
                "false",
                "Send again requests that are not idempotent, too, such as POST.",
            ),
            honoured(
                "httpclient4.gzip_relax_mode",
                "false",
                "Take gzip bodies that end early.",
            ),
            without("httpclient.timeout", "only the AJP sampler still reads it"),
            without("httpclient.loopback", "only HttpClient 3 read it"),
            honoured(
                "httpclient.socket.http.cps",
                "0",
                "Bandwidth limit of plain connections in bytes a second; 0 is none.",
            ),
            honoured(
                "httpclient.socket.https.cps",
                "0",
                "Bandwidth limit of TLS connections in bytes a second; 0 is none.",
            ),
            without("hc.parameters.file", JAVA),
            honoured(
                "https.default.protocol",
                "TLS",
                "The TLS versions that are offered where `https.socket.protocols` names none.",
            ),
            honoured(
                "https.socket.protocols",
                "",
                "The TLS versions that are offered, with spaces between them.",
            ),
            honoured(
                "https.cipherSuites",
                "",
                "The cipher suites that are offered, with commas between them.",
            ),
            without(
                "https.use.cached.ssl.context",
                "TLS state ends as `httpclient.reset_state_on_thread_group_iteration` says",
            ),
            without("http.proxyScheme", "proxies are reached over HTTP"),
            without("http.proxyDomain", "NTLM is not built"),
            without("kerberos*", "Kerberos is not built"),
        ],
    },
    PropertySection {
        title: "Cookies and cache",
        properties: &[
            honoured(
                "CookieManager.delete_null_cookies",
                "true",
                "Cookies without a value are deleted.",
            ),
            honoured(
                "CookieManager.allow_variable_cookies",
                "true",
                "Cookies of the plan may hold variables.",
            ),
            honoured(
                "CookieManager.save.cookies",
                "false",
                "Cookies become variables.",
            ),
            honoured(
                "CookieManager.name.prefix",
                "COOKIE_",
                "Prefix of the names of those variables.",
            ),
            honoured(
                "CookieManager.check.cookies",
                "true",
                "Cookies that the policy rejects are not taken.",
            ),
            honoured(
                "cacheable_methods",
                "GET",
                "Methods whose responses are cached.",
            ),
            honoured(
                "cache_manager.cached_resource_mode",
                "RETURN_NO_SAMPLE",
                "How a cache hit is recorded: `RETURN_NO_SAMPLE`, `RETURN_200_CACHE`, `RETURN_CUSTOM_STATUS`.",
            ),
            honoured(
                "RETURN_200_CACHE.message",
                "",
                "Message of a hit in that mode.",
            ),
            honoured(
                "RETURN_CUSTOM_STATUS.code",
                "",
                "Code of a hit in that mode.",
            ),
            honoured(
                "RETURN_CUSTOM_STATUS.message",
                "",
                "Message of a hit in that mode.",
            ),
            without("cookies", GUI),
        ],
    },
    PropertySection {
        title: "Assertions",
        properties: &[
            honoured(
                "assertion.equals_section_diff_len",
                "100",
                "Number of characters that are shown around a difference.",
            ),
            honoured(
                "assertion.equals_diff_delta_start",
                "[[[",
                "Text before a difference.",
            ),
            honoured("assertion.equals_diff_delta_end", "]]]", "Shown after it."),
            honoured(
                "xpath.namespace.config",
                "",
                "A property file with prefixes and their namespaces for XPath Extractors and Assertions; they win over the document's.",
            ),
        ],
    },
    PropertySection {
        title: "Result files",
        properties: &[
            honoured(
                "jmeter.save.saveservice.output_format",
                "csv",
                "`csv` or `xml`.",
            ),
            honoured(
                "jmeter.save.saveservice.*",
                "",
                "All switches of JMeter's result files, their date format, delimiter and XML processing instruction; defaults are JMeter's.",
            ),
            honoured(
                "sampleresult.timestamp.start",
                "true",
                "A row's time is that of the sample's start (JMeter's `jmeter.properties` sets it).",
            ),
            without("resultcollector.action_if_file_exists", GUI),
            without(
                "sampleresult.useNanoTime",
                "elapsed times are measured with the monotonic clock",
            ),
            without(
                "sampleresult.nanoThreadSleep",
                "elapsed times are measured with the monotonic clock",
            ),
        ],
    },
    PropertySection {
        title: "Summary lines",
        properties: &[
            honoured(
                "summariser.name",
                "summary",
                "Name of the summariser that every run has; empty for none.",
            ),
            honoured("summariser.interval", "30", "Seconds between its lines."),
            honoured("summariser.log", "true", "Lines go to the log."),
            honoured("summariser.out", "true", "Lines go to standard output."),
            honoured(
                "summariser.ignore_transaction_controller_sample_result",
                "true",
                "Transactions are not counted.",
            ),
        ],
    },
    PropertySection {
        title: "Scripts, plugins and Java protocols",
        properties: &[
            honoured(
                "search_paths",
                "",
                "More jars and folders with jars of plugins, with semicolons between them.",
            ),
            honoured(
                "user.classpath",
                "",
                "More jars and folders of classes, with colons between them.",
            ),
            honoured(
                "plugin_dependency_paths",
                "",
                "More jars that plugins need, with semicolons between them.",
            ),
            honoured(
                "beanshell.init.file",
                "",
                "A BeanShell script that runs before the plan is read; it needs Java.",
            ),
            honoured(
                "jsr223.init.file",
                "",
                "The same in the language that the file's ending names, or else Groovy.",
            ),
            without("beanshell.server.*", "there is no BeanShell server"),
            honoured(
                "kg.apc.jmeter.functions.FifoTimeout",
                "9223372036854775807",
                "How many seconds an Inter-Thread Communication PreProcessor without a `Timeout` waits for a value.",
            ),
            without(
                "kg.apc.jmeter.functions.FifoCapacity",
                "queues have no limit",
            ),
            read_by_java(
                "beanshell.*",
                "Files that BeanShell elements and functions run first.",
            ),
            read_by_java("groovy.utilities", "A file that `__groovy` runs first."),
            read_by_java(
                "jsr223.compiled_scripts_cache_size",
                "How many compiled scripts are kept; 100 if it is not set.",
            ),
            read_by_java(
                "javascript.use_rhino",
                "Whether `__javaScript` and conditions take Rhino.",
            ),
            honoured(
                "jdbcsampler.nullmarker",
                "]NULL[",
                "Text that means NULL among the values of a prepared statement.",
            ),
            honoured(
                "tcp.handler",
                "TCPClientImpl",
                "The client of TCP Samplers that name none.",
            ),
            honoured("tcp.charset", "UTF-8", "Charset of TCPClientImpl."),
            honoured(
                "tcp.eolByte",
                "1000",
                "The byte that ends a response for TCPClientImpl; none out of a byte's range.",
            ),
            honoured(
                "tcp.BinaryTCPClient.eomByte",
                "1000",
                "The same for BinaryTCPClientImpl.",
            ),
            honoured(
                "tcp.binarylength.prefix.length",
                "2",
                "Bytes of the length before messages of LengthPrefixedBinaryTCPClientImpl: 2 or 4.",
            ),
            honoured(
                "tcp.status.prefix",
                "",
                "Text before the status code in a response of a TCP Sampler.",
            ),
            honoured("tcp.status.suffix", "", "What stands after it."),
            honoured(
                "tcp.status.properties",
                "",
                "A property file with a message for each status code.",
            ),
            read_by_java("jdbc*", "Settings of JDBC elements."),
            read_by_java("ldapsampler.*", "Settings of LDAP samplers."),
            read_by_java("JMSSampler.*", "Settings of JMS samplers."),
            without("mailer.*", NOT_BUILT),
            without(
                "os_sampler.poll_for_timeout",
                "JMeter does not use it either",
            ),
            honoured(
                "mirror.server.port",
                "",
                "The port of a mirror server beside the run, on loopback; `drumfire mirror` starts one alone.",
            ),
            honoured(
                "backend_influxdb.send_interval",
                "5",
                "Seconds from one send of an InfluxDB Backend Listener to the next.",
            ),
            honoured(
                "backend_graphite.send_interval",
                "1",
                "The same for Graphite.",
            ),
            honoured(
                "backend_metrics_window_mode",
                "timed",
                "`fixed` makes the times that Backend Listeners send those of a label's last samples instead of those of the interval. JMeter's default is `fixed`.",
            ),
            honoured(
                "backend_metrics_window",
                "100",
                "How many samples these are.",
            ),
            without("backend_metrics_*", "statistics are those of each interval"),
            without(
                "backend_*",
                "timeouts are 1 s for a connection and 3 s in all",
            ),
        ],
    },
    PropertySection {
        title: "Caches of compiled expressions",
        properties: &[
            without("oro.patterncache.size", CACHE),
            without("jmeter.regex.patterncache.size", CACHE),
            without("cssselector.parser.cache.size", CACHE),
            without("xpath2query.parser.cache.size", CACHE),
            without("jmespath.parser.cache.size", CACHE),
        ],
    },
    PropertySection {
        title: "Report",
        properties: &[
            honoured(
                "jmeter.reportgenerator.outputdir",
                "report-output",
                "The folder of a report if `-o` names none.",
            ),
            honoured(
                "jmeter.reportgenerator.report_title",
                "",
                "The title of the page.",
            ),
            honoured(
                "jmeter.reportgenerator.exporter.html.series_filter",
                "",
                "A regular expression for the labels that the page shows.",
            ),
            honoured(
                "jmeter.reportgenerator.exporter.html.show_controllers_only",
                "false",
                "The page shows Transaction Controllers alone.",
            ),
            honoured(
                "jmeter.reportgenerator.apdex_satisfied_threshold",
                "500",
                "Response time in milliseconds up to which a user is satisfied.",
            ),
            honoured(
                "jmeter.reportgenerator.apdex_tolerated_threshold",
                "1500",
                "Response time in milliseconds up to which a user tolerates it.",
            ),
            honoured(
                "jmeter.reportgenerator.apdex_per_transaction",
                "",
                "Other limits for some labels: `label:satisfied|tolerated`, with semicolons between; a label may be a regular expression.",
            ),
            honoured(
                "jmeter.reportgenerator.sample_filter",
                "",
                "A regular expression for the labels that a report from a result file is made of.",
            ),
            honoured(
                "jmeter.reportgenerator.start_date",
                "",
                "Samples that started earlier are left out of a report from a result file.",
            ),
            honoured(
                "jmeter.reportgenerator.end_date",
                "",
                "Samples that started later are left out of a report from a result file.",
            ),
            honoured(
                "jmeter.reportgenerator.date_format",
                "yyyyMMddHHmmss",
                "The form of these two dates, with the letters of Java's `SimpleDateFormat`; weekdays, weeks, eras and zones are not read.",
            ),
            honoured(
                "aggregate_rpt_pct1",
                "90",
                "The first percentile of `statistics.json`.",
            ),
            honoured(
                "aggregate_rpt_pct2",
                "95",
                "The second percentile of `statistics.json`.",
            ),
            honoured(
                "aggregate_rpt_pct3",
                "99",
                "The third percentile of `statistics.json`.",
            ),
            without(
                "jmeter.reportgenerator.*",
                "the page chooses its charts and steps itself",
            ),
            without("generate_report_ui.*", GUI),
        ],
    },
    PropertySection {
        title: "Remote engines",
        properties: &[
            honoured(
                "remote_hosts",
                "127.0.0.1",
                "The machines or agents that `-r` runs the plan on, with commas between.",
            ),
            honoured(
                "client.tries",
                "1",
                "With `-r` and `-R`: attempts to find an agent on each host.",
            ),
            honoured(
                "client.retries_delay",
                "5000",
                "Milliseconds between two attempts.",
            ),
            honoured(
                "client.continue_on_fail",
                "false",
                "Run without the hosts on which there is no agent.",
            ),
            honoured(
                "server_port",
                "1099",
                "A part of the name of the agent that `-s` starts, if it is not 1099.",
            ),
            honoured(
                "server.exitaftertest",
                "false",
                "The agent that `-s` starts ends after its first run.",
            ),
            honoured(
                "mode",
                "StrippedBatch",
                "How samples travel; a line before the start says what happens instead.",
            ),
            honoured(
                "drumfire.nats",
                "",
                "The NATS server of agents, as `--nats` takes it.",
            ),
            honoured(
                "drumfire.nats_creds",
                "",
                "Credentials for NATS, as `--nats-creds` takes them.",
            ),
            honoured(
                "drumfire.nats_ca",
                "",
                "Certificates for NATS, as `--nats-ca` takes them.",
            ),
            honoured(
                "drumfire.sign",
                "",
                "The key that signs plans for agents, as `--sign` takes it.",
            ),
            honoured(
                "drumfire.trust",
                "",
                "Keys that agents trust, as `--trust` takes them, with commas between.",
            ),
            honoured(
                "__jm.D_TG",
                "",
                "The beginning of users' names; where each agent runs the whole plan, its name.",
            ),
            without("server*", REMOTE),
            without("client.*", REMOTE),
            without("asynch.*", REMOTE),
            without("num_sample_threshold", REMOTE),
            without("time_threshold", REMOTE),
            without("key_on_threadname", REMOTE),
            without("sample_sender_*", REMOTE),
        ],
    },
    PropertySection {
        title: "Recorder and graphical interface",
        properties: &[
            without("proxy.*", RECORDER),
            without("naming_policy.*", RECORDER),
            without("csvdataset.file.encoding_list", GUI),
            without("confirm.*", GUI),
            without("darklaf.*", GUI),
            without("docgeneration.*", GUI),
            without("gui.*", GUI),
            without("help.local", GUI),
            without("jmeter.expertMode", GUI),
            without("jmeter.gui.*", GUI),
            without("jmeter.hidpi.*", GUI),
            without("jmeter.icons", GUI),
            without("jmeter.laf*", GUI),
            without("jmeter.loggerpanel.*", GUI),
            without("jmeter.toolbar*", GUI),
            without("jmeter.tree.*", GUI),
            without("jsyntaxtextarea.*", GUI),
            without("loggerpanel.*", GUI),
            without("not_in_menu", GUI),
            without("onload.expandtree", GUI),
            without("propertyEditorSearchPath", GUI),
            without("save_automatically_before_run", GUI),
            without("template.files", GUI),
            without("testplan_validation.*", GUI),
            without("text.kerning.*", GUI),
            without("think_time_creator.*", GUI),
            without("undo.history.size", GUI),
            without("view.results.tree.*", GUI),
            without("zoom_scale", GUI),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JMETER_DEFAULTS;

    #[test]
    fn everything_that_jmeter_sets_is_known() {
        let unknown: Vec<_> = JMETER_DEFAULTS
            .iter()
            .filter(|(name, _)| known_property(name).is_none())
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn the_defaults_that_jmeter_sets_are_told() {
        for (name, value) in JMETER_DEFAULTS {
            let property = known_property(name).expect("it is known");
            if property.effect == Effect::Honoured && property.name == *name {
                assert_eq!(property.default, *value, "{name}");
            }
        }
    }

    #[test]
    fn names_are_found_alone_before_their_group() {
        let found = known_property("jmeter.save.saveservice.output_format").expect("it is known");
        assert_eq!(found.default, "csv");
        assert!(
            known_property("jmeter.save.saveservice.url").is_some_and(|p| p.name.ends_with('*'))
        );
        assert!(known_property("nothing.like.it").is_none());
    }

    #[test]
    fn what_does_nothing_says_why_and_what_does_something_says_what() {
        for property in KNOWN_PROPERTIES
            .iter()
            .flat_map(|section| section.properties)
        {
            match property.effect {
                Effect::Honoured | Effect::Java => {
                    assert!(property.doc.ends_with('.'), "{}", property.name);
                }
                Effect::None(why) => assert!(!why.is_empty(), "{}", property.name),
            }
        }
    }
}
