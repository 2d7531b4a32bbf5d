package a.backend;

import java.io.IOException;
import java.nio.file.*;
import java.util.*;
import org.apache.jmeter.config.Arguments;
import org.apache.jmeter.samplers.*;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.visualizers.backend.*;

/** Writes what it is given into the file that its parameter names. */
public class Client extends AbstractBackendListenerClient {
    private String file;

    void note(String text) {
        try {
            Files.writeString(Path.of(System.getProperty("user.dir"), file), text + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
    /** All parameters in the order of their names; that of the thread's name has a number in it. */
    static String shown(BackendListenerContext context) {
        StringBuilder all = new StringBuilder();
        Iterator<String> names = context.getParameterNamesIterator();
        TreeSet<String> sorted = new TreeSet<>();
        names.forEachRemaining(sorted::add);
        for (String name : sorted) {
            String value = context.getParameter(name);
            all.append(' ').append(name).append('=').append(name.startsWith("TestElement") ? value.replaceAll("[0-9]+", "N") : value);
        }
        return all.toString();
    }
    static String shown(SampleResult sample) {
        StringBuilder all = new StringBuilder();
        all.append(sample.getSampleLabel()).append(' ').append(sample.getResponseCode()).append(' ').append(sample.getResponseMessage());
        all.append(' ').append(sample.isSuccessful()).append(' ').append(sample.getThreadName()).append(" '").append(sample.getResponseDataAsString()).append('\'');
        all.append(' ').append(sample.getSampleCount()).append(' ').append(sample.getErrorCount()).append(' ').append(sample.getFirstAssertionFailureMessage());
        all.append(' ').append(sample.getGroupThreads()).append(' ').append(sample.getAllThreads());
        for (SampleResult child : sample.getSubResults()) {
            all.append(" [").append(shown(child)).append(']');
        }
        return all.toString();
    }
    @Override public Arguments getDefaultParameters() {
        Arguments defaults = new Arguments();
        defaults.addArgument("file", "default.txt");
        defaults.addArgument("left_out", "not told");
        return defaults;
    }
    @Override public void setupTest(BackendListenerContext context) throws Exception {
        super.setupTest(context);
        file = context.getParameter("file");
        note("setup" + shown(context) + " " + context.getIntParameter("number", 3) + " " + context.getBooleanParameter("flag", true));
        if (context.getParameter("fail") != null) { throw new IOException("no " + context.getParameter("fail")); }
    }
    @Override public void handleSampleResults(List<SampleResult> results, BackendListenerContext context) {
        for (SampleResult result : results) {
            getSamplerMetric(result.getSampleLabel()).add(result);
            note(shown(result) + " |" + shown(context));
        }
    }
    @Override public void teardownTest(BackendListenerContext context) throws Exception {
        for (String label : new TreeSet<>(getMetricsPerSampler().keySet())) {
            note("metric " + label + " " + getSamplerMetric(label).getTotal() + " " + getSamplerMetric(label).getFailures());
        }
        note("teardown" + shown(context));
        super.teardownTest(context);
    }

    /** Leaves some samples out and renames others, by what it sees of the user. */
    public static class Choosing extends Client {
        @Override public SampleResult createSampleResult(BackendListenerContext context, SampleResult result) {
            if (result.getSampleLabel().startsWith("skip")) { return null; }
            SampleResult other = new SampleResult(result);
            other.setSampleLabel(result.getSampleLabel() + " of " + JMeterContextService.getContext().getVariables().get("who") + " for " + context.getParameter("site"));
            return other;
        }
    }
    /** Never comes back, until it is interrupted. */
    public static class Hanging extends Client {
        @Override public void handleSampleResults(List<SampleResult> results, BackendListenerContext context) {
            try { Thread.sleep(Long.MAX_VALUE); } catch (InterruptedException e) { throw new IllegalStateException(e); }
        }
    }
    /** Takes no samples. */
    public static class Failing extends Client {
        @Override public void handleSampleResults(List<SampleResult> results, BackendListenerContext context) {
            throw new IllegalStateException("refused");
        }
    }
}
