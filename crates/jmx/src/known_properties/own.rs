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
            "jmeter.sshmon.interval",
            "1000",
            "Milliseconds between two numbers of an SSHMon Samples Collector.",
        ),
        honoured(
            "jmeter.sshmon.commandTimeout",
            "10000",
            "Milliseconds that one of its commands may take.",
        ),
        honoured(
            "jmeter.sshmon.knownHosts",
            "",
            "A file of keys of hosts; without one, the keys of hosts are not checked.",
        ),
        honoured(
            "jmeter.sshmon.sshConfig",
            "",
            "A configuration file of OpenSSH, such as one with jump hosts.",
        ),
        honoured(
            "jmeter.sshmon.identityPassword",
            "",
            "The password of the keys that this configuration names.",
        ),
        honoured(
            "jmeter.sshmon.locale",
            "en",
            "The language whose numbers the commands print, such as `de`.",
        ),
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
            "Jars as group:artifact:version with commas between them; they are fetched with all that they depend on.",
        ),
        honoured(
            "maven.repo.local",
            "~/.m2/repository",
            "Maven's own repository, where jars are looked for first.",
        ),
        honoured(
            "drumfire.maven.repositories",
            "https://repo.maven.apache.org/maven2",
            "Where jars come from: URLs and folders with commas between them; else the variable DRUMFIRE_MAVEN_REPOSITORIES, or the mirror in ~/.m2/settings.xml.",
        ),
        honoured(
            "drumfire.maven.offline",
            "false",
            "Jars come from folders only.",
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
};
