package io.drumfire.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LauncherTest {
    private static final Path PLAN = Paths.get("../../examples/api-smoke.jmx");

    @TempDir
    Path folder;

    @Test
    void aRunGivesItsNumbersByLabel() throws Exception {
        Outcome outcome = run().start();
        assertEquals(ExitCode.OK, outcome.exitCode(), outcome.output());
        assertEquals(Collections.emptyList(), outcome.failures());
        assertEquals(1, outcome.summary().label("List products").count);
        assertTrue(outcome.summary().total.count >= 5, outcome.output());
        assertTrue(outcome.summary().total.meanMs > 0);
        assertTrue(outcome.summary().endedMs >= outcome.summary().startedMs);
    }

    @Test
    void aThresholdThatIsBrokenIsAFailureWithItsValue() throws Exception {
        Outcome outcome = run().failOn(Collections.singleton("samples < 1000")).start();
        assertEquals(ExitCode.THRESHOLDS, outcome.exitCode());
        assertEquals(1, outcome.failures().size());
        assertTrue(outcome.failures().get(0).contains("1000"), outcome.failures().toString());
    }

    @Test
    void aPlanThatCannotRunTellsWhatTheProgramSaid() throws Exception {
        Path plan = folder.resolve("broken.jmx");
        Files.write(plan, "<jmeterTestPlan".getBytes(StandardCharsets.UTF_8));
        Outcome outcome = new Run(Program.find(), plan).in(folder).start();
        assertEquals(3, outcome.exitCode());
        assertFalse(outcome.hasNumbers());
        assertTrue(outcome.failures().get(0).contains("broken.jmx"), outcome.failures().toString());
        assertThrows(IllegalStateException.class, outcome::summary);
    }

    @Test
    void aLabelThatNoSampleHasIsRefusedWithTheLabelsThatThereAre() throws Exception {
        Outcome outcome = run().start();
        IllegalArgumentException error = assertThrows(IllegalArgumentException.class, () -> outcome.summary().label("Nothing"));
        assertTrue(error.getMessage().contains("`List products`"), error.getMessage());
    }

    @Test
    void theClassifierIsThatOfThePackages() {
        assertEquals("linux-x86_64", Program.classifier("Linux", "amd64"));
        assertEquals("linux-aarch64", Program.classifier("Linux", "aarch64"));
        assertEquals("macos-aarch64", Program.classifier("Mac OS X", "aarch64"));
        assertEquals("windows-x86_64", Program.classifier("Windows 11", "amd64"));
    }

    @Test
    void theProgramIsFoundInTheFoldersOfASearchPath() throws Exception {
        Path file = Files.createFile(folder.resolve("drumfire"));
        assertFalse(Program.on(folder.toString()).isPresent(), "a file that cannot be executed is none");
        assertTrue(file.toFile().setExecutable(true));
        assertEquals(file.toAbsolutePath(), Program.on("/nowhere:" + folder).get());
    }

    private Run run() {
        return new Run(Program.find(), PLAN).flag("--demo").in(folder);
    }
}
