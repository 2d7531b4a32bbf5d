//! Properties of the run and of requests.

use super::{GUI, JAVA, PropertySection, REMOTE, honoured, read_by_java, without};

pub(super) const THE_RUN: PropertySection = PropertySection {
    title: "The run",
    properties: &[
        honoured(
            "user.properties",
            "user.properties",
            "The file with the user's properties, in the working directory or in `bin`.",
        ),
        honoured(
            "system.properties",
            "system.properties",
            "The file with system properties, in the same places.",
        ),
        honoured(
            "jmeterengine.nongui.port",
            "4445",
            "First UDP port, on loopback, for the messages `Shutdown` and `StopTestNow`; 0 for none.",
        ),
        honoured(
            "jmeterengine.nongui.maxport",
            "4455",
            "Last port to try for them.",
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
            "`START.MS`, `START.YMD`, `START.HMS`: when the program started; set by the program.",
        ),
        honoured(
            "TESTSTART.MS",
            "",
            "When the run started; set by the program.",
        ),
        honoured(
            "jmeter.version",
            "5.6.3",
            "The version of JMeter that Drumfire reproduces; set by the program.",
        ),
        honoured(
            "function.cache.per.iteration",
            "false",
            "Evaluate the name of an HTTP Request with functions once for a sample, not again for each of its requests and at its end; other texts are evaluated once anyway.",
        ),
        without(
            "jmeterthread.rampup.granularity",
            "users start on time without it",
        ),
        honoured(
            "jmeterengine.threadstop.wait",
            "5000",
            "Milliseconds that Java code has after 'stop now' to react to its interruption; then Drumfire throws an error into it.",
        ),
        without(
            "jmeterengine.force.system.exit",
            "the program ends with the run",
        ),
        honoured(
            "jmeterengine.stopfail.system.exit",
            "true",
            "A run that had to end code by force exits with 1.",
        ),
        without("jmeterengine.remote.system.exit", REMOTE),
        without(
            "jmeterengine.startlistenerslater",
            "JMeter 5 no longer reads it",
        ),
        without(
            "jmeter.exit.check.pause",
            "Drumfire names the threads that outlive the run after two seconds",
        ),
        without("classfinder.*", "Drumfire finds plugins without it"),
        without(
            "language",
            "Drumfire writes numbers and dates as JMeter does in English",
        ),
        without("locales.add", GUI),
        without(
            "upgrade_properties",
            "the table of renamed classes is part of the program",
        ),
    ],
};

pub(super) const HTTP_REQUESTS: PropertySection = PropertySection {
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
            "Depth to which nested frames are searched for embedded resources.",
        ),
        honoured(
            "httpsampler.redirect.removeslashdotdot",
            "true",
            "Resolve `/../` in redirects.",
        ),
        honoured(
            "httpsampler.separate.container",
            "true",
            "Put a redirected page and its embedded resources into one enclosing sample.",
        ),
        honoured(
            "httpsampler.ignore_failed_embedded_resources",
            "false",
            "A page does not fail when its embedded resources do.",
        ),
        honoured(
            "httpsampler.embedded_resources_use_md5",
            "false",
            "Keep the MD5 sum of embedded resources in place of their bodies.",
        ),
        honoured(
            "httpsampler.max_bytes_to_store_per_request",
            "0",
            "Number of bytes of a body to keep; 0 keeps all.",
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
            "Drumfire has its own parsers for embedded resources",
        ),
        without(
            "htmlParser.*",
            "Drumfire has its own parsers for embedded resources",
        ),
        without(
            "wmlParser.*",
            "Drumfire has its own parsers for embedded resources",
        ),
        without(
            "cssParser.*",
            "Drumfire has its own parsers for embedded resources",
        ),
        without(
            "css.parser.*",
            "Drumfire has its own parsers for embedded resources",
        ),
        without(
            "post_add_content_type_if_missing",
            "the property that JMeter reads is `http.post_add_content_type_if_missing`",
        ),
        without(
            "httpsampler.user_defined_methods",
            "Drumfire accepts any method",
        ),
        without(
            "httpsampler.max_buffer_size",
            "Drumfire sizes its buffers as needed",
        ),
        without(
            "httpsampler.parallel_download_thread_keepalive_inseconds",
            "downloads need no threads",
        ),
        without(
            "jmeter.httpclient.strict_rfc2616",
            "only HttpClient 3 read it",
        ),
        without("httpclient.version", "only HttpClient 3 read it"),
        honoured(
            "http.java.sampler.retries",
            "0",
            "How often the implementation `Java` retries a connection when no local port is free.",
        ),
        without(
            "document.max_size",
            "Drumfire does not read documents with Tika",
        ),
    ],
};

pub(super) const CONNECTIONS: PropertySection = PropertySection {
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
            "Count frames that a WebSocket frame filter discards in the size of the sample.",
        ),
        honoured(
            "drumfire.grpc.max_sub_results",
            "1000",
            "How many messages of a stream become sub-results of its sample, each with its time.",
        ),
        honoured(
            "drumfire.grpc.plugin_faults",
            "true",
            "Reproduce two faults of the gRPC plugin: a channel stays shut after the first failed call, and a status without a description has no row.",
        ),
        honoured(
            "drumfire.grpc.protocol",
            "grpc",
            "The form of GRPC Requests: `grpc` over HTTP/2, or `grpc-web` or `connect` over HTTP/1.1.",
        ),
        honoured(
            "drumfire.mqtt.max_packet_bytes",
            "268435456",
            "The largest packet of an MQTT server, in bytes; a larger one ends the connection. 0 for no limit.",
        ),
        honoured(
            "drumfire.mqtt.max_waiting_bytes",
            "16777216",
            "The memory of the messages of one sampler that no sample has taken, in bytes; a sample fails if more came. 0 for no limit.",
        ),
        honoured(
            "drumfire.mqtt.sequence",
            "false",
            "Number the messages of MQTT Pub Samplers, and count lost and repeated ones in MQTT Sub Samplers.",
        ),
        honoured(
            "drumfire.mqtt.will_topic",
            "",
            "The topic of the message that an MQTT server sends when it loses a user's connection.",
        ),
        honoured(
            "drumfire.mqtt.will_message",
            "",
            "The text of that message.",
        ),
        honoured("drumfire.mqtt.will_qos", "0", "The QoS of that message."),
        honoured(
            "drumfire.mqtt.will_retain",
            "false",
            "Let the server keep that message for later subscribers.",
        ),
        honoured(
            "drumfire.mail.max_message_bytes",
            "268435456",
            "The most bytes of the files of a mail that is sent, or of the mails that one sample reads; a sample with more fails. 0 for no limit.",
        ),
        honoured(
            "drumfire.mail.max_line_bytes",
            "65536",
            "The most bytes of a line of a mail server; a sample with a longer one fails. 0 for no limit.",
        ),
        honoured(
            "mail.mime.charset",
            "",
            "The character set of mails with characters outside ASCII, instead of Java's default one; a system property, as in JavaMail.",
        ),
        honoured(
            "mail.pop3.timeout",
            "",
            "How long a server of POP3 may be silent in a Mail Reader Sampler, in milliseconds; empty for ever.",
        ),
        honoured(
            "mail.pop3.connectiontimeout",
            "",
            "How long a Mail Reader Sampler may connect to a server of POP3, in milliseconds; empty for ever.",
        ),
        honoured(
            "mail.pop3.ssl.protocols",
            "",
            "The versions of TLS that a Mail Reader Sampler offers to a server of POP3, with spaces between them; empty for TLSv1.2 and TLSv1.3.",
        ),
        honoured(
            "mail.pop3s.timeout",
            "",
            "How long a server of POP3 over TLS may be silent in a Mail Reader Sampler, in milliseconds; empty for ever.",
        ),
        honoured(
            "mail.pop3s.connectiontimeout",
            "",
            "How long a Mail Reader Sampler may connect to a server of POP3 over TLS, in milliseconds; empty for ever.",
        ),
        honoured(
            "mail.pop3s.ssl.protocols",
            "",
            "The versions of TLS that a Mail Reader Sampler offers to a server of POP3 over TLS, with spaces between them; empty for TLSv1.2 and TLSv1.3.",
        ),
        honoured(
            "mail.imap.timeout",
            "",
            "How long a server of IMAP may be silent in a Mail Reader Sampler, in milliseconds; empty for ever.",
        ),
        honoured(
            "mail.imap.connectiontimeout",
            "",
            "How long a Mail Reader Sampler may connect to a server of IMAP, in milliseconds; empty for ever.",
        ),
        honoured(
            "mail.imap.ssl.protocols",
            "",
            "The versions of TLS that a Mail Reader Sampler offers to a server of IMAP, with spaces between them; empty for TLSv1.2 and TLSv1.3.",
        ),
        honoured(
            "mail.imaps.timeout",
            "",
            "How long a server of IMAP over TLS may be silent in a Mail Reader Sampler, in milliseconds; empty for ever.",
        ),
        honoured(
            "mail.imaps.connectiontimeout",
            "",
            "How long a Mail Reader Sampler may connect to a server of IMAP over TLS, in milliseconds; empty for ever.",
        ),
        honoured(
            "mail.imaps.ssl.protocols",
            "",
            "The versions of TLS that a Mail Reader Sampler offers to a server of IMAP over TLS, with spaces between them; empty for TLSv1.2 and TLSv1.3.",
        ),
        honoured(
            "drumfire.http.version",
            "1.1",
            "With 2, HTTP Requests speak HTTP/2: over TLS if the server agrees, over plain TCP without asking. With 3, in builds with the feature http3, they speak HTTP/3 for HTTPS without a proxy.",
        ),
        honoured(
            "drumfire.http.allowed_hosts",
            "",
            "Hosts, separated by commas, that HTTP Requests may be sent to, proxies included; requests to others fail unsent. Empty allows all.",
        ),
        honoured(
            "drumfire.http.max_head_bytes",
            "1048576",
            "Bytes of a status line and headers, with those of interim responses, or of a reply over FTP, beyond which a response fails; 0 is no limit.",
        ),
        honoured(
            "drumfire.http.max_interim_heads",
            "100",
            "Interim responses (status 1xx) before the final one beyond which a response fails; 0 is no limit.",
        ),
        honoured(
            "drumfire.http.max_content_codings",
            "8",
            "Codings in the Content-Encoding of a body that is decompressed beyond which a response fails; 0 is no limit.",
        ),
        honoured(
            "drumfire.http.max_cookies",
            "3000",
            "Cookies of one user beyond which the response that brings more fails; 0 is no limit.",
        ),
        honoured(
            "drumfire.http.max_body_bytes",
            "268435456",
            "Bytes of a body, after decompression, or of a file fetched over FTP, beyond which a response fails if something reads it; 0 is no limit.",
        ),
        honoured(
            "drumfire.http.max_decoded_bytes",
            "1073741824",
            "Bytes of a decompressed body beyond which a response fails, whether something reads the body or not; 0 is no limit.",
        ),
        honoured(
            "drumfire.http.decode_unread",
            "true",
            "Also decompress bodies that nothing reads, since JMeter fails on damaged ones; false drops them unread, which costs less.",
        ),
        honoured(
            "drumfire.stream",
            "",
            "Read the responses of HTTP Requests as streams and time their events: `sse`, `ndjson`, `chunks` or `openai`; `off` reads none. A property of the same name in an HTTP Request or its defaults wins, also for the stops below.",
        ),
        honoured(
            "drumfire.stream.stop.events",
            "0",
            "A streamed response ends with this many events, and its connection is closed; 0 waits for the server.",
        ),
        honoured(
            "drumfire.stream.stop.data",
            "",
            "A streamed response ends with an event that has exactly these data, such as `[DONE]`.",
        ),
        honoured(
            "drumfire.stream.stop.json",
            "",
            "A streamed response ends with an event in whose data this JSONPath finds a value other than `null` and `false`.",
        ),
        honoured(
            "drumfire.stream.stop.after_ms",
            "0",
            "A streamed response ends this many milliseconds after the start of its sample; 0 waits for the server.",
        ),
        honoured(
            "drumfire.stream.columns",
            "false",
            "Add columns to result files (attributes in XML): `firstEvent`, `gapP50`, `gapP95` and `gapMax` in milliseconds, `events` and `tokens` of streamed responses.",
        ),
        honoured(
            "drumfire.stream.max_event_bytes",
            "1048576",
            "Bytes of an event of a stream beyond which the sample fails; 0 is no limit.",
        ),
        honoured(
            "drumfire.stream.max_body_bytes",
            "1048576",
            "Bytes of a stream that `drumfire.stream` or a stop asks for which are kept for extractors, assertions and listeners; the rest is only counted. 0 keeps all.",
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
            "drumfire.tls_ca",
            "",
            "Authorities in PEM to trust in addition to the system's, for TLS to outputs, sources of metrics, NATS and repositories of jars (`--tls-ca`).",
        ),
        honoured(
            "drumfire.http.close_with_reset",
            "false",
            "Close connections with RST, so that their ports are free at once instead of after TIME_WAIT.",
        ),
        honoured(
            "httpclient.localaddress",
            "",
            "Source address of connections, where the plan has none.",
        ),
        honoured(
            "httpclient4.auth.preemptive",
            "true",
            "Send Basic credentials without being asked.",
        ),
        honoured(
            "httpclient4.deflate_relax_mode",
            "false",
            "Accept deflate bodies without their header.",
        ),
        honoured(
            "httpclient4.default_user_agent_disabled",
            "false",
            "Send no `User-Agent` by default.",
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
            "Milliseconds for which an idle connection is kept; 0 keeps it as long as it lives.",
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
            "Hosts to reach without it: names, or `*` and the end of names, separated by `|`.",
        ),
        honoured(
            "https.sessioncontext.shared",
            "false",
            "All users share one store of TLS sessions.",
        ),
        honoured(
            "https.keyStoreStartIndex",
            "0",
            "First key of the key store to use.",
        ),
        honoured(
            "https.keyStoreEndIndex",
            "-1",
            "Last key of the key store to use.",
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
            "Also retry requests that are not idempotent, such as POST.",
        ),
        honoured(
            "httpclient4.gzip_relax_mode",
            "false",
            "Accept gzip bodies that end early.",
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
            "The TLS versions to offer where `https.socket.protocols` names none.",
        ),
        honoured(
            "https.socket.protocols",
            "",
            "The TLS versions to offer, separated by spaces.",
        ),
        honoured(
            "https.cipherSuites",
            "",
            "The cipher suites to offer, separated by commas.",
        ),
        without(
            "https.use.cached.ssl.context",
            "TLS state ends as `httpclient.reset_state_on_thread_group_iteration` says",
        ),
        honoured(
            "http.proxyScheme",
            "http",
            "A system property: `https` reaches proxies over TLS, unless a sampler says otherwise.",
        ),
        honoured(
            "http.proxyDomain",
            "",
            "Domain to put before the user of a proxy, in upper case and with a backslash after it.",
        ),
        read_by_java(
            "kerberos_jaas_application",
            "`JMeter`: the entry of the login configuration for Kerberos.",
        ),
        read_by_java(
            "kerberos.spnego.strip_port",
            "`true`: Kerberos asks for tickets without the server's port.",
        ),
        read_by_java(
            "kerberos.spnego.use_canonical_host_name",
            "`true`: Kerberos asks for tickets by the name that the server's address has.",
        ),
        read_by_java(
            "kerberos.spnego.delegate_cred",
            "`false`: whether servers may pass tickets on.",
        ),
    ],
};

pub(super) const COOKIES_AND_CACHE: PropertySection = PropertySection {
    title: "Cookies and cache",
    properties: &[
        honoured(
            "CookieManager.delete_null_cookies",
            "true",
            "Delete cookies without a value.",
        ),
        honoured(
            "CookieManager.allow_variable_cookies",
            "true",
            "Cookies of the plan may hold variables.",
        ),
        honoured(
            "CookieManager.save.cookies",
            "false",
            "Store cookies as variables.",
        ),
        honoured(
            "CookieManager.name.prefix",
            "COOKIE_",
            "Prefix of the names of those variables.",
        ),
        honoured(
            "CookieManager.check.cookies",
            "true",
            "Do not store cookies that the policy rejects.",
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
            "(ex cache)",
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
};
