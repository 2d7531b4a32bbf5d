package dev.drumfire.jvm;

import org.apache.jmeter.control.LoopController;
import org.apache.jmeter.engine.event.LoopIterationEvent;
import org.apache.jmeter.engine.event.LoopIterationListener;
import org.apache.jmeter.testbeans.TestBean;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.TestIterationListener;
import org.apache.jmeter.testelement.TestStateListener;
import org.apache.jmeter.testelement.ThreadListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells elements when the test, a user, or an iteration starts and ends. */
final class Lifecycle {
    // Events that an element listens to; the engine's side of them is in machine.rs.
    private static final int TEST = 1;
    private static final int THREAD = 2;
    private static final int THREAD_ITERATION = 4;
    private static final int LOOP_ITERATION = 8;

    // Events that happen; the engine's side of them is in machine.rs.
    private static final int THREAD_STARTED = 0;
    private static final int THREAD_FINISHED = 1;
    private static final int THREAD_ITERATION_STARTED = 2;
    private static final int LOOP_ITERATION_STARTED = 3;

    /** The controller that listeners get as the one whose iteration starts. */
    private static final LoopController LOOP = new LoopController();

    private static Logger log;
    /** The user as which elements run before and after all others. */
    private static User plan;

    private Lifecycle() {
    }

    private static Logger log() {
        if (log == null) {
            log = LoggerFactory.getLogger("org.apache.jmeter.engine.StandardJMeterEngine");
        }
        return log;
    }

    static int listensTo(TestElement element) {
        return (element instanceof TestStateListener ? TEST : 0)
            + (element instanceof ThreadListener ? THREAD : 0)
            + (element instanceof TestIterationListener ? THREAD_ITERATION : 0)
            + (element instanceof LoopIterationListener ? LOOP_ITERATION : 0);
    }

    static void clear() {
        plan = null;
    }

    /** The variables that testStarted left for all users; null if there was no testStarted. */
    static Vars planVariables() {
        return plan == null ? null : plan.vars();
    }

    /** StandardJMeterEngine#notifyTestListenersOfStart; returns what went wrong, or null. */
    static String testStarted(Group group) {
        User engine = new User(group, "StandardJMeterEngine", 0, 0, 0);
        engine.context.setSamplingStarted(false);
        plan = engine;
        engine.enter();
        engine.begin(false);
        for (int id = 0; id < Plan.size(); id++) {
            Plan.original(id).setRunningVersion(true);
        }
        String problem = null;
        for (int id = 0; id < Plan.size() && problem == null; id++) {
            if (Plan.original(id) instanceof TestStateListener listener) {
                problem = start(listener);
            }
        }
        engine.end();
        return problem;
    }

    private static String start(TestStateListener listener) {
        try {
            if (listener instanceof TestBean) {
                Beans.prepare((TestElement) listener);
            }
            listener.testStarted();
            return null;
        } catch (Throwable thrown) { // as the engine of JMeter does
            String problem = "Unable to execute testStarted(null) for test element " + ((TestElement) listener).getName();
            log().error(problem, thrown);
            return problem + ": " + thrown;
        }
    }

    /** StandardJMeterEngine#notifyTestListenersOfEnd. */
    static void testEnded() {
        if (plan == null) {
            return;
        }
        plan.enter();
        plan.begin(false);
        for (int id = 0; id < Plan.size(); id++) {
            if (Plan.original(id) instanceof TestStateListener listener) {
                try {
                    listener.testEnded();
                } catch (Exception e) {
                    log().warn("Error encountered during shutdown of {}", ((TestElement) listener).getName(), e);
                }
            }
        }
        plan.end();
    }

    /** Notifies the user's elements that listen to an event. */
    static void happens(User user, int what, int[] elements, int iteration) {
        user.enter();
        user.begin(false);
        if (what == THREAD_FINISHED) {
            user.context.clear(); // as JMeterThread#run does
        }
        for (int id : elements) {
            tell(user, user.element(id), what, iteration);
        }
        user.end();
    }

    private static void tell(User user, TestElement element, int what, int iteration) {
        switch (what) {
            case THREAD_STARTED -> {
                try {
                    ((ThreadListener) element).threadStarted();
                } catch (Exception e) {
                    log().error("Error calling threadStarted", e);
                }
            }
            case THREAD_FINISHED -> {
                try {
                    ((ThreadListener) element).threadFinished();
                } catch (Exception e) {
                    log().error("Error calling threadFinished", e);
                }
            }
            case THREAD_ITERATION_STARTED -> {
                ((TestIterationListener) element).testIterationStart(new LoopIterationEvent(user.context.getThreadGroup(), iteration));
                element.recoverRunningVersion();
            }
            case LOOP_ITERATION_STARTED -> {
                Beans.prepare(element);
                ((LoopIterationListener) element).iterationStart(new LoopIterationEvent(LOOP, iteration));
            }
            default -> throw new IllegalArgumentException("event " + what);
        }
    }
}
