package io.drumfire.jmeterdsl;

import io.drumfire.launcher.Outcome;
import java.time.Instant;
import java.util.List;
import us.abstracta.jmeter.javadsl.core.TestPlanStats;

/** The statistics of a run as objects of jmeter-java-dsl. Percentiles cover all samples, and times have microseconds. */
public class DrumfireStats extends TestPlanStats {
    private final Outcome outcome;

    DrumfireStats(Outcome outcome) {
        super(() -> new LabelStats(outcome.summary(), outcome.summary().total));
        this.outcome = outcome;
        Outcome.Summary summary = outcome.summary();
        summary.labels.forEach(label -> labeledStats.put(label.label, new LabelStats(summary, label)));
        setStart(Instant.ofEpochMilli(summary.startedMs));
        setEnd(Instant.ofEpochMilli(summary.endedMs));
    }

    /** Everything that the program reports about the run, including its verdict. */
    public Outcome outcome() {
        return outcome;
    }

    /** Broken thresholds and other reasons for an exit code other than 0, as sentences. */
    public List<String> failures() {
        return outcome.failures();
    }
}
