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
        without("http.keepAlive", "the setting of each HTTP sampler decides"),
        without(
            "http.maxConnections",
            "each user has connections of its own",
        ),
        without(
            "networkaddress.cache.*",
            "these are security properties, which Java does not read from system properties",
        ),
        without(
            "sun.net.inetaddr.ttl",
            "names are looked up as often as the system's resolver and the DNS Cache Manager say",
        ),
        without("http.maxRedirects", "20 redirects are followed"),
        without(
            "http.strictPostRedirect",
            "a redirected POST becomes a GET, except after 307",
        ),
        without("http.agent", "a Header Manager sets the User-Agent"),
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
        without(
            "java.net.preferIPv4Stack",
            "addresses are tried in the order of the system's resolver",
        ),
        without(
            "java.net.preferIPv6Addresses",
            "addresses are tried in the order of the system's resolver",
        ),
        without("https.protocols", "TLS 1.2 and 1.3 are offered"),
        without("jdk.tls.client.protocols", "TLS 1.2 and 1.3 are offered"),
        without(
            "jsse.enableSNIExtension",
            "the name of the server is always sent",
        ),
        without(
            "javax.net.ssl.trustStore*",
            "all certificates are trusted, as in JMeter; `--tls-verify` verifies them",
        ),
    ],
};
