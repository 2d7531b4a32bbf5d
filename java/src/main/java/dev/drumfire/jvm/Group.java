package dev.drumfire.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.jmeter.config.ConfigTestElement;
import org.apache.jmeter.engine.StandardJMeterEngine;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.PropertyIterator;
import org.apache.jmeter.threads.AbstractThreadGroup;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.ThreadGroup;

/** A thread group as scripts see it: the engine runs its users. */
final class Group {
    // How users are stopped; the engine's side of it is Halt.
    static final int FINISH = 0;
    static final int BREAK_OFF = 1;
    static final int NOW = 2;

    /** Settings in the order of {@link Natives#groupSettings}. */
    private static final String[] SETTINGS = {
        AbstractThreadGroup.NUM_THREADS, ThreadGroup.RAMP_TIME, ThreadGroup.DELAYED_START, ThreadGroup.SCHEDULER, ThreadGroup.DELAY, ThreadGroup.DURATION
    };
    private static final long PAUSE_MILLIS = 50;
    private static final VarHandle GROUPS = groups();
    /** Groups that their own objects drive, by their numbers. */
    private static final Map<Integer, OwnGroup> OWN = new ConcurrentHashMap<>();

    private final int number;
    private final byte[] element;
    private final AbstractThreadGroup threadGroup;
    /** Null if the engine starts the users. */
    private final OwnGroup own;
    /** Users that Java knows. */
    private final Set<User> users = ConcurrentHashMap.newKeySet();

    /**
     * {@code element} is the plan's element; empty unless its class is JMeter's own. If the group's own object starts its users,
     * {@code place} is the object's index among the plan's elements; otherwise it is -1.
     */
    Group(String name, int number, byte[] element, int place) {
        this.number = number;
        this.element = element;
        own = place < 0 ? null : new OwnGroup(number, place);
        threadGroup = own == null ? ShownGroups.of(this, name, element) : own.threadGroup();
        if (own != null) {
            OWN.put(number, own);
        }
        @SuppressWarnings("unchecked")
        List<AbstractThreadGroup> known = (List<AbstractThreadGroup>) GROUPS.get(Engine.INSTANCE);
        known.add(threadGroup);
    }

    /** The groups that StandardJMeterEngine#stopThread searches. */
    private static VarHandle groups() {
        try {
            return MethodHandles.privateLookupIn(StandardJMeterEngine.class, MethodHandles.lookup()).findVarHandle(StandardJMeterEngine.class, "groups", List.class);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this JMeter has no StandardJMeterEngine.groups", e);
        }
    }

    static OwnGroup own(int number) {
        return OWN.get(number);
    }

    AbstractThreadGroup threadGroup() {
        return threadGroup;
    }

    /** The thread that stands for a user of that name; null if the engine started the user itself. */
    JMeterThread takeThread(String threadName) {
        return own == null ? null : own.takeThread(threadName);
    }

    void enter(User user) {
        users.add(user);
    }

    void leave(User user) {
        users.remove(user);
    }

    private void stop(int how) {
        Natives.stopGroup(number, how);
        if (how == NOW) {
            users.forEach(User::interrupt);
        }
    }

    // A thread group's own object calls these (ShownGroups).

    void stop() {
        stop(FINISH);
    }

    void tellThreadsToStop(boolean now) {
        stop(now ? NOW : BREAK_OFF);
    }

    boolean stopThread(String threadName, boolean now) {
        boolean isThere = Natives.stopUser(threadName, now ? NOW : BREAK_OFF);
        if (isThere && now) {
            users.stream().filter(user -> user.isCalled(threadName)).forEach(User::interrupt);
        }
        return isThere;
    }

    int running() {
        return Natives.runningThreads(number);
    }

    void waitThreadsStopped() {
        while (running() > 0) {
            try {
                Thread.sleep(PAUSE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Sets the object's properties to those of the plan's element; computed ones have their values of the group's start. */
    void settle(ThreadGroup shown) {
        TestElement written = element.length > 0 ? Plan.shown(element) : new ConfigTestElement();
        PropertyIterator properties = written.propertyIterator();
        while (properties.hasNext()) {
            JMeterProperty property = properties.next();
            // The name was evaluated when the group started.
            if (!property.getName().equals(TestElement.NAME)) {
                shown.setProperty(property);
            }
        }
        long[] started = Natives.groupSettings(number);
        for (int place = 0; place < SETTINGS.length; place++) {
            String name = SETTINGS[place];
            boolean isComputed = written.getProperty(name) instanceof TemplateProperty;
            boolean isFlag = name.equals(ThreadGroup.DELAYED_START) || name.equals(ThreadGroup.SCHEDULER);
            if (isComputed || element.length == 0 || place == 0 && written.getPropertyAsInt(name) != started[0]) {
                shown.setProperty(name, isFlag ? Boolean.toString(started[place] != 0) : Long.toString(started[place]));
            }
        }
        shown.setEnabled(true);
        shown.setRunningVersion(true);
    }
}
