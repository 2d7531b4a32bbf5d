package io.drumfire.gradle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The {@code drumfire} block of a build script. */
public class DrumfireExtension {
    private final List<String> plans = new ArrayList<>();
    private final List<String> failOn = new ArrayList<>();
    private final List<String> options = new ArrayList<>();
    private final Map<String, String> properties = new LinkedHashMap<>();
    private boolean strict;
    private boolean ignoreFailures;
    private String baseline;
    private String binary;

    /**
     * Adds plans, relative to the project. Without any, all plans in {@code src/test/jmeter} run.
     */
    public void plan(String... files) {
        plans.addAll(Arrays.asList(files));
    }

    /** Adds thresholds such as {@code p95 > 300ms}. */
    public void failOn(String... thresholds) {
        failOn.addAll(Arrays.asList(thresholds));
    }

    /** Adds options of {@code drumfire run}, one argument each. */
    public void options(String... words) {
        options.addAll(Arrays.asList(words));
    }

    /** Sets a JMeter property. */
    public void property(String name, Object value) {
        properties.put(name, String.valueOf(value));
    }

    /** Sets the number of users over all thread groups. */
    public void users(int users) {
        options("--users", String.valueOf(users));
    }

    /** Sets how long each thread group runs, such as {@code 5m}. */
    public void duration(String duration) {
        options("--duration", duration);
    }

    /** Sets the rate in samples per second. */
    public void rate(Object rate) {
        options("--rate", String.valueOf(rate));
    }

    List<String> plans() {
        return plans;
    }

    List<String> thresholds() {
        return failOn;
    }

    List<String> words() {
        return options;
    }

    Map<String, String> jmeterProperties() {
        return properties;
    }

    /** Whether the build fails if a run's verdict on its own numbers is not VALID. */
    public boolean isStrict() {
        return strict;
    }

    public void setStrict(boolean strict) {
        this.strict = strict;
    }

    /** Whether broken thresholds are only reported and do not fail the build. */
    public boolean isIgnoreFailures() {
        return ignoreFailures;
    }

    public void setIgnoreFailures(boolean ignoreFailures) {
        this.ignoreFailures = ignoreFailures;
    }

    /** A run file to compare with. The build fails if a run is significantly worse. */
    public String getBaseline() {
        return baseline;
    }

    public void setBaseline(String baseline) {
        this.baseline = baseline;
    }

    /** The program, instead of the one that {@code drumfire.binary} names or the one on the PATH. */
    public String getBinary() {
        return binary;
    }

    public void setBinary(String binary) {
        this.binary = binary;
    }
}
