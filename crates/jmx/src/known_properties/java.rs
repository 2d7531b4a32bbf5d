//! System properties that Java's own library reads.

use super::{PropertySection, honoured, without};

const FIXED: &str = "this never changes during a run";

pub(super) const JAVA: PropertySection = PropertySection {
    title: "Java's system properties",
    properties: &[
        honoured(
            "user.timezone",
            "",
            "Time zone of functions, result times and the log, such as `Europe/Berlin`; by default the system's. Java reads it at its start: only `JVM_ARGS` sets it.",
        ),
        honoured(
            "user.language",
            "",
            "Language of names of months, days and zones, such as `de`; by default `en`, as JMeter's start script sets it. Only `JVM_ARGS` or `JMETER_LANGUAGE` sets it.",
        ),
        honoured(
            "user.country",
            "",
            "Region that decides the first day of the week and the zones that short names stand for. Only `JVM_ARGS` sets it.",
        ),
        honoured(
            "file.encoding",
            "UTF-8",
            "Character set of CSV Data Sets, `__FileToString`, `__CSVRead` and TCP Samplers that name none. Only `JVM_ARGS` sets it.",
        ),
        without(
            "user.variant",
            "no name of a month, day or zone depends on it",
        ),
        without("sun.jnu.encoding", "names of files are UTF-8"),
        without("line.separator", FIXED),
        without(
            "user.dir",
            "the working folder is that of the process, as in Java since version 11",
        ),
        honoured(
            "http.keepAlive",
            "true",
            "With any other value the implementation Java uses a new connection for each request. HttpClient4 ignores it.",
        ),
        without(
            "http.maxConnections",
            "HttpClient4 ignores it, and with the implementation Java it limits only how many idle connections stay open",
        ),
        without(
            "networkaddress.cache.*",
            "these are security properties, which Java does not read from system properties; set `sun.net.inetaddr.ttl`",
        ),
        honoured(
            "sun.net.inetaddr.ttl",
            "30",
            "Seconds for which the addresses of a name are valid; a negative number is for ever.",
        ),
        without(
            "sun.net.inetaddr.negative.ttl",
            "Java's own security properties win over it: a failed look-up of a name is valid for 10 seconds",
        ),
        without(
            "java.security.properties",
            "security properties are not read; set `sun.net.inetaddr.ttl` for the time that addresses are valid",
        ),
        honoured(
            "http.maxRedirects",
            "20",
            "The most requests of a sample of the implementation Java that redirects automatically. HttpClient4 ignores it: see `httpsampler.max_redirects`.",
        ),
        without(
            "http.strictPostRedirect",
            "a redirected POST becomes a GET, except after 307",
        ),
        honoured(
            "http.agent",
            "",
            "The `User-Agent` of the implementation Java; the version of Java follows it. HttpClient4 ignores it.",
        ),
        without("http.auth.*", "the Authorization Manager decides"),
        without(
            "http.keepAlive.time.*",
            "the server or the implementation Java decides how long connections are kept",
        ),
        without(
            "sun.net.http.retryPost",
            "a POST of the implementation Java is sent again if its connection breaks",
        ),
        without(
            "sun.net.http.allowRestrictedHeaders",
            "all headers of Header Managers are sent, as with JMeter's own settings",
        ),
        without(
            "sun.net.client.defaultConnectTimeout",
            "the time limits of each HTTP sampler apply",
        ),
        without(
            "sun.net.client.defaultReadTimeout",
            "the time limits of each HTTP sampler apply",
        ),
        without(
            "socksProxy*",
            "SOCKS proxies are not supported; set an HTTP proxy",
        ),
        without(
            "java.net.useSystemProxies",
            "the options -H and -P set the proxy",
        ),
        without("javax.net.debug", "TLS is not that of Java"),
        without("java.security.egd", "random numbers are the system's"),
        honoured(
            "java.net.preferIPv4Stack",
            "false",
            "Leaves out the IPv6 addresses of names. Only `JVM_ARGS` sets it.",
        ),
        honoured(
            "java.net.preferIPv6Addresses",
            "false",
            "Tries the IPv6 addresses of names first; `system` tries addresses in the order of the system's resolver. Only `JVM_ARGS` sets it.",
        ),
        without(
            "https.protocols",
            "only the implementation Java reads it, for which it replaces `https.socket.protocols`; set that, or `jdk.tls.client.protocols`",
        ),
        honoured(
            "jdk.tls.client.protocols",
            "TLSv1.3,TLSv1.2",
            "Versions of TLS that are offered, separated by commas, unless `https.socket.protocols` or `https.default.protocol` names some.",
        ),
        honoured(
            "jsse.enableSNIExtension",
            "true",
            "Tells a TLS server the name that is asked for. As in Java, names without a dot are never told.",
        ),
        without(
            "javax.net.ssl.trustStore*",
            "all certificates are trusted, as in JMeter; `--tls-verify` verifies them",
        ),
    ],
};
