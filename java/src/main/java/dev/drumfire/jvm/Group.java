package dev.drumfire.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.jmeter.control.LoopController;
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

    private static final VarHandle GROUPS = groups();
    /** Groups of classes of their own, by their numbers. */
    private static final Map<Integer, OwnGroup> OWN = new ConcurrentHashMap<>();

    private final int number;
    private final byte[] element;
    private final AbstractThreadGroup threadGroup;
    /** Null if the engine starts the users. */
    private final OwnGroup own;
    /** Users that Java knows. */
    private final Set<User> users = ConcurrentHashMap.newKeySet();

    /**
     * The element is what the plan says of it; empty if that is of no class of JMeter's own. Where its own object starts its users,
     * {@code place} is the object's among the plan's elements; else it is -1.
     */
    Group(String name, int number, byte[] element, int place) {
        this.number = number;
        this.element = element;
        own = place < 0 ? null : new OwnGroup(number, place);
        threadGroup = own == null ? new Shown(this, name) : own.threadGroup();
        if (own != null) {
            OWN.put(number, own);
        }
        @SuppressWarnings("unchecked")
        List<AbstractThreadGroup> known = (List<AbstractThreadGroup>) GROUPS.get(Engine.INSTANCE);
        known.add(threadGroup);
    }

    /** StandardJMeterEngine#stopThread looks through them. */
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

    private boolean stop(String threadName, boolean now) {
        boolean isThere = Natives.stopUser(threadName, now ? NOW : BREAK_OFF);
        if (isThere && now) {
            users.stream().filter(user -> user.isCalled(threadName)).forEach(User::interrupt);
        }
        return isThere;
    }

    private int running() {
        return Natives.runningThreads(number);
    }

    /** The thread group that {@code ctx.getThreadGroup()} gives. */
    private static final class Shown extends ThreadGroup {
        private static final long serialVersionUID = 1L;
        private static final long PAUSE_MILLIS = 50;

        private final transient Group group;
        private boolean isMade;
        /** The settings are those with which the group started. */
        private boolean isSettled;

        Shown(Group group, String name) {
            this.group = group;
            setName(name);
            LoopController main = new LoopController();
            main.setLoops(1);
            setSamplerController(main);
            isMade = true;
        }

        private void settle() {
            if (!isMade || isSettled) {
                return;
            }
            isSettled = true;
            if (group.element.length > 0) {
                show(Plan.shown(group.element));
            }
            long[] settings = Natives.groupSettings(group.number);
            super.setNumThreads((int) settings[0]);
            setRampUp((int) settings[1]);
            setProperty(DELAYED_START, settings[2] != 0);
            setScheduler(settings[3] != 0);
            setDelay(settings[4]);
            setDuration(settings[5]);
            setRunningVersion(true);
        }

        /** Has the properties of the plan's element, but for its name, which was evaluated when the group started. */
        private void show(TestElement element) {
            PropertyIterator properties = element.propertyIterator();
            while (properties.hasNext()) {
                JMeterProperty property = properties.next();
                if (!property.getName().equals(NAME)) {
                    setProperty(property);
                }
            }
        }

        @Override
        public boolean isRunningVersion() {
            settle();
            return super.isRunningVersion();
        }

        @Override
        public JMeterProperty getProperty(String key) {
            settle();
            return super.getProperty(key);
        }

        @Override
        public JMeterProperty getPropertyOrNull(String key) {
            settle();
            return super.getPropertyOrNull(key);
        }

        @Override
        public PropertyIterator propertyIterator() {
            settle();
            return super.propertyIterator();
        }

        @Override
        public int getNumThreads() {
            settle();
            return super.getNumThreads();
        }

        @Override
        public int getRampUp() {
            settle();
            return super.getRampUp();
        }

        @Override
        public boolean getScheduler() {
            settle();
            return super.getScheduler();
        }

        @Override
        public long getDelay() {
            settle();
            return super.getDelay();
        }

        @Override
        public long getDuration() {
            settle();
            return super.getDuration();
        }

        @Override
        public int getNumberOfThreads() {
            return group.running();
        }

        @Override
        public int numberOfActiveThreads() {
            return group.running();
        }

        @Override
        public void stop() {
            group.stop(FINISH);
        }

        @Override
        public void tellThreadsToStop() {
            group.stop(NOW);
        }

        @Override
        public void tellThreadsToStop(boolean now) {
            group.stop(now ? NOW : BREAK_OFF);
        }

        @Override
        public boolean stopThread(String threadName, boolean now) {
            return group.stop(threadName, now);
        }

        @Override
        public boolean verifyThreadsStopped() {
            return group.running() == 0;
        }

        @Override
        public void waitThreadsStopped() {
            while (!verifyThreadsStopped()) {
                try {
                    Thread.sleep(PAUSE_MILLIS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }

        @Override
        public JMeterThread addNewThread(int delay, StandardJMeterEngine engine) {
            throw new UnsupportedOperationException("The engine starts the users of a thread group; none can be added by a script");
        }
    }
}
