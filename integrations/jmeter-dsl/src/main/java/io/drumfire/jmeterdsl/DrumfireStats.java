package io.drumfire.jmeterdsl;

import io.drumfire.launcher.Outcome;
import java.time.Instant;
import java.util.List;
import us.abstracta.jmeter.javadsl.core.TestPlanStats;

/** The statistics of a run in the objects of jmeter-java-dsl. Percentiles are of all samples, times to the microsecond. */
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

    /** Everything that the program tells of the run, with its verdict on itself. */
    public Outcome outcome() {
        return outcome;
    }

    /** Thresholds that were broken and other reasons for an exit code other than 0, in sentences. */
    public List<String> failures() {
        return outcome.failures();
    }
}
