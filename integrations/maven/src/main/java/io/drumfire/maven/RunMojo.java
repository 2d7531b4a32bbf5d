package io.drumfire.maven;

import io.drumfire.launcher.ExitCode;
import io.drumfire.launcher.Run;
import io.drumfire.maven.Configurations.Configuration;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.maven.model.Plugin;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.util.FileUtils;

/** Runs the plans in sequence. */
@Mojo(name = "jmeter", defaultPhase = LifecyclePhase.INTEGRATION_TEST, threadSafe = true)
public class RunMojo extends AbstractConfiguringMojo {
    private static final List<String> LEVELS = Arrays.asList("ERROR", "WARN", "INFO", "DEBUG");

    /** Thresholds for every plan, such as {@code p95 > 300ms} or {@code errors of Login > 1%}. */
    @Parameter
    private List<String> failOn = new ArrayList<>();

    /** Whether the build fails if a run's verdict on its own numbers is not VALID. */
    @Parameter(property = "drumfire.strict", defaultValue = "false")
    private boolean strict;

    @Override
    protected void perform() throws MojoExecutionException, MojoFailureException {
        heading(" P E R F O R M A N C E    T E S T S");
        if (!testFilesDirectory.isDirectory()) {
            getLog().info("<testFilesDirectory>" + testFilesDirectory + "</testFilesDirectory> does not exist...");
            getLog().info("Performance tests skipped!");
            return;
        }
        Configuration configuration = configuration(selectedConfiguration, false);
        try {
            FileUtils.copyDirectoryStructure(testFilesDirectory, testFilesBuildDirectory);
        } catch (IOException error) {
            throw new MojoExecutionException(testFilesDirectory + " cannot be copied: " + error.getMessage(), error);
        }
        configuration.resultFilesLocations = new ArrayList<>();
        configuration.failures = new ArrayList<>();
        List<String> plans = new Plans(testFilesIncluded, testFilesExcluded).in(testFilesBuildDirectory);
        for (int index = 0; index < plans.size(); index++) {
            List<String> remote = remoteConfig.options(index == 0, index == plans.size() - 1);
            configuration.resultFilesLocations.add(run(plans.get(index), remote, configuration));
            pause();
        }
        Configurations.read(testConfigFile).write(configuration, testConfigFile);
        // Leave the failure to `results`, which runs after post-integration-test has stopped what the
        // build started.
        if (!configuration.failures.isEmpty() && !resultsAreChecked()) {
            throw new MojoFailureException(String.join("\n", configuration.failures));
        }
    }

    private String run(String plan, List<String> remote, Configuration configuration) throws MojoExecutionException {
        ResultFile names = new ResultFile(
                testResultsTimestamp ? ResultFile.format(resultsFileNameDateFormat, getLog()) : null,
                appendResultsTimestamp,
                configuration.resultsOutputIsCSVFormat);
        File results = new File(resultsDirectory, names.name(plan, LocalDateTime.now()));
        List<String> command = command(plan, results, configuration);
        command.addAll(remote);
        ProcessBuilder builder = new ProcessBuilder(command).directory(configuration.bin());
        jMeterProcessJVMSettings.into(builder.environment());
        configuration.into(builder.environment());
        getLog().info("Executing test: " + plan);
        try {
            Files.deleteIfExists(results.toPath());
            if (generateReports) {
                Files.createDirectories(report(plan).toPath());
            }
            int code = Run.execute(builder, line -> {
                if (suppressJMeterOutput) {
                    getLog().debug(line);
                } else {
                    getLog().info(line);
                }
            });
            judge(plan, code, configuration);
        } catch (IOException error) {
            throw new MojoExecutionException(plan + " cannot be run: " + error.getMessage(), error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException(plan + " was interrupted", error);
        }
        getLog().info("Completed Test: " + plan);
        return results.getAbsolutePath();
    }

    private List<String> command(String plan, File results, Configuration configuration) throws MojoExecutionException {
        File log = new File(logsDirectory, new File(plan).getName() + ".log");
        List<String> command = new ArrayList<>(Arrays.asList(
                program().toString(), "-n", "-d", configuration.jmeterDirectoryPath,
                "-p", new File(configuration.bin(), "jmeter.properties").getAbsolutePath(),
                "-t", new File(testFilesBuildDirectory, plan).getAbsolutePath(),
                "-l", results.getAbsolutePath(), "-j", log.getAbsolutePath()));
        for (File properties : customPropertiesFiles) {
            command.addAll(Arrays.asList("-q", properties.getAbsolutePath()));
        }
        if (overrideRootLogLevel != null && LEVELS.contains(overrideRootLogLevel.toUpperCase(Locale.ROOT))) {
            command.addAll(Arrays.asList("-L", overrideRootLogLevel.toUpperCase(Locale.ROOT)));
        } else if (overrideRootLogLevel != null && !overrideRootLogLevel.trim().isEmpty()) {
            getLog().warn("Unknown log level `" + overrideRootLogLevel + "`; write one of " + String.join(", ", LEVELS));
        }
        if (proxyConfig != null) {
            command.addAll(proxyConfig.options());
        }
        if (generateReports) {
            getLog().info("Will generate HTML report in " + report(plan));
            command.addAll(Arrays.asList("-f", "-e", "-o", report(plan).getAbsolutePath()));
        }
        configuration.propertiesMap.get("GLOBAL_PROPERTIES").propertiesFile.properties
                .forEach((name, value) -> command.add("-G" + name + "=" + value));
        if (!failOn.isEmpty()) {
            command.add("-Jdrumfire.fail_on=" + String.join("; ", failOn));
        }
        if (strict) {
            command.add("-Jdrumfire.strict=true");
        }
        return command;
    }

    private File report(String plan) {
        return new File(reportDirectory, ResultFile.withoutExtension(plan));
    }

    private void judge(String plan, int code, Configuration configuration) throws MojoExecutionException {
        switch (code) {
            case ExitCode.OK:
                return;
            case ExitCode.NOTHING_SENT:
                getLog().warn(plan + " sent nothing; see its log in " + logsDirectory);
                return;
            case ExitCode.THRESHOLDS:
            case ExitCode.NOT_TRUSTED:
                configuration.failures.add(plan + ": " + ExitCode.meaning(code));
                return;
            case ExitCode.TERMINATED:
                if (doNotFailBuildIfJVMIsKilled) {
                    getLog().warn(plan + " was stopped by a signal; the build continues because of doNotFailBuildIfJVMIsKilled");
                    return;
                }
                break;
            default:
                break;
        }
        throw new MojoExecutionException(plan + " failed with exit code " + code + ": " + ExitCode.meaning(code) + "; its output is above");
    }

    private void pause() throws MojoExecutionException {
        try {
            TimeUnit.SECONDS.sleep(Long.parseLong(postTestPauseInSeconds.trim()));
        } catch (NumberFormatException error) {
            getLog().error("postTestPauseInSeconds `" + postTestPauseInSeconds + "` is not a number; the run does not pause");
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted", error);
        }
    }

    /** Whether this plugin's goal {@code results} has an execution later in the build. */
    private boolean resultsAreChecked() {
        String key = execution.getPlugin().getKey();
        for (Plugin plugin : project.getBuildPlugins()) {
            if (plugin.getKey().equals(key)) {
                return plugin.getExecutions().stream().anyMatch(one -> one.getGoals().contains("results"))
                        && session.getGoals().stream().anyMatch(goal -> Arrays.asList("verify", "install", "deploy").contains(goal));
            }
        }
        return false;
    }
}
