package dev.drumfire.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.jmeter.control.LoopController;
import org.apache.jmeter.engine.StandardJMeterEngine;
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

    private final int number;
    private final Shown threadGroup;
    /** Users that Java knows. */
    private final Set<User> users = ConcurrentHashMap.newKeySet();

    Group(String name, int number) {
        this.number = number;
        threadGroup = new Shown(this);
        threadGroup.setName(name);
        LoopController main = new LoopController();
        main.setLoops(1);
        threadGroup.setSamplerController(main);
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

    ThreadGroup threadGroup() {
        return threadGroup;
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

    /** What {@code ctx.getThreadGroup()} gives. */
    private static final class Shown extends ThreadGroup {
        private static final long serialVersionUID = 1L;
        private static final long PAUSE_MILLIS = 50;

        private final transient Group group;
        /** The settings are those with which the group started. */
        private boolean isSettled;

        Shown(Group group) {
            this.group = group;
        }

        private void settle() {
            if (isSettled) {
                return;
            }
            isSettled = true;
            long[] settings = Natives.groupSettings(group.number);
            super.setNumThreads((int) settings[0]);
            setRampUp((int) settings[1]);
            setProperty(DELAYED_START, settings[2] != 0);
            setScheduler(settings[3] != 0);
            setDelay(settings[4]);
            setDuration(settings[5]);
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
