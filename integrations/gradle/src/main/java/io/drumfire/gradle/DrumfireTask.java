package io.drumfire.gradle;

import io.drumfire.launcher.Outcome;
import io.drumfire.launcher.Program;
import io.drumfire.launcher.Run;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.api.tasks.TaskAction;

/**
 * Runs plans in sequence. Each plan leaves {@code report.html}, {@code results.jtl} and {@code run.drumfire} in a folder of
 * {@code build/drumfire}, and its thresholds as JUnit results in {@code build/test-results/drumfire}. The task is never up to
 * date, because a load test measures something outside the build.
 */
public class DrumfireTask extends DefaultTask {
    private DrumfireExtension settings;
    private File folder;
    private File plans;
    private File output;
    private File results;

    void use(DrumfireExtension settings, File folder, File plans, File output, File results) {
        this.settings = settings;
        this.folder = folder;
        this.plans = plans;
        this.output = output;
        this.results = results;
    }

    /** Runs all plans, even after one of them has failed. */
    @TaskAction
    public void run() throws IOException, InterruptedException {
        List<Path> chosen = chosen();
        if (chosen.isEmpty()) {
            throw new GradleException("There is no plan in " + plans + "; put one there, or name it with `plan` in the block `drumfire`");
        }
        List<String> failures = new ArrayList<>();
        for (Path plan : chosen) {
            for (String failure : run(plan).failures()) {
                failures.add(plan.getFileName() + ": " + failure);
            }
        }
        if (failures.isEmpty()) {
            return;
        }
        if (!settings.isIgnoreFailures()) {
            throw new GradleException(String.join("\n", failures));
        }
        failures.forEach(getLogger()::warn);
    }

    private List<Path> chosen() throws IOException {
        if (!settings.plans().isEmpty()) {
            return settings.plans().stream().map(plan -> folder.toPath().resolve(plan)).collect(Collectors.toList());
        }
        if (!plans.isDirectory()) {
            return new ArrayList<>();
        }
        try (Stream<Path> files = Files.walk(plans.toPath())) {
            return files.filter(file -> file.toString().endsWith(".jmx")).sorted().collect(Collectors.toList());
        }
    }

    private Outcome run(Path plan) throws IOException, InterruptedException {
        if (!Files.isRegularFile(plan)) {
            throw new GradleException("There is no plan `" + plan + "`; correct `plan` in the block `drumfire`");
        }
        String name = name(plan);
        Path place = Files.createDirectories(output.toPath().resolve(name));
        Files.createDirectories(results.toPath());
        Files.deleteIfExists(place.resolve("results.jtl"));
        Path program = settings.getBinary() == null ? Program.find() : folder.toPath().resolve(settings.getBinary());
        Run run = new Run(program, plan).in(place)
                .option("-l", place.resolve("results.jtl"))
                .option("--report", place.resolve("report.html"))
                .option("--run-file", place.resolve("run.drumfire"))
                .option("--junit", results.toPath().resolve("TEST-" + name + ".xml"))
                .failOn(settings.thresholds())
                .properties(settings.jmeterProperties())
                .output(getLogger()::lifecycle);
        if (settings.isStrict()) {
            run.flag("--strict");
        }
        if (settings.getBaseline() != null) {
            run.option("--baseline", folder.toPath().resolve(settings.getBaseline()));
        }
        settings.words().forEach(run::flag);
        return run.start();
    }

    /** The plan's path without {@code .jmx}, relative to the folder of the plans. */
    private String name(Path plan) {
        Path relative = plan.startsWith(plans.toPath()) ? plans.toPath().relativize(plan) : plan.getFileName();
        return relative.toString().replace(File.separatorChar, '_').replaceFirst("\\.jmx$", "");
    }
}
