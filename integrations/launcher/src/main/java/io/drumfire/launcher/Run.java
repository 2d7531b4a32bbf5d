package io.drumfire.launcher;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** One run of a plan by {@code drumfire run}, in a separate process. */
public final class Run {
    private final List<String> command = new ArrayList<>();
    private final Map<String, String> environment = new LinkedHashMap<>();
    private Path folder;
    private Consumer<String> output = line -> { };

    /** A run of the plan with the program. */
    public Run(Path program, Path plan) {
        command.add(program.toString());
        command.add("run");
        command.add(plan.toAbsolutePath().toString());
        command.add("--progress");
        command.add("lines");
    }

    /** Adds an option with its value. */
    public Run option(String name, Object value) {
        command.add(name);
        command.add(value.toString());
        return this;
    }

    /** Adds an option without a value. */
    public Run flag(String name) {
        command.add(name);
        return this;
    }

    /** Sets JMeter properties. */
    public Run properties(Map<String, String> properties) {
        properties.forEach((name, value) -> command.add("-J" + name + "=" + value));
        return this;
    }

    /** Adds thresholds such as {@code p95 > 300ms}. */
    public Run failOn(Iterable<String> thresholds) {
        thresholds.forEach(threshold -> option("--fail-on", threshold));
        return this;
    }

    /** Runs in this folder instead of the current folder. */
    public Run in(Path folder) {
        this.folder = folder;
        return this;
    }

    /** Sets a variable of the program's environment. */
    public Run environment(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** Passes each line of the program's output to the consumer during the run. */
    public Run output(Consumer<String> output) {
        this.output = output;
        return this;
    }

    /** The command line. */
    public List<String> command() {
        return new ArrayList<>(command);
    }

    /**
     * Runs the plan to its end.
     *
     * @return the outcome, whatever the exit code is
     * @throws IOException if the program does not start
     * @throws InterruptedException if this thread is interrupted; the run is then stopped
     */
    public Outcome start() throws IOException, InterruptedException {
        Path summary = Files.createTempFile("drumfire", ".json");
        try {
            List<String> words = command();
            words.add("--summary-json");
            words.add(summary.toString());
            StringBuilder said = new StringBuilder();
            ProcessBuilder builder = new ProcessBuilder(words).directory(folder == null ? null : folder.toFile());
            builder.environment().putAll(environment);
            int code = execute(builder, line -> {
                said.append(line).append('\n');
                output.accept(line);
            });
            String json = new String(Files.readAllBytes(summary), StandardCharsets.UTF_8);
            return new Outcome(code, json.isEmpty() ? null : json, said.toString());
        } finally {
            Files.deleteIfExists(summary);
        }
    }

    /**
     * Starts a process, passes on the lines of both streams and waits for its end. The process is stopped if this
     * thread is interrupted or the virtual machine exits.
     *
     * @return the exit code
     */
    public static int execute(ProcessBuilder builder, Consumer<String> lines) throws IOException, InterruptedException {
        Process process = builder.redirectErrorStream(true).start();
        Thread stop = new Thread(process::destroy);
        Runtime.getRuntime().addShutdownHook(stop);
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            process.getOutputStream().close();
            String line;
            while ((line = reader.readLine()) != null) {
                lines.accept(line);
            }
            return process.waitFor();
        } finally {
            process.destroy();
            forget(stop);
        }
    }

    private static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            // The virtual machine is exiting, so the hook is already running.
        }
    }
}
