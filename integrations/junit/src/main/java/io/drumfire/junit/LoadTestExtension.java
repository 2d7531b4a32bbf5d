package io.drumfire.junit;

import io.drumfire.launcher.Outcome;
import io.drumfire.launcher.Program;
import io.drumfire.launcher.Run;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.ReflectionSupport;

/** Runs the plan of a {@link LoadTest} before its method. */
public final class LoadTestExtension implements BeforeTestExecutionCallback, ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(LoadTestExtension.class);

    @Override
    public void beforeTestExecution(ExtensionContext context) throws Exception {
        LoadTest test = AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), LoadTest.class)
                .orElseThrow(() -> new ExtensionConfigurationException("LoadTestExtension needs a method with @LoadTest; add it"));
        Path folder = folder(context);
        Outcome outcome = run(test, context, folder).start();
        context.getStore(NAMESPACE).put(Outcome.class, outcome);
        context.publishReportEntry("report", folder.resolve("report.html").toString());
        List<String> failures = outcome.failures();
        if (!failures.isEmpty()) {
            Assertions.fail(test.plan() + ": " + String.join("; ", failures));
        }
    }

    private static Run run(LoadTest test, ExtensionContext context, Path folder) {
        Path plan = Paths.get(test.plan()).toAbsolutePath();
        if (!Files.isRegularFile(plan)) {
            throw new ExtensionConfigurationException("There is no plan `" + plan + "`; correct `plan` of @LoadTest");
        }
        Run run = new Run(Program.find(), plan).in(folder)
                .option("--report", folder.resolve("report.html"))
                .option("--run-file", folder.resolve("run.drumfire"))
                .failOn(Arrays.asList(test.failOn()))
                .properties(properties(test, context));
        if (test.users() > 0) {
            run.option("--users", test.users());
        }
        option(run, "--ramp-up", test.rampUp());
        option(run, "--duration", test.duration());
        option(run, "--rate", test.rate());
        if (!test.baseline().isEmpty()) {
            run.option("--baseline", Paths.get(test.baseline()).toAbsolutePath());
        }
        if (test.strict()) {
            run.flag("--strict");
        }
        Arrays.asList(test.options()).forEach(run::flag);
        return run;
    }

    private static void option(Run run, String name, String value) {
        if (!value.isEmpty()) {
            run.option(name, value);
        }
    }

    private static Map<String, String> properties(LoadTest test, ExtensionContext context) {
        Map<String, String> properties = new LinkedHashMap<>();
        for (String property : test.properties()) {
            int equals = property.indexOf('=');
            if (equals < 1) {
                throw new ExtensionConfigurationException("The property `" + property + "` of @LoadTest is not understood; write name=value");
            }
            properties.put(property.substring(0, equals), property.substring(equals + 1));
        }
        if (!test.propertiesFrom().isEmpty()) {
            ((Map<?, ?>) call(test.propertiesFrom(), context)).forEach((name, value) -> properties.put(name.toString(), String.valueOf(value)));
        }
        return properties;
    }

    private static Object call(String name, ExtensionContext context) {
        Class<?> type = context.getRequiredTestClass();
        Method method = ReflectionSupport.findMethod(type, name).orElseThrow(() -> new ExtensionConfigurationException(
                type.getName() + " has no method `" + name + "` without parameters; correct `propertiesFrom` of @LoadTest"));
        Object result = ReflectionSupport.invokeMethod(method, context.getRequiredTestInstance());
        if (result instanceof Map) {
            return result;
        }
        throw new ExtensionConfigurationException("The method `" + name + "` returns no map; return a Map<String, String>");
    }

    /** The folder in the build's output for a test's report, log and run file. */
    private static Path folder(ExtensionContext context) throws java.io.IOException {
        boolean isGradle = !Files.isDirectory(Paths.get("target")) && Files.isDirectory(Paths.get("build"));
        String name = context.getRequiredTestClass().getName() + "." + context.getRequiredTestMethod().getName();
        return Files.createDirectories(Paths.get(isGradle ? "build" : "target", "drumfire", name).toAbsolutePath());
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Outcome.class || type == Outcome.Summary.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Outcome outcome = context.getStore(NAMESPACE).get(Outcome.class, Outcome.class);
        return parameter.getParameter().getType() == Outcome.class ? outcome : outcome.summary();
    }
}
