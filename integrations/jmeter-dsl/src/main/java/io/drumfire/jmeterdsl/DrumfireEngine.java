package io.drumfire.jmeterdsl;

import io.drumfire.launcher.Outcome;
import io.drumfire.launcher.Program;
import io.drumfire.launcher.Run;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import us.abstracta.jmeter.javadsl.core.DslJmeterEngine;
import us.abstracta.jmeter.javadsl.core.DslTestPlan;

/**
 * Runs a test plan of jmeter-java-dsl with Drumfire: {@code testPlan(…).runIn(new DrumfireEngine())}.
 *
 * <p>Groovy scripts run with the JMeter jars on the class path. Scripts that are Java lambdas exist only in this virtual
 * machine, so another program cannot run them; they are rejected before anything is sent.
 */
public class DrumfireEngine implements DslJmeterEngine {
    private static final Logger LOG = LoggerFactory.getLogger(DrumfireEngine.class);

    private final Map<String, String> properties = new LinkedHashMap<>();
    private final List<String> options = new ArrayList<>();
    private Path program;

    /** Sets a JMeter property. */
    public DrumfireEngine prop(String name, Object value) {
        properties.put(name, String.valueOf(value));
        return this;
    }

    /** Reads JMeter properties from a file. */
    public DrumfireEngine propertiesFile(String file) {
        return option("-q", Paths.get(file).toAbsolutePath());
    }

    /** Writes the report as one HTML page. */
    public DrumfireEngine report(String file) {
        return option("--report", Paths.get(file).toAbsolutePath());
    }

    /** Writes the run file, with which later runs can be compared. */
    public DrumfireEngine runFile(String file) {
        return option("--run-file", Paths.get(file).toAbsolutePath());
    }

    /** Compares with an earlier run file; {@link DrumfireStats#failures()} says whether this run is significantly worse. */
    public DrumfireEngine baseline(String file) {
        return option("--baseline", Paths.get(file).toAbsolutePath());
    }

    /** Adds a threshold such as {@code p95 > 300ms}; {@link DrumfireStats#failures()} says whether it was broken. */
    public DrumfireEngine failOn(String threshold) {
        return option("--fail-on", threshold);
    }

    /** The program to run, instead of the one that {@code drumfire.binary} names or the one on the PATH. */
    public DrumfireEngine program(Path file) {
        program = file;
        return this;
    }

    private DrumfireEngine option(String name, Object value) {
        options.add(name);
        options.add(value.toString());
        return this;
    }

    /**
     * Runs the plan to its end.
     *
     * @throws DrumfireException if the plan cannot run; the message contains the program's output
     */
    @Override
    public DrumfireStats run(DslTestPlan testPlan) throws IOException, InterruptedException {
        // Plans name files relative to the current folder, but the program searches the plan's folder, so the plan goes here.
        Path plan = Files.createTempFile(Paths.get("").toAbsolutePath(), "drumfire-", ".jmx");
        try (ClassPathHome home = new ClassPathHome()) {
            testPlan.saveAsJmx(plan.toString());
            refuseLambdas(plan);
            Run run = new Run(program == null ? Program.find() : program, plan)
                    .properties(properties)
                    .environment("JMETER_HOME", home.folder().toString())
                    .output(LOG::info)
                    .in(home.folder());
            if (!options.contains("--run-file")) {
                run.flag("--no-run-file");
            }
            home.classFolders().ifPresent(folders -> run.option("-J", "user.classpath=" + folders));
            options.forEach(run::flag);
            Outcome outcome = run.start();
            if (!outcome.hasNumbers()) {
                throw new DrumfireException(String.join("\n", outcome.failures()));
            }
            return new DrumfireStats(outcome);
        } finally {
            Files.deleteIfExists(plan);
        }
    }

    private static void refuseLambdas(Path plan) throws IOException {
        String jmx = new String(Files.readAllBytes(plan), StandardCharsets.UTF_8);
        if (jmx.contains("Dsl" + "Lambda")) {
            throw new DrumfireException("The plan has a script that is a Java lambda, which only this virtual machine could run; "
                    + "write it as Groovy text, or run the plan with EmbeddedJmeterEngine");
        }
    }
}
