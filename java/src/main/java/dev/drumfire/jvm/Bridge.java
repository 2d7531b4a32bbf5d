package dev.drumfire.jvm;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

import org.apache.jmeter.assertions.Assertion;
import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.functions.InvalidVariableException;
import org.apache.jmeter.processor.PostProcessor;
import org.apache.jmeter.processor.PreProcessor;
import org.apache.jmeter.samplers.SampleEvent;
import org.apache.jmeter.samplers.SampleListener;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.timers.Timer;
import org.apache.jorphan.util.JMeterError;
import org.apache.jorphan.util.JMeterStopTestException;
import org.apache.jorphan.util.JMeterStopTestNowException;
import org.apache.jorphan.util.JMeterStopThreadException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The methods that the engine calls. */
final class Bridge {
    // Roles of an element in a call; the engine's side of them is JavaRole.
    private static final int PRE = 0;
    private static final int SAMPLER = 1;
    private static final int POST = 2;
    private static final int ASSERTION = 3;
    private static final int TIMER = 4;
    private static final int LISTENER = 5;

    // The consequence of an exception for the user; the engine's side of it is in natives.rs.
    private static final int LOSE_SAMPLE = 0;
    private static final int STOP_THREAD = 1;
    private static final int STOP_TEST = 2;
    private static final int STOP_TEST_NOW = 3;
    private static final int END_USER = 4;
    private static final int NO_TEXT = 5;

    private static Logger log;

    private Bridge() {
    }

    /** Prepares JMeter's classes. {@code system} and {@code levels} alternate names and values. */
    static void start(String home, String plan, String[] system, String[] levels, boolean isGroovyExpected) throws Exception {
        Threads.useClassLoader(Thread.currentThread());
        if (isGroovyExpected) {
            HeadStart.begin();
        }
        // JMeter's log asks for the zone before JMeter sets user.timezone, so only the JVM's own options decide it.
        java.util.TimeZone.getDefault();
        for (int i = 0; i < system.length; i += 2) {
            System.setProperty(system[i], system[i + 1]);
        }
        System.setProperty("java.awt.headless", "true");
        Loggers.setLevels(levels);
        log = LoggerFactory.getLogger("org.apache.jmeter.threads.JMeterThread");
        Home.prepare(home, new Props(System.getProperties()));
        JMeterContextService.countBy(Natives::threadCount);
        Plan.clear();
        Lifecycle.clear();
        FileServer.getFileServer().setBaseForScript(new File(plan));
        Home.runInitFiles();
    }

    /** How long garbage collection took so far. */
    static long garbageMillis() {
        long millis = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            millis += Math.max(collector.getCollectionTime(), 0);
        }
        return millis;
    }

    /** Adds the next element of the plan; returns what it listens to. */
    static int addElement(byte[] element, boolean isXml, int[] configs) throws Exception {
        return Plan.add(element, isXml, configs);
    }

    static Group group(String name, int number, byte[] element, int own) {
        return new Group(name, number, element, own);
    }

    /** Runs a thread group that its own object drives, to its end, as the user that stands for JMeter's engine. */
    static void runGroup(User engine, int group, int number) {
        engine.enter();
        engine.begin(false);
        try {
            Group.own(group).run(number);
        } finally {
            engine.end();
        }
    }

    static void startShell(int port, String file) throws IOException {
        new Shell(port, file).start();
    }

    static void stopGroup(int group, boolean now) {
        Group.own(group).stop(now);
    }

    static User user(Group group, String threadName, int number, long line, long endMillis) {
        return new User(group, threadName, number, line, endMillis);
    }

    /** Waits for scripts' threads, as JMeter's JVM does before it ends. */
    static void awaitThreads() {
        Threads.awaitOwn();
    }

    /** Runs one element; returns the delay of a timer in milliseconds, else 0. */
    static long call(User user, int id, int role, boolean wantsResult, int sample) {
        user.enter();
        user.startSample(sample);
        user.begin(wantsResult);
        long delay = 0;
        try {
            TestElement element = user.called(id);
            delay = run(user, element, role);
        } catch (Throwable thrown) {
            thrown(thrown);
        }
        if (user.isReached() || Plan.startsThreads(id)) {
            user.vars().share();
        }
        user.end();
        return delay;
    }

    /** Tells the engine what an element or a script threw. */
    private static void thrown(Throwable thrown) {
        if (thrown instanceof JMeterStopTestException) {
            Natives.thrown(STOP_TEST, thrown.toString());
        } else if (thrown instanceof JMeterStopTestNowException) {
            Natives.thrown(STOP_TEST_NOW, thrown.toString());
        } else if (thrown instanceof JMeterStopThreadException) {
            Natives.thrown(STOP_THREAD, thrown.toString());
        } else {
            StringWriter trace = new StringWriter();
            thrown.printStackTrace(new PrintWriter(trace));
            Natives.thrown(thrown instanceof Exception ? LOSE_SAMPLE : END_USER, ShownNames.in(trace.toString().stripTrailing()));
        }
    }

    private static long run(User user, TestElement element, int role) {
        switch (role) {
            case PRE -> ((PreProcessor) element).process();
            case POST -> ((PostProcessor) element).process();
            case TIMER -> {
                return ((Timer) element).delay();
            }
            case ASSERTION -> judge(user, (Assertion) element);
            case LISTENER -> ((SampleListener) element).sampleOccurred(new SampleEvent(user.result(), user.context.getThreadGroup().getName(), user.context.getVariables()));
            case SAMPLER -> sample(user, (Sampler) element);
            default -> throw new IllegalArgumentException("role " + role);
        }
        return 0;
    }

    @SuppressWarnings("deprecation") // JMeterThread does it, too
    private static void sample(User user, Sampler sampler) {
        user.take(sampler);
        sampler.setThreadContext(user.context);
        sampler.setThreadName(Thread.currentThread().getName());
        SampleResult result = sampler.sample(null);
        if (result != null) {
            Frames.correct(result);
            Natives.setResult(Results.write(result), result.getResponseData());
        }
    }

    /** JMeterThread#processAssertion, except for adding the verdict. */
    private static void judge(User user, Assertion assertion) {
        AssertionResult verdict;
        try {
            verdict = assertion.getResult(user.result());
        } catch (AssertionError e) {
            log.debug("Error processing Assertion.", e);
            verdict = new AssertionResult("Assertion failed! See log file (debug level, only).");
            verdict.setFailure(true);
            verdict.setFailureMessage(e.toString());
        } catch (JMeterError e) {
            log.error("Error processing Assertion.", e);
            verdict = broken(e);
        } catch (RuntimeException e) {
            log.error("Exception processing Assertion.", e);
            verdict = broken(e);
        }
        Natives.verdict(verdict.getName(), verdict.isFailure(), verdict.isError(), ShownNames.in(verdict.getFailureMessage()));
    }

    private static AssertionResult broken(Throwable thrown) {
        AssertionResult verdict = new AssertionResult("Assertion failed! See log file.");
        verdict.setError(true);
        verdict.setFailureMessage(thrown.toString());
        return verdict;
    }

    /** Interrupts the sample of a user, from another thread (SampleTimeout). */
    static void interruptSample(User user) {
        user.interruptSample();
    }

    /** Interrupts all samples (JMeterThread#interrupt). A sampler may wait for its server meanwhile, so that no caller waits for it. */
    static void interruptSamples() {
        if (User.isAnySampleInterruptible()) {
            Thread thread = new Thread(User::interruptSamples, "Interrupt");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Asks a controller; see {@link Controllers}. */
    static int drive(User user, int id, int question, int argument) {
        User.Hands outer = user.isBusy() ? user.hands() : null;
        user.enter();
        user.begin(true);
        int answer = Controllers.NOTHING;
        try {
            answer = Controllers.ask(user.controller(id), question, argument);
        } catch (Throwable thrown) {
            thrown(thrown);
        }
        user.end();
        if (outer != null) {
            user.take(outer);
        }
        return answer;
    }

    /** Runs the script of a function; see {@link Functions}. */
    static String script(User user, int language, int instance, String text, boolean seesResults) {
        User.Hands outer = user.isBusy() ? user.hands() : null;
        user.enter();
        user.begin(seesResults);
        String value = "";
        try {
            value = Functions.run(language, instance, text);
        } catch (InvalidVariableException e) {
            // CompoundVariable goes on with the next part of the text.
            Natives.thrown(NO_TEXT, String.valueOf(e.getMessage()));
        } catch (Throwable thrown) {
            thrown(thrown);
        }
        user.end();
        if (outer != null) {
            user.take(outer);
        }
        return value;
    }
}
