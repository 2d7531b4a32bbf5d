package org.apache.jmeter.threads;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;

import org.apache.jmeter.util.JMeterUtils;

/**
 * The context of each thread, and the counts of users, which the engine keeps. This class precedes JMeter's own on the class path
 * and offers the same, because nothing can set the counts of JMeter's.
 */
public final class JMeterContextService {
    // Places among the counts; the engine's side of them is Counts#of_phase.
    private static final int ACTIVE = 0;
    private static final int STARTED = 1;
    private static final int FINISHED = 2;
    private static final int TOTAL = 3;

    private static final ThreadLocal<JMeterContext> CONTEXT = ThreadLocal.withInitial(JMeterContext::new);
    private static final AtomicLong TEST_START = new AtomicLong();
    /** Threads that Java code itself plans, in addition to the engine's, and what {@link #clearTotalThreads} takes off. */
    private static final AtomicInteger[] OWN = {new AtomicInteger(), new AtomicInteger(), new AtomicInteger(), new AtomicInteger()};
    private static volatile IntUnaryOperator engine = which -> 0;
    private static volatile JMeterVariables clientSide;

    private JMeterContextService() {
    }

    /** Sets the source of the counts: it returns a count by its index. */
    public static void countBy(IntUnaryOperator counts) {
        engine = counts;
    }

    private static int count(int which) {
        return engine.applyAsInt(which) + OWN[which].get();
    }

    public static JMeterContext getContext() {
        return CONTEXT.get();
    }

    static void removeContext() {
        CONTEXT.remove();
    }

    public static void replaceContext(JMeterContext context) {
        CONTEXT.set(context);
    }

    public static synchronized void startTest() {
        if (getTestStartTime() == 0) {
            OWN[ACTIVE].set(0);
            TEST_START.set(System.currentTimeMillis());
            JMeterUtils.setProperty("TESTSTART.MS", Long.toString(TEST_START.get()));
        }
    }

    /** JMeterThread calls this. It does nothing, because the engine counts the user that the thread stands for. */
    static void incrNumberOfThreads() {
    }

    /** The same. */
    static void decrNumberOfThreads() {
    }

    public static int getNumberOfThreads() {
        return count(ACTIVE);
    }

    public static ThreadCounts getThreadCounts() {
        return new ThreadCounts(count(ACTIVE), count(STARTED), count(FINISHED));
    }

    public static synchronized void endTest() {
        TEST_START.set(0);
        resetClientSideVariables();
    }

    /** The start of the test, from the property that the engine sets. */
    public static long getTestStartTime() {
        long own = TEST_START.get();
        return own != 0 ? own : JMeterUtils.getPropDefault("TESTSTART.MS", 0L);
    }

    public static int getTotalThreads() {
        return count(TOTAL);
    }

    public static void addTotalThreads(int more) {
        OWN[TOTAL].addAndGet(more);
    }

    public static void clearTotalThreads() {
        for (int which : new int[] {STARTED, FINISHED, TOTAL}) {
            OWN[which].set(-engine.applyAsInt(which));
        }
    }

    public static JMeterVariables getClientSideVariables() {
        return clientSide;
    }

    public static void initClientSideVariables(JMeterVariables variables) {
        clientSide = new UnmodifiableJMeterVariables(variables);
    }

    public static void resetClientSideVariables() {
        clientSide = null;
    }

    /** Three counts at one moment. */
    public static class ThreadCounts {
        public final int activeThreads;
        public final int startedThreads;
        public final int finishedThreads;

        ThreadCounts(int active, int started, int finished) {
            activeThreads = active;
            startedThreads = started;
            finishedThreads = finished;
        }
    }
}
