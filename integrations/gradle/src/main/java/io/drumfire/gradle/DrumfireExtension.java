package io.drumfire.gradle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The block {@code drumfire} of a build. */
public class DrumfireExtension {
    private final List<String> plans = new ArrayList<>();
    private final List<String> failOn = new ArrayList<>();
    private final List<String> options = new ArrayList<>();
    private final Map<String, String> properties = new LinkedHashMap<>();
    private boolean strict;
    private boolean ignoreFailures;
    private String baseline;
    private String binary;

    /** Adds plans, relative to the project. Without any, all of {@code src/test/jmeter} are run. */
    public void plan(String... files) {
        plans.addAll(Arrays.asList(files));
    }

    /** Adds thresholds such as {@code p95 > 300ms}. */
    public void failOn(String... thresholds) {
        failOn.addAll(Arrays.asList(thresholds));
    }

    /** Adds options of {@code drumfire run}, a word each. */
    public void options(String... words) {
        options.addAll(Arrays.asList(words));
    }

    /** Sets a JMeter property. */
    public void property(String name, Object value) {
        properties.put(name, String.valueOf(value));
    }

    /** Users in all thread groups together. */
    public void users(int users) {
        options("--users", String.valueOf(users));
    }

    /** How long each thread group runs, such as {@code 5m}. */
    public void duration(String duration) {
        options("--duration", duration);
    }

    /** Samples a second. */
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

    /** Whether a run whose verdict on its own numbers is not VALID fails the build. */
    public boolean isStrict() {
        return strict;
    }

    public void setStrict(boolean strict) {
        this.strict = strict;
    }

    /** Whether broken thresholds are only told. */
    public boolean isIgnoreFailures() {
        return ignoreFailures;
    }

    public void setIgnoreFailures(boolean ignoreFailures) {
        this.ignoreFailures = ignoreFailures;
    }

    /** A run file to compare with; the build fails if a run is worse beyond noise. */
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
