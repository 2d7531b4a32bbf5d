package io.drumfire.jmeterdsl;

import io.drumfire.launcher.Outcome;
import java.time.Duration;
import java.time.Instant;
import org.apache.jmeter.samplers.SampleResult;
import us.abstracta.jmeter.javadsl.core.stats.CountMetricSummary;
import us.abstracta.jmeter.javadsl.core.stats.StatsSummary;
import us.abstracta.jmeter.javadsl.core.stats.TimeMetricSummary;

/** The statistics of one label, or of all samples. */
final class LabelStats implements StatsSummary, TimeMetricSummary {
    private final Outcome.Summary run;
    private final Outcome.Label label;

    LabelStats(Outcome.Summary run, Outcome.Label label) {
        this.run = run;
        this.label = label;
    }

    @Override
    public void add(SampleResult result) {
        throw new UnsupportedOperationException("The run has ended, and its numbers are final");
    }

    /** The start of the run, because a summary has no times for its labels. */
    @Override
    public Instant firstTime() {
        return Instant.ofEpochMilli(run.startedMs);
    }

    /** The end of the run. */
    @Override
    public Instant endTime() {
        return Instant.ofEpochMilli(run.endedMs);
    }

    @Override
    public CountMetricSummary samples() {
        return count(label.count);
    }

    @Override
    public CountMetricSummary errors() {
        return count(label.failed);
    }

    @Override
    public CountMetricSummary receivedBytes() {
        return count(label.bytesReceived);
    }

    @Override
    public CountMetricSummary sentBytes() {
        return count(label.bytesSent);
    }

    /**
     * A count whose {@code perSecond} equals the program's rate: it spans the time in which samples of the label were
     * taken.
     */
    private CountMetricSummary count(long value) {
        CountMetricSummary summary = new CountMetricSummary();
        summary.increment(value, label.ratePerS > 0 ? Math.round(label.count * 1000 / label.ratePerS) : 0);
        return summary;
    }

    @Override
    public TimeMetricSummary sampleTime() {
        return this;
    }

    @Override
    public Duration min() {
        return duration(label.minMs);
    }

    @Override
    public Duration max() {
        return duration(label.maxMs);
    }

    @Override
    public Duration mean() {
        return duration(label.meanMs);
    }

    @Override
    public Duration median() {
        return duration(label.p50Ms);
    }

    @Override
    public Duration perc90() {
        return duration(label.p90Ms);
    }

    @Override
    public Duration perc95() {
        return duration(label.p95Ms);
    }

    @Override
    public Duration perc99() {
        return duration(label.p99Ms);
    }

    private static Duration duration(double milliseconds) {
        return Duration.ofNanos(Math.round(milliseconds * 1_000_000));
    }
}
