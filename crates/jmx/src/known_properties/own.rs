//! Drumfire's own properties.

use super::{PropertySection, honoured};

pub(super) const OWN: PropertySection = PropertySection {
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
            "`fast`: a shutdown ends timers and pauses at once; otherwise they finish first, as in JMeter.",
        ),
        honoured(
            "drumfire.grace_seconds",
            "15",
            "Seconds that users have after the first SIGINT, SIGTERM or SIGHUP to finish their samples; then Drumfire aborts the samples.",
        ),
        honoured(
            "drumfire.max_exchange_ms",
            "0",
            "Milliseconds that one exchange may take in all, with its connection: an HTTP request and its response, or a WebSocket, TCP or FTP sample. Beyond it the row fails. JMeter's response timeout is the longest silence, which a server that sends a byte now and then never reaches; 0 is no such limit, as in JMeter.",
        ),
        honoured(
            "drumfire.fail_on",
            "",
            "Thresholds, separated by semicolons; a run for which one is true, or cannot be judged, ends with exit code 5.",
        ),
        honoured(
            "drumfire.allow_unjudged",
            "false",
            "A threshold that cannot be judged does not end the run with exit code 5 (`run --allow-unjudged`).",
        ),
        honoured(
            "drumfire.without_warm_up",
            "false",
            "Statistics and thresholds at the end leave the warm-up out, if there is one (`run --without-warm-up`).",
        ),
        honoured(
            "drumfire.abort_on",
            "",
            "Thresholds, separated by semicolons; the first that is true ends the run, with exit code 5.",
        ),
        honoured(
            "drumfire.missing_files",
            "refuse",
            "`jmeter`: run a plan with a missing file or class path entry as JMeter does, where users end or samples fail, instead of refusing the plan.",
        ),
        honoured(
            "drumfire.bad_numbers",
            "refuse",
            "`jmeter`: read a malformed number from the command line, or a port above 65535 in the plan, as JMeter does, instead of refusing the plan.",
        ),
        honoured(
            "drumfire.max_users",
            "2000000",
            "Refuse a plan with more users than this, in all thread groups together.",
        ),
        honoured(
            "drumfire.max_matches",
            "1000000",
            "The most matches that a Regular Expression Extractor or Boundary Extractor keeps; with more, it drops the rest and the sample fails.",
        ),
        honoured(
            "drumfire.xml.max_entity_bytes",
            "16777216",
            "Bytes that the entities of an XML document's own document type may add to it; with more, the document cannot be read.",
        ),
        honoured(
            "drumfire.max_label_bytes",
            "65536",
            "Statistics cut longer labels to this many bytes; rows keep them whole.",
        ),
        honoured(
            "drumfire.max_row_bytes",
            "268435456",
            "Refuse a result file with a longer row or XML element.",
        ),
        honoured(
            "drumfire.keep_runs",
            "true",
            "Keep the run files of the last 20 runs for `drumfire runs`, each written while its run goes on: in .drumfire/ beside drumfire.toml, or else in the user's state folder.",
        ),
        honoured(
            "drumfire.runs.keep",
            "20",
            "How many run files stay in that folder.",
        ),
        honoured(
            "drumfire.out",
            "",
            "Where the numbers go during the run, as `--out` takes it; several are separated by semicolons.",
        ),
        honoured(
            "drumfire.tags",
            "",
            "Tags of everything that `drumfire.out` sends: `NAME=VALUE`, separated by semicolons.",
        ),
        honoured(
            "drumfire.watch",
            "",
            "The target's own metrics, as `--watch` takes them, separated by semicolons.",
        ),
        honoured(
            "drumfire.trace",
            "",
            "HTTP requests carry a `traceparent`, and servers are asked to record this share of the traces: `1/100`, `5%` or `0.05` (`run --trace`); without it, requests are as the plan says.",
        ),
        honoured(
            "drumfire.trace.column",
            "false",
            "Result files have the id of each sample's trace: the column `traceId` in CSV, the attribute of that name in XML.",
        ),
        honoured(
            "drumfire.trace.link",
            "",
            "An address with `{trace_id}` by which the report links its slowest samples (`run --trace-link`).",
        ),
        honoured(
            "drumfire.trace.server",
            "",
            "The metric of `Server-Timing` that is the server's whole time; without it `total`, or the longest.",
        ),
        honoured(
            "drumfire.trace.names",
            "32",
            "How many names of `Server-Timing` metrics a label's statistics keep apart, 1,000 at most; samples keep as many.",
        ),
        honoured(
            "drumfire.trace.slowest",
            "10",
            "How many of a label's slowest recorded samples are kept, 1,000 at most.",
        ),
        honoured(
            "drumfire.ui",
            "",
            "Where the live page listens, as `--ui` takes it: `127.0.0.1:0` is a free port of this machine.",
        ),
        honoured(
            "prometheus.ip",
            "127.0.0.1",
            "The address at which the plan's Prometheus Listeners publish their metrics (jmeter-prometheus-plugin).",
        ),
        honoured("prometheus.port", "9270", "The port of that address."),
        honoured(
            "jmeter.sshmon.interval",
            "1000",
            "Milliseconds between two measurements of an SSHMon Samples Collector.",
        ),
        honoured(
            "jmeter.sshmon.commandTimeout",
            "10000",
            "Milliseconds that one of its commands may take.",
        ),
        honoured(
            "jmeter.sshmon.knownHosts",
            "",
            "A file with the keys of hosts; without one, Drumfire does not check them.",
        ),
        honoured(
            "jmeter.sshmon.sshConfig",
            "",
            "An OpenSSH configuration file, such as one with jump hosts.",
        ),
        honoured(
            "jmeter.sshmon.identityPassword",
            "",
            "The password of the keys that this configuration names.",
        ),
        honoured(
            "jmeter.sshmon.locale",
            "en",
            "The language in which the commands print numbers, such as `de`.",
        ),
        honoured(
            "prometheus.delay",
            "0",
            "Seconds for which the metrics stay available after the end of the run.",
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
            "The folder of the Java that runs scripts and Java elements; without it JAVA_HOME's, or the one on the PATH.",
        ),
        honoured(
            "drumfire.jvm.options",
            "",
            "Options of that Java, separated by blanks.",
        ),
        honoured(
            "drumfire.jvm.dependencies",
            "",
            "Jars as group:artifact:version, separated by commas; Drumfire fetches them with all their dependencies.",
        ),
        honoured(
            "maven.repo.local",
            "~/.m2/repository",
            "Maven's own repository, where Drumfire looks for jars first.",
        ),
        honoured(
            "drumfire.maven.repositories",
            "https://repo.maven.apache.org/maven2",
            "Where jars come from: URLs and folders, separated by commas; without it the variable DRUMFIRE_MAVEN_REPOSITORIES, or the mirror in ~/.m2/settings.xml.",
        ),
        honoured(
            "drumfire.maven.offline",
            "false",
            "Take jars from folders only and never use the network for them (`run --offline`).",
        ),
        honoured(
            "drumfire.jmeter.home",
            "",
            "The folder of the JMeter whose jars Drumfire uses; without it JMETER_HOME's, the one whose bin the run starts in, or one that Drumfire assembles from Maven's jars.",
        ),
        honoured(
            "drumfire.keep_failures",
            "true",
            "Run files and reports keep the first failed request and response of each kind; secrets in them are masked.",
        ),
        honoured(
            "drumfire.load.users",
            "",
            "Users in total, divided among the thread groups in proportion to their own (`run --users`).",
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
            "drumfire.load.iterations",
            "",
            "Iterations of each user (`run --iterations`); with a duration, the group ends with whichever is over first.",
        ),
        honoured(
            "drumfire.load.rate",
            "",
            "Samples a second, all groups together (`run --rate`); needs a duration.",
        ),
        honoured(
            "drumfire.load.group",
            "",
            "Apply that load only to the thread group of this name (`run --group`).",
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
            "drumfire.verbose",
            "false",
            "At the end, a run also prints the generator's own times and its connections (`run --verbose`).",
        ),
        honoured(
            "demo.*",
            "",
            "Set by `run --demo`: `demo.host`, `demo.port` and `demo.https.port` of the demo site.",
        ),
    ],
};
