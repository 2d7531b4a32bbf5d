package io.drumfire.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.drumfire.launcher.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;

class LoadTestTest {
    private static final String PLAN = "../../examples/api-smoke.jmx";

    /** Tests that the tests below run. The name prevents surefire from running them directly. */
    static class Staged {
        private String query;

        @BeforeEach
        void prepare() {
            query = "samples < 1";
        }

        Map<String, String> fromTheTest() {
            return Collections.singletonMap("drumfire.fail_on", query);
        }

        @LoadTest(plan = PLAN, failOn = "errors > 0", options = "--demo", propertiesFrom = "fromTheTest")
        void passes(Outcome outcome, Outcome.Summary summary) {
            assertEquals(1, summary.label("List products").count);
            assertEquals(2, summary.thresholds.size(), outcome.output());
        }

        @LoadTest(plan = PLAN, users = 2, failOn = "samples > 8", options = "--demo")
        void tooMany() {
            throw new IllegalStateException("is not called when the run has failed");
        }

        @LoadTest(plan = "nowhere.jmx")
        void noPlan() {
        }

        @LoadTest(plan = PLAN, properties = "novalue")
        void badProperty() {
        }

        @LoadTest(plan = PLAN, propertiesFrom = "nothing")
        void badMethod() {
        }

        @LoadTest(plan = PLAN, options = "--demo")
        void failsByItself(Outcome outcome) {
            assertEquals(-1, outcome.exitCode());
        }
    }

    @Test
    void aRunThatMeetsItsThresholdsPassesAndLeavesItsReport() throws Exception {
        assertEquals(Optional.empty(), failure("passes", Outcome.class.getName() + "," + Outcome.Summary.class.getName()));
        Path folder = Paths.get("target/drumfire/" + Staged.class.getName() + ".passes");
        assertTrue(Files.size(folder.resolve("report.html")) > 10_000);
        assertTrue(Files.size(folder.resolve("run.drumfire")) > 100);
    }

    @Test
    void aThresholdThatIsBrokenFailsTheTestInItsWords() {
        String message = failure("tooMany", "").get();
        assertTrue(message.contains("samples") && message.contains("8"), message);
    }

    @Test
    void wrongAnnotationsAreRefusedWithTheRemedy() {
        assertTrue(failure("noPlan", "").get().contains("correct `plan` of @LoadTest"));
        assertTrue(failure("badProperty", "").get().contains("write name=value"));
        assertTrue(failure("badMethod", "").get().contains("no method `nothing`"));
    }

    @Test
    void theTestsOwnAssertionsCount() {
        assertTrue(failure("failsByItself", Outcome.class.getName()).get().contains("expected: <-1>"));
    }

    private static Optional<String> failure(String method, String parameters) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectMethod(Staged.class.getName(), method, parameters))
                .execute().testEvents().finished().stream()
                .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                .findFirst().get()
                .getThrowable().map(Throwable::getMessage);
    }
}
