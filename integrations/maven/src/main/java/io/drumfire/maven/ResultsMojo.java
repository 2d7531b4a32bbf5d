package io.drumfire.maven;

import io.drumfire.maven.Configurations.Configuration;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Reads the result files and fails the build if too many samples have failed. */
@Mojo(name = "results", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public class ResultsMojo extends AbstractLoadTestMojo {
    /** Whether the build succeeds although samples have failed. */
    @Parameter(defaultValue = "false")
    private boolean ignoreResultFailures;

    /** Whether failed samples are counted. */
    @Parameter(defaultValue = "true")
    private boolean scanResultsForFailedRequests;

    /** The accepted share of failed samples, in percent. */
    @Parameter(defaultValue = "0")
    private float errorRateThresholdInPercent;

    /** Whether successful samples are counted. */
    @Parameter(defaultValue = "true")
    private boolean scanResultsForSuccessfulRequests;

    /** Whether only samples with one of {@code failureMessages} count as failed. */
    @Parameter(defaultValue = "false")
    private boolean onlyFailWhenMatchingFailureMessage;

    /** Whether the build fails if a result file contains no samples. */
    @Parameter(defaultValue = "false")
    private boolean failBuildIfResultFileIsEmpty;

    /** Failure messages; case does not matter. */
    @Parameter
    private List<String> failureMessages = new ArrayList<>();

    @Override
    protected void perform() throws MojoExecutionException, MojoFailureException {
        Configuration configuration = Configurations.read(testConfigFile).find(selectedConfiguration).orElseThrow(() -> new MojoExecutionException(
                testConfigFile + " has no configuration `" + selectedConfiguration + "`; run the goal jmeter before the goal results"));
        if (!configuration.failures.isEmpty()) {
            throw new MojoFailureException(String.join("\n", configuration.failures));
        }
        if (!ignoreResultFailures && !scanResultsForFailedRequests) {
            getLog().warn("scanResultsForFailedRequests=false needs ignoreResultFailures=true; failed samples are counted");
            scanResultsForFailedRequests = true;
        }
        if (!scanResultsForSuccessfulRequests && !scanResultsForFailedRequests) {
            getLog().info("Results of Performance Test(s) have not been scanned.");
            return;
        }
        judge(configuration, count(configuration));
    }

    private Counts count(Configuration configuration) throws MojoExecutionException {
        heading("S C A N N I N G    F O R    R E S U L T S");
        String format = configuration.resultsOutputIsCSVFormat ? "CSV" : "JTL";
        getLog().info("Will scan results using format: " + format);
        Counts counts = new Counts(failureMessages);
        for (String file : configuration.resultFilesLocations) {
            counts.add(new File(file), configuration.resultsOutputIsCSVFormat);
        }
        heading("P E R F O R M A N C E    T E S T    R E S U L T S");
        getLog().info("Result (." + format.toLowerCase(Locale.ROOT) + ") files scanned: " + configuration.resultFilesLocations.size());
        return counts;
    }

    private void judge(Configuration configuration, Counts counts) throws MojoFailureException {
        long successes = scanResultsForSuccessfulRequests ? counts.successes() : 0;
        long failures = !scanResultsForFailedRequests ? 0 : onlyFailWhenMatchingFailureMessage ? counts.matching() : counts.failures();
        double percent = percent(failures, successes + failures);
        getLog().info("Successful requests:         " + successes);
        getLog().info("Failed requests:             " + failures);
        getLog().info("Failures:                    " + percent + "% (" + errorRateThresholdInPercent + "% accepted)");
        if (!ignoreResultFailures && percent > errorRateThresholdInPercent) {
            throw new MojoFailureException("Failing build because error percentage " + percent + " is above accepted threshold "
                    + errorRateThresholdInPercent + ". JMeter logs are available at: '" + logsDirectory.getAbsolutePath() + "'");
        }
        if (successes + failures == 0 && failBuildIfResultFileIsEmpty) {
            throw new MojoFailureException("Failing build because no requests were found in the results file!");
        }
        if (configuration.resultFilesLocations.isEmpty()) {
            getLog().warn("No plan was run; correct testFilesIncluded if there should have been one");
        }
    }

    /** The share in percent, rounded half up to two decimals. */
    static double percent(long failures, long total) {
        return total == 0 ? 0 : Math.round(failures * 10_000.0 / total) / 100.0;
    }
}
