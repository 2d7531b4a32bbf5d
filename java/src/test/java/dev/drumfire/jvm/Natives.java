package dev.drumfire.jvm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

import org.apache.jmeter.threads.JMeterContextService;

/** The engine of the tests, which precedes the real one on the class path: one user, whose data is accessible here. */
final class Natives {
    static final Map<String, String> VARIABLES = new TreeMap<>();
    static final Map<String, String> PROPERTIES = new TreeMap<>();
    /** Names that are literally in the plan. */
    static final Set<String> SPELLED_OUT = new HashSet<>();
    static final List<String> LOG = new ArrayList<>();
    /** The threads that were told to stop. */
    static final List<String> STOPPED = new ArrayList<>();
    static byte[] result;
    static byte[] body;
    /** How often the result was asked for. */
    static int resultReads;
    /** The last result that {@link #setResult} was given. */
    static byte[] newResult;
    static byte[] newBody;
    static String template;

    private Natives() {
    }

    /** A new user in a JMeter that has read nothing but these properties. */
    static User user() throws Exception {
        isRunning = true;
        STOPPED.clear();
        VARIABLES.clear();
        PROPERTIES.clear();
        SPELLED_OUT.clear();
        LOG.clear();
        result = null;
        body = null;
        resultReads = 0;
        newResult = null;
        newBody = null;
        Home.prepare(System.getProperty("jmeter.home"), new Props(new Properties()));
        Plan.clear();
        User user = new User(new Group("Users", 0, new byte[0], -1), "Users 1-1", 0, LINE, 0);
        user.begin(true);
        JMeterContextService.replaceContext(user.context);
        return user;
    }

    private static final long LINE = 1;
    /** Whether the user's call can be joined. */
    static volatile boolean isRunning = true;

    static long startUser(int group, String threadName, int number, long endMillis, int onError, boolean isSameUser) {
        return 0;
    }

    static boolean awaitUser(long user, int longestMillis) {
        return true;
    }

    static String[] children() {
        return new String[0];
    }

    static int askChild(int place, int question) {
        return -1;
    }

    static void tellChildren(int iteration, boolean isLoop) {
    }

    static boolean join(long line) {
        return isRunning && line == LINE;
    }

    static void leave() {
        // Nothing was locked.
    }

    static int threadCount(int which) {
        return which;
    }

    static int runningThreads(int group) {
        return 1;
    }

    static long[] groupSettings(int group) {
        return new long[] {1, 0, 0, 0, 0, 0};
    }

    static boolean stopUser(String name, int how) {
        return false;
    }

    static void stopGroup(int group, int how) {
        STOPPED.add(group + " " + how);
    }

    static void stopThread() {
        STOPPED.add("thread");
    }

    static String[] previousSampler() {
        return null;
    }

    static String variable(String name) {
        return VARIABLES.get(name);
    }

    static void setVariable(String name, String value) {
        VARIABLES.put(name, value);
    }

    static void removeVariable(String name) {
        VARIABLES.remove(name);
    }

    static boolean isSpelledOut(String name) {
        return SPELLED_OUT.contains(name);
    }

    private static String[] inTurn(Map<String, String> map) {
        return map.entrySet().stream().flatMap(entry -> Arrays.stream(new String[] {entry.getKey(), entry.getValue()})).toArray(String[]::new);
    }

    static String[] variables() {
        return inTurn(VARIABLES);
    }

    static String template(int number) {
        return template + number;
    }

    static byte[] result() {
        resultReads++;
        return result;
    }

    static byte[] resultBody() {
        return body;
    }

    static void setResult(byte[] changed, byte[] changedBody) {
        newResult = changed;
        newBody = changedBody;
    }

    static long sampler() {
        return -1;
    }

    static byte[] request() {
        return null;
    }

    static String[] namedSampler() {
        return null;
    }

    static int iteration() {
        return 3;
    }

    static String property(String name) {
        return PROPERTIES.get(name);
    }

    static void setProperty(String name, String value) {
        if (value == null) {
            PROPERTIES.remove(name);
        } else {
            PROPERTIES.put(name, value);
        }
    }

    static String[] properties() {
        return inTurn(PROPERTIES);
    }

    static void lost(String text) {
        LOG.add("lost: " + text);
    }

    static void log(int level, String category, String message) {
        LOG.add(level + " " + category + ": " + message);
    }
}
