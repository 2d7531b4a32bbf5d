package io.drumfire.gradle;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class DrumfirePluginTest {
    @Rule
    public final TemporaryFolder place = new TemporaryFolder();

    @Before
    public void prepare() throws IOException {
        write("settings.gradle", "rootProject.name = 'shop'\n");
        Path plans = Files.createDirectories(place.getRoot().toPath().resolve("src/test/jmeter"));
        Files.copy(Paths.get(System.getProperty("examples"), "api-smoke.jmx"), plans.resolve("api-smoke.jmx"));
    }

    @Test
    public void plansOfTheUsualFolderRunAndLeaveTheirFiles() throws Exception {
        build("drumfire {\n  failOn 'errors > 0', 'p95 > 60s'\n  users 2\n  options '--demo'\n}\n");
        String output = gradle(0);
        assertTrue(output, output.contains("api-smoke"));
        assertEquals(13, text("build/drumfire/api-smoke/results.jtl").split("\n").length);
        assertTrue(text("build/test-results/drumfire/TEST-api-smoke.xml").contains("tests=\"2\" failures=\"0\""));
        assertTrue(new File(place.getRoot(), "build/drumfire/api-smoke/report.html").length() > 10_000);
        assertTrue(new File(place.getRoot(), "build/drumfire/api-smoke/run.drumfire").length() > 100);
    }

    @Test
    public void aBrokenThresholdFailsTheBuildInItsWords() throws Exception {
        build("drumfire {\n  failOn 'samples < 1000'\n  options '--demo'\n}\n");
        String output = gradle(1);
        assertTrue(output, output.contains("api-smoke.jmx: ") && output.contains("1000"));
        build("drumfire {\n  failOn 'samples < 1000'\n  options '--demo'\n  ignoreFailures = true\n}\n");
        output = gradle(0);
        assertTrue(output, output.contains("api-smoke.jmx: ") && output.contains("1000"));
    }

    @Test
    public void aPlanThatIsNotThereIsRefused() throws Exception {
        build("drumfire {\n  plan 'nowhere.jmx'\n}\n");
        String output = gradle(1);
        assertTrue(output, output.contains("correct `plan` in the block `drumfire`"));
        assertFalse(new File(place.getRoot(), "build/drumfire").exists());
    }

    /** Writes a build that applies the plugin from its classes. */
    private void build(String block) throws IOException {
        String classPath = Stream.of(System.getProperty("plugin.classpath").split(File.pathSeparator)).collect(Collectors.joining("', '", "'", "'"));
        write("build.gradle", "buildscript {\n  dependencies {\n    classpath files(" + classPath + ")\n  }\n}\napply plugin: 'io.drumfire'\n" + block);
    }

    /** Runs the task with the Gradle that runs this test, and returns its output. */
    private String gradle(int code) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(System.getProperty("gradle"), "--no-daemon", "--console=plain", "drumfire",
                "-Ddrumfire.binary=" + System.getProperty("drumfire.binary"))
                .directory(place.getRoot()).redirectErrorStream(true).start();
        String output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
                .lines().collect(Collectors.joining("\n"));
        assertEquals(output, code, process.waitFor());
        return output;
    }

    private void write(String name, String content) throws IOException {
        Files.write(place.getRoot().toPath().resolve(name), content.getBytes(StandardCharsets.UTF_8));
    }

    private String text(String name) throws IOException {
        return new String(Files.readAllBytes(place.getRoot().toPath().resolve(name)), StandardCharsets.UTF_8);
    }
}
