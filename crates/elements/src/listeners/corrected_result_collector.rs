//! jp@gc - Response Times Over Time.

use crate::form::{ElementFacts, Role};

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

pub const CLASS: &str = "kg.apc.jmeter.vizualizers.CorrectedResultCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - Response Times Over Time",
    "kg.apc.jmeter.vizualizers.ResponseTimesOverTimeGui",
)
.also(&[
    (
        "kg.apc.jmeter.vizualizers.TransactionsPerSecondGui",
        "jp@gc - Transactions per Second",
    ),
    (
        "kg.apc.jmeter.vizualizers.ThreadsStateOverTimeGui",
        "jp@gc - Active Threads Over Time",
    ),
    (
        "kg.apc.jmeter.vizualizers.HitsPerSecondGui",
        "jp@gc - Hits per Second",
    ),
    (
        "kg.apc.jmeter.vizualizers.LatenciesOverTimeGui",
        "jp@gc - Response Latencies Over Time",
    ),
    (
        "kg.apc.jmeter.vizualizers.ResponseTimesPercentilesGui",
        "jp@gc - Response Times Percentiles",
    ),
    (
        "kg.apc.jmeter.vizualizers.ResponseTimesDistributionGui",
        "jp@gc - Response Times Distribution",
    ),
    (
        "kg.apc.jmeter.vizualizers.ResponseCodesPerSecondGui",
        "jp@gc - Response Codes per Second",
    ),
    (
        "kg.apc.jmeter.vizualizers.BytesThroughputOverTimeGui",
        "jp@gc - Bytes Throughput Over Time",
    ),
    (
        "kg.apc.jmeter.vizualizers.ConnectTimesOverTimeGui",
        "jp@gc - Connect Times Over Time",
    ),
    (
        "kg.apc.jmeter.vizualizers.TimesVsThreadsGui",
        "jp@gc - Response Times vs Threads",
    ),
    (
        "kg.apc.jmeter.vizualizers.ThroughputVsThreadsGui",
        "jp@gc - Transaction Throughput vs Threads",
    ),
    (
        "kg.apc.jmeter.vizualizers.SynthesisReportGui",
        "jp@gc - Synthesis Report (filtered)",
    ),
    (
        "kg.apc.jmeter.vizualizers.PageDataExtractorOverTimeGui",
        "jp@gc - Page Data Extractor",
    ),
])
.help("Writes results into a file, and draws charts in JMeter's window.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG]);
