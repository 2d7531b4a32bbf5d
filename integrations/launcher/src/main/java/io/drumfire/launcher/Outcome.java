package io.drumfire.launcher;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/** The outcome of a run: its exit code and the numbers of its {@code --summary-json}. */
public final class Outcome {
    private static final Gson GSON = new GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).create();

    private final int exitCode;
    private final Summary summary;
    private final String output;

    Outcome(int exitCode, String json, String output) {
        this.exitCode = exitCode;
        this.summary = json == null ? null : GSON.fromJson(json, Summary.class);
        this.output = output;
    }

    /** The program's exit code; see {@link ExitCode}. */
    public int exitCode() {
        return exitCode;
    }

    /** Everything that the program printed. */
    public String output() {
        return output;
    }

    /** Whether the run completed, so that there are numbers. */
    public boolean hasNumbers() {
        return summary != null;
    }

    /**
     * The numbers of the run.
     *
     * @throws IllegalStateException if the run did not complete; the message contains the program's output
     */
    public Summary summary() {
        if (summary == null) {
            throw new IllegalStateException(ExitCode.meaning(exitCode) + " (exit code " + exitCode + ")\n" + output);
        }
        return summary;
    }

    /** The reasons why the run counts as failed, as sentences; empty if its exit code is 0. */
    public List<String> failures() {
        if (exitCode == ExitCode.OK) {
            return Collections.emptyList();
        }
        List<String> failures = new ArrayList<>();
        if (summary == null) {
            failures.add(ExitCode.meaning(exitCode) + " (exit code " + exitCode + ")\n" + output);
            return failures;
        }
        if (summary.nothingSent != null) {
            failures.add("nothing was sent: " + summary.nothingSent);
        }
        summary.thresholds.stream().filter(threshold -> !threshold.passed).forEach(threshold -> failures.add(threshold.message));
        if (exitCode == ExitCode.NOT_TRUSTED) {
            String reasons = summary.verdict.reasons.stream().map(reason -> reason.what).collect(Collectors.joining("; "));
            failures.add("the verdict is " + summary.verdict.state + ": " + reasons);
        }
        if (failures.isEmpty()) {
            failures.add(ExitCode.meaning(exitCode));
        }
        return failures;
    }

    /**
     * The fields of {@code --summary-json}. Durations are in milliseconds, and times in milliseconds since the
     * Unix epoch.
     */
    public static final class Summary {
        public String name;
        public long startedMs;
        public long endedMs;
        public String nothingSent;
        public Verdict verdict;
        public List<Threshold> thresholds = new ArrayList<>();
        public Label total;
        public List<Label> labels = new ArrayList<>();

        /**
         * The numbers of a label.
         *
         * @throws IllegalArgumentException if no sample has the label; the message lists the labels
         */
        public Label label(String name) {
            return labels.stream().filter(label -> label.label.equals(name)).findFirst().orElseThrow(() -> {
                String known = labels.stream().map(label -> label.label).collect(Collectors.joining("`, `", "`", "`"));
                return new IllegalArgumentException("No sample has the label `" + name + "`; there are " + known);
            });
        }
    }

    /** Whether the numbers can be trusted. */
    public static final class Verdict {
        /** {@code VALID}, {@code DEGRADED} or {@code INVALID}. */
        public String state;
        public List<Reason> reasons = new ArrayList<>();
    }

    /** A reason for a verdict other than VALID. */
    public static final class Reason {
        public String what;
        public String measured;
        public String remedy;
    }

    /** A threshold and whether it was met. */
    public static final class Threshold {
        public String rule;
        public boolean passed;
        public String message;
    }

    /** The numbers of a label or of all samples. */
    public static final class Label {
        public String label;
        public boolean transaction;
        public long count;
        public long failed;
        public double failedPercent;
        public double ratePerS;
        public double meanMs;
        public double minMs;
        public double maxMs;
        public double p50Ms;
        public double p90Ms;
        public double p95Ms;
        public double p99Ms;
        public long bytesReceived;
        public long bytesSent;
    }
}
