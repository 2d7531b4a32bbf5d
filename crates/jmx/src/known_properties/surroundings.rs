//! Properties of assertions, outputs, scripts, reports, agents and the graphical interface.

use super::{CACHE, GUI, PropertySection, RECORDER, REMOTE, honoured, read_by_java, without};

pub(super) const ASSERTIONS: PropertySection = PropertySection {
    title: "Assertions",
    properties: &[
        honoured(
            "assertion.equals_section_diff_len",
            "100",
            "Number of characters to show around a difference.",
        ),
        honoured(
            "assertion.equals_diff_delta_start",
            "[[[",
            "Text before a difference.",
        ),
        honoured("assertion.equals_diff_delta_end", "]]]", "Text after it."),
        honoured(
            "xpath.namespace.config",
            "",
            "A property file with prefixes and their namespaces for XPath Extractors and Assertions; they take precedence over the document's.",
        ),
    ],
};

pub(super) const RESULT_FILES: PropertySection = PropertySection {
    title: "Result files",
    properties: &[
        honoured(
            "jmeter.save.saveservice.output_format",
            "csv",
            "`csv` or `xml`.",
        ),
        honoured("jmeter.save.saveservice.time", "true", "Elapsed time."),
        honoured(
            "jmeter.save.saveservice.latency",
            "true",
            "Time until the first byte of the response.",
        ),
        honoured(
            "jmeter.save.saveservice.connect_time",
            "true",
            "Time to connect.",
        ),
        honoured(
            "jmeter.save.saveservice.successful",
            "true",
            "Whether the sample succeeded.",
        ),
        honoured("jmeter.save.saveservice.label", "true", "Label."),
        honoured(
            "jmeter.save.saveservice.response_code",
            "true",
            "Response code.",
        ),
        honoured(
            "jmeter.save.saveservice.response_message",
            "true",
            "Response message.",
        ),
        honoured(
            "jmeter.save.saveservice.thread_name",
            "true",
            "Name of the user's thread.",
        ),
        honoured(
            "jmeter.save.saveservice.data_type",
            "true",
            "`text` or `bin`.",
        ),
        honoured("jmeter.save.saveservice.encoding", "false", "Charset."),
        honoured(
            "jmeter.save.saveservice.assertions",
            "true",
            "Results of assertions (XML).",
        ),
        honoured("jmeter.save.saveservice.subresults", "true", "Sub-results."),
        honoured(
            "jmeter.save.saveservice.response_data",
            "false",
            "Response data (XML).",
        ),
        honoured(
            "jmeter.save.saveservice.response_data.on_error",
            "false",
            "Response and sampler data of failed samples (XML).",
        ),
        honoured(
            "jmeter.save.saveservice.samplerData",
            "false",
            "Sampler data (XML).",
        ),
        honoured(
            "jmeter.save.saveservice.print_field_names",
            "true",
            "A header line (CSV).",
        ),
        honoured(
            "jmeter.save.saveservice.responseHeaders",
            "false",
            "Response headers (XML).",
        ),
        honoured(
            "jmeter.save.saveservice.requestHeaders",
            "false",
            "Request headers (XML).",
        ),
        honoured(
            "jmeter.save.saveservice.assertion_results_failure_message",
            "true",
            "Message of the first failed assertion (CSV).",
        ),
        honoured("jmeter.save.saveservice.url", "true", "URL."),
        honoured("jmeter.save.saveservice.bytes", "true", "Bytes received."),
        honoured("jmeter.save.saveservice.sent_bytes", "true", "Bytes sent."),
        honoured(
            "jmeter.save.saveservice.filename",
            "false",
            "The file that a Save Responses element wrote.",
        ),
        honoured(
            "jmeter.save.saveservice.hostname",
            "false",
            "Name of this machine.",
        ),
        honoured(
            "jmeter.save.saveservice.thread_counts",
            "true",
            "Active users of the group and of all groups.",
        ),
        honoured(
            "jmeter.save.saveservice.sample_count",
            "false",
            "Counts of samples and errors.",
        ),
        honoured("jmeter.save.saveservice.idle_time", "true", "Idle time."),
        honoured(
            "jmeter.save.saveservice.timestamp_format",
            "ms",
            "`ms`, `none`, or a pattern of Java's `SimpleDateFormat`.",
        ),
        honoured(
            "jmeter.save.saveservice.default_delimiter",
            ",",
            "Separator of the fields (CSV); `\\t` is a tab.",
        ),
        honoured(
            "jmeter.save.saveservice.xml_pi",
            "",
            "A processing instruction in the second line (XML).",
        ),
        honoured(
            "jmeter.save.saveservice.autoflush",
            "false",
            "Write each row to the disk at once.",
        ),
        honoured(
            "jmeter.save.saveservice.base_prefix",
            "~/",
            "Prefix of file names that are relative to the plan's folder.",
        ),
        without(
            "jmeter.save.saveservice.assertion_results",
            "JMeter saves it but never reads it",
        ),
        honoured(
            "sampleresult.timestamp.start",
            "true",
            "A row's time is that of the sample's start (JMeter's `jmeter.properties` sets it).",
        ),
        without("resultcollector.action_if_file_exists", GUI),
        without(
            "sampleresult.useNanoTime",
            "Drumfire measures elapsed times with the monotonic clock",
        ),
        without(
            "sampleresult.nanoThreadSleep",
            "Drumfire measures elapsed times with the monotonic clock",
        ),
    ],
};

pub(super) const SUMMARY_LINES: PropertySection = PropertySection {
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
};

pub(super) const SCRIPTS_PLUGINS_AND_JAVA_PROTOCOLS: PropertySection = PropertySection {
    title: "Scripts, plugins and Java protocols",
    properties: &[
        honoured(
            "search_paths",
            "",
            "More jars and folders with jars of plugins, separated by semicolons.",
        ),
        honoured(
            "user.classpath",
            "",
            "More jars and folders of classes, separated by colons.",
        ),
        honoured(
            "plugin_dependency_paths",
            "",
            "More jars that plugins need, separated by semicolons.",
        ),
        honoured(
            "beanshell.init.file",
            "",
            "A BeanShell script that runs before the plan is read; it needs Java.",
        ),
        honoured(
            "jsr223.init.file",
            "",
            "Another such script, in the language that its file extension names, or else in Groovy.",
        ),
        honoured(
            "beanshell.server.port",
            "0",
            "While a plan runs, a BeanShell server reads commands on the port after this one, on the loopback address only; 0 starts none. It needs Java.",
        ),
        honoured(
            "beanshell.server.file",
            "../extras/startup.bsh",
            "A BeanShell script that this server runs first.",
        ),
        honoured(
            "kg.apc.jmeter.functions.FifoTimeout",
            "9223372036854775807",
            "How many seconds `__fifoPop`, and an Inter-Thread Communication PreProcessor without a `Timeout`, wait for a value.",
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
            "How many compiled scripts to keep; 100 if it is not set.",
        ),
        read_by_java(
            "javascript.use_rhino",
            "Whether `__javaScript` and conditions use Rhino.",
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
            "The byte that ends a response for TCPClientImpl; a value outside a byte's range is none.",
        ),
        honoured(
            "tcp.BinaryTCPClient.eomByte",
            "1000",
            "The same for BinaryTCPClientImpl.",
        ),
        honoured(
            "tcp.binarylength.prefix.length",
            "2",
            "Number of bytes of the length before each message of LengthPrefixedBinaryTCPClientImpl: 2 or 4.",
        ),
        honoured(
            "drumfire.tcp.max_response_bytes",
            "268435456",
            "Bytes of a response beyond which a TCP Sampler fails; 0 is no limit.",
        ),
        honoured(
            "tcp.status.prefix",
            "",
            "Text before the status code in a response of a TCP Sampler.",
        ),
        honoured("tcp.status.suffix", "", "The text after it."),
        honoured(
            "tcp.status.properties",
            "",
            "A property file with a message for each status code.",
        ),
        read_by_java("jdbc*", "Settings of JDBC elements."),
        read_by_java("ldapsampler.*", "Settings of LDAP samplers."),
        read_by_java("JMSSampler.*", "Settings of JMS samplers."),
        read_by_java("mailer.*", "Limits of Mailer Visualizers that set none."),
        without(
            "os_sampler.poll_for_timeout",
            "JMeter does not use it either",
        ),
        honoured(
            "mirror.server.port",
            "",
            "The port of a mirror server beside the run, on loopback; `drumfire mirror` starts one without a run.",
        ),
        honoured(
            "backend_influxdb.send_interval",
            "5",
            "Seconds between two sends of an InfluxDB Backend Listener.",
        ),
        honoured(
            "backend_graphite.send_interval",
            "1",
            "The same for Graphite.",
        ),
        honoured(
            "backend_metrics_window_mode",
            "timed",
            "With `fixed`, Backend Listeners send the times of a label's last samples instead of those of the interval. JMeter's default is `fixed`.",
        ),
        honoured(
            "backend_metrics_window",
            "100",
            "How many last samples these are.",
        ),
        without(
            "backend_metrics_*",
            "Drumfire's statistics cover each interval",
        ),
        without(
            "backend_*",
            "timeouts are 1 s for a connection and 3 s in all",
        ),
    ],
};

pub(super) const CACHES_OF_COMPILED_EXPRESSIONS: PropertySection = PropertySection {
    title: "Caches of compiled expressions",
    properties: &[
        without("oro.patterncache.size", CACHE),
        without("jmeter.regex.patterncache.size", CACHE),
        without("cssselector.parser.cache.size", CACHE),
        without("xpath2query.parser.cache.size", CACHE),
        without("jmespath.parser.cache.size", CACHE),
    ],
};

pub(super) const REPORT: PropertySection = PropertySection {
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
            "A regular expression for the labels that a report from a result file includes.",
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
            "The format of these two dates, with the letters of Java's `SimpleDateFormat` except weekdays, weeks, eras and zones.",
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
};

pub(super) const REMOTE_ENGINES: PropertySection = PropertySection {
    title: "Remote engines",
    properties: &[
        honoured(
            "remote_hosts",
            "127.0.0.1",
            "The machines or agents that `-r` runs the plan on, separated by commas.",
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
            "Run without the hosts that have no agent.",
        ),
        honoured(
            "server_port",
            "1099",
            "A part of the name of the agent that `-s` starts, if it is not 1099.",
        ),
        honoured(
            "server.rmi.port",
            "1099",
            "The same, if `server_port` is not set.",
        ),
        honoured(
            "server.exitaftertest",
            "false",
            "The agent that `-s` starts ends after its first run.",
        ),
        honoured(
            "mode",
            "StrippedBatch",
            "How JMeter sends samples; Drumfire prints before the start what it does instead.",
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
            "Keys that agents trust, as `--trust` takes them, separated by commas.",
        ),
        honoured(
            "__jm.D_TG",
            "",
            "Prefix of users' names; if each agent runs the whole plan, the agent's name.",
        ),
        without("server*", REMOTE),
        without("client.*", REMOTE),
        without("asynch.*", REMOTE),
        without("num_sample_threshold", REMOTE),
        without("time_threshold", REMOTE),
        without("key_on_threadname", REMOTE),
        without("sample_sender_*", REMOTE),
    ],
};

pub(super) const RECORDER_AND_GRAPHICAL_INTERFACE: PropertySection = PropertySection {
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
        honoured(
            "template.files",
            "/bin/templates/templates.xml",
            "Lists of templates in the folder of JMeter, separated by commas: `drumfire new` and the editor offer them.",
        ),
        honoured(
            "testplan_validation.ignore_backends",
            "true",
            "Whether the editor runs parts of a plan without its Backend Listeners.",
        ),
        honoured(
            "testplan_validation.ignore_timers",
            "true",
            "Whether the editor runs parts of a plan without their timers.",
        ),
        honoured(
            "testplan_validation.nb_threads_per_thread_group",
            "1",
            "The users of each thread group of which the editor runs a part.",
        ),
        honoured(
            "testplan_validation.number_iterations",
            "1",
            "The iterations of each thread group of which the editor runs a part.",
        ),
        without("testplan_validation.*", GUI),
        without("text.kerning.*", GUI),
        without("think_time_creator.*", GUI),
        without("undo.history.size", GUI),
        without("view.results.tree.*", GUI),
        without("zoom_scale", GUI),
    ],
};
