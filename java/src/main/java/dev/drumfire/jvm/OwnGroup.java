package dev.drumfire.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.apache.jmeter.control.GenericController;
import org.apache.jmeter.samplers.AbstractSampler;
import org.apache.jmeter.samplers.Entry;
import org.apache.jmeter.samplers.Interruptible;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.threads.AbstractThreadGroup;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.ListenerNotifier;
import org.apache.jorphan.collections.ListedHashTree;
import org.apache.jorphan.util.JMeterStopTestException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread group of a class that the engine does not know. Its object starts JMeter threads as it likes. Each of them runs a
 * stand-in plan, which makes the engine run the user that the thread stands for, and waits for the user's end.
 */
final class OwnGroup {
    // The actions after a failed sample; the engine's side of them is in hired.rs.
    private static final int CONTINUE = 0;
    private static final int START_NEXT_LOOP = 1;
    private static final int STOP_THREAD = 2;
    private static final int STOP_TEST = 3;
    private static final int STOP_TEST_NOW = 4;

    /** How often a thread that waits for its user checks whether it was stopped itself. */
    private static final int POLL_MILLIS = 25;

    private static final VarHandle RUNNING = field("running", boolean.class);
    private static final VarHandle SCHEDULED = field("scheduler", boolean.class);
    private static final VarHandle SAME_USER = field("isSameUserOnNextIteration", boolean.class);
    private static final VarHandle ON_ERROR_START_NEXT_LOOP = field("onErrorStartNextLoop", boolean.class);
    private static final VarHandle ON_ERROR_STOP_THREAD = field("onErrorStopThread", boolean.class);
    private static final VarHandle ON_ERROR_STOP_TEST = field("onErrorStopTest", boolean.class);
    private static final VarHandle ON_ERROR_STOP_TEST_NOW = field("onErrorStopTestNow", boolean.class);
    private static final VarHandle SAMPLER = field("currentSamplerForInterruption", Sampler.class);

    private final int number;
    /** The index among the plan's elements. */
    private final int place;
    /** Threads whose users are being started, by their names. */
    private final Map<String, Queue<JMeterThread>> threads = new ConcurrentHashMap<>();

    OwnGroup(int number, int place) {
        this.number = number;
        this.place = place;
    }

    /** JMeterThread has no methods for these. */
    private static VarHandle field(String name, Class<?> type) {
        try {
            return MethodHandles.privateLookupIn(JMeterThread.class, MethodHandles.lookup()).findVarHandle(JMeterThread.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this JMeter has no JMeterThread." + name, e);
        }
    }

    AbstractThreadGroup threadGroup() {
        return (AbstractThreadGroup) Plan.original(place);
    }

    JMeterThread takeThread(String threadName) {
        Queue<JMeterThread> known = threads.get(threadName);
        return known == null ? null : known.poll();
    }

    static boolean isStopped(JMeterThread thread) {
        return !(boolean) RUNNING.getVolatile(thread);
    }

    /** StandardJMeterEngine#startThreadGroup, and the end of the group. */
    void run(int groupNumber) {
        Plan.settle(place);
        AbstractThreadGroup group = threadGroup();
        JMeterContextService.addTotalThreads(group.getNumThreads() - (int) Natives.groupSettings(number)[0]);
        try {
            group.start(groupNumber, new ListenerNotifier(), new ListedHashTree(new Stand(this)), Engine.INSTANCE);
        } catch (JMeterStopTestException e) {
            Logger log = LoggerFactory.getLogger("org.apache.jmeter.engine.StandardJMeterEngine");
            log.error("Error occurred starting thread group :{}, error message:{}", group.getName(), e.getMessage(), e);
        }
        group.waitThreadsStopped();
    }

    void stop(boolean now) {
        if (now) {
            threadGroup().tellThreadsToStop();
        } else {
            threadGroup().stop();
        }
    }

    /** Has the engine run the user of this thread. */
    private void runUser(JMeterThread thread) {
        String name = thread.getThreadName();
        Queue<JMeterThread> sameName = threads.computeIfAbsent(name, any -> new ConcurrentLinkedQueue<>());
        sameName.add(thread);
        long endMillis = (boolean) SCHEDULED.get(thread) ? thread.getEndTime() : 0;
        long user = Natives.startUser(number, name, thread.getThreadNum(), endMillis, onError(thread), (boolean) SAME_USER.get(thread));
        if (user == 0) {
            return;
        }
        SAMPLER.setVolatile(thread, new BreakOff(name));
        int ordered = -1;
        int wanted = -1;
        while (!Natives.awaitUser(user, POLL_MILLIS)) {
            if (Thread.interrupted()) {
                wanted = Group.NOW;
            } else if (isStopped(thread)) {
                wanted = Math.max(wanted, Group.FINISH);
            }
            // A user that has not begun yet cannot be stopped yet.
            if (wanted > ordered && Natives.stopUser(name, wanted)) {
                ordered = wanted;
            }
        }
        sameName.remove(thread);
    }

    private static int onError(JMeterThread thread) {
        if ((boolean) ON_ERROR_STOP_TEST_NOW.getVolatile(thread)) {
            return STOP_TEST_NOW;
        }
        if ((boolean) ON_ERROR_STOP_TEST.getVolatile(thread)) {
            return STOP_TEST;
        }
        if ((boolean) ON_ERROR_STOP_THREAD.getVolatile(thread)) {
            return STOP_THREAD;
        }
        return (boolean) ON_ERROR_START_NEXT_LOOP.getVolatile(thread) ? START_NEXT_LOOP : CONTINUE;
    }

    /** The plan of each thread: its first and only pass is everything that the user does. */
    private static final class Stand extends GenericController {
        private static final long serialVersionUID = 1L;
        private final transient OwnGroup group;
        private boolean hasRun;

        Stand(OwnGroup group) {
            this.group = group;
            setName("user");
        }

        @Override
        public Object clone() {
            return new Stand(group);
        }

        @Override
        public Sampler next() {
            if (!hasRun) {
                hasRun = true;
                group.runUser(JMeterContextService.getContext().getThread());
            }
            return null;
        }

        @Override
        public boolean isDone() {
            return hasRun;
        }
    }

    /** The sampler that JMeterThread#interrupt interrupts. */
    private static final class BreakOff extends AbstractSampler implements Interruptible {
        private static final long serialVersionUID = 1L;
        private final String threadName;

        BreakOff(String threadName) {
            this.threadName = threadName;
        }

        @Override
        public boolean interrupt() {
            return Natives.stopUser(threadName, Group.BREAK_OFF);
        }

        @Override
        public SampleResult sample(Entry entry) {
            throw new UnsupportedOperationException("The engine runs the samplers of a user");
        }
    }
}
