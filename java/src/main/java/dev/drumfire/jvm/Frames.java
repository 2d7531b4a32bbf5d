package dev.drumfire.jvm;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.jmeter.samplers.SampleResult;

/**
 * Stack traces that samplers make their responses. Below the sampler's own frames they have those of JMeter's thread, so that the
 * response has JMeter's size.
 */
final class Frames {
    private static final String OWN = "\tat dev.drumfire.jvm.Bridge.sample(";
    private static final Pattern ALL_OWN = Pattern.compile("\tat dev\\.drumfire\\.jvm\\.Bridge\\.sample\\([^)]*\\)(?:(\\R)\tat dev\\.drumfire\\.jvm\\.\\S+)*");
    /** The frames of a cause that it has in common with the exception around it. */
    private static final Pattern COMMON = Pattern.compile("(?<=\t\\.\\.\\. )\\d+(?= more)");
    /** From a sampler's call to the start of the thread, in JMeter 5.6.3. */
    private static final String[] JMETERS = {
        "JMeterThread.doSampling(JMeterThread.java:651)",
        "JMeterThread.executeSamplePackage(JMeterThread.java:570)",
        "JMeterThread.processSampler(JMeterThread.java:501)",
        "JMeterThread.run(JMeterThread.java:268)",
    };

    private Frames() {
    }

    /** Corrects the responses of a result and its sub-results. */
    static void correct(SampleResult result) {
        byte[] body = result.getResponseData();
        if (!result.isSuccessful() && body != null) {
            String text = new String(body, StandardCharsets.ISO_8859_1); // keeps every byte
            if (text.contains(OWN)) {
                result.setResponseData(corrected(text).getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        for (SampleResult child : result.getSubResults()) {
            correct(child);
        }
    }

    private static String corrected(String text) {
        StackTraceElement[] start = startOfThread();
        Matcher own = ALL_OWN.matcher(text);
        int more = 0;
        StringBuilder all = new StringBuilder();
        while (own.find()) {
            String newLine = own.group(1) == null ? "\n" : own.group(1);
            StringBuilder frames = new StringBuilder();
            for (String frame : JMETERS) {
                frames.append("\tat org.apache.jmeter.threads.").append(frame).append(newLine);
            }
            for (StackTraceElement frame : start) {
                frames.append("\tat ").append(frame).append(newLine);
            }
            frames.setLength(frames.length() - newLine.length());
            more = JMETERS.length + start.length - (int) own.group().chars().filter(c -> c == '\t').count();
            own.appendReplacement(all, Matcher.quoteReplacement(frames.toString()));
        }
        own.appendTail(all);
        int added = more;
        return COMMON.matcher(all).replaceAll(count -> Integer.toString(Integer.parseInt(count.group()) + added));
    }

    /** The frames with which every Java thread begins. */
    private static StackTraceElement[] startOfThread() {
        StackTraceElement[][] seen = new StackTraceElement[1][];
        Thread thread = new Thread(() -> seen[0] = new Throwable().getStackTrace());
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new StackTraceElement[0];
        }
        StackTraceElement[] frames = seen[0];
        return java.util.Arrays.copyOfRange(frames, 1, frames.length); // without the lambda
    }
}
