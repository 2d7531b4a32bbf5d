package io.drumfire.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that runs a plan with Drumfire. It fails if a threshold is not met or the plan cannot run. JUnit calls the method after
 * the run. Its parameters may be an {@link io.drumfire.launcher.Outcome} and a {@link io.drumfire.launcher.Outcome.Summary}, for
 * further assertions.
 *
 * <p>The report of the run is {@code report.html} in {@code target/drumfire/CLASS.METHOD}, or {@code build/drumfire/…} with Gradle.
 */
@Documented
@Test
@ExtendWith(LoadTestExtension.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
public @interface LoadTest {
    /** The plan ({@code .jmx}), relative to the project. */
    String plan();

    /** Thresholds, such as {@code p95 > 300ms} or {@code errors of Login > 1%}. */
    String[] failOn() default {};

    /** Whether the test fails if the run's verdict on its own numbers is not VALID. */
    boolean strict() default false;

    /** The number of users over all thread groups; 0 keeps the plan's. */
    int users() default 0;

    /** How long users take to start, such as {@code 30s}. */
    String rampUp() default "";

    /** How long each thread group runs, such as {@code 5m}. */
    String duration() default "";

    /** Samples per second, such as {@code 200}. */
    String rate() default "";

    /** The run file of an earlier run; the test fails if this run is significantly worse. */
    String baseline() default "";

    /** JMeter properties, each {@code name=value}. */
    String[] properties() default {};

    /**
     * The name of a method of the test class that returns more JMeter properties as a {@code Map<String, String>} and has no
     * parameters. It supplies values that are known only at run time, such as a server's port.
     */
    String propertiesFrom() default "";

    /** More options of {@code drumfire run}, one argument each. */
    String[] options() default {};
}
