package dev.drumfire.jvm;

import org.apache.jmeter.control.LoopController;
import org.apache.jmeter.engine.StandardJMeterEngine;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.PropertyIterator;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.PostThreadGroup;
import org.apache.jmeter.threads.SetupThreadGroup;
import org.apache.jmeter.threads.ThreadGroup;

/**
 * The thread groups that {@code ctx.getThreadGroup()} returns. There is one for each of JMeter's classes, since scripts check the
 * class. The engine runs their users. Settings are read on first use.
 */
final class ShownGroups {
    private ShownGroups() {
    }

    static ThreadGroup of(Group group, String name, byte[] element) {
        String type = element.length == 0 ? "" : new Wire.Reader(element).text();
        return switch (type) {
            case "org.apache.jmeter.threads.SetupThreadGroup" -> new Setup(group, name);
            case "org.apache.jmeter.threads.PostThreadGroup" -> new Teardown(group, name);
            default -> new Main(group, name);
        };
    }

    /** Whether a group has its settings. */
    private static final class Settings {
        final Group group;
        private boolean isSettled;

        Settings(Group group) {
            this.group = group;
        }

        void settle(ThreadGroup shown) {
            if (!isSettled) {
                isSettled = true;
                group.settle(shown);
            }
        }
    }

    private static LoopController once() {
        LoopController main = new LoopController();
        main.setLoops(1);
        return main;
    }

    private static UnsupportedOperationException added() {
        return new UnsupportedOperationException("The engine starts the users of a thread group; a script cannot add any");
    }

    static final class Main extends ThreadGroup {
        private static final long serialVersionUID = 1L;

        private final transient Settings settings;

        Main(Group group, String name) {
            setName(name);
            setSamplerController(once());
            settings = new Settings(group);
        }

        private void settle() {
            // Constructors read properties, too: then the group has not started.
            if (settings != null) {
                settings.settle(this);
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
        public int getNumberOfThreads() {
            return settings.group.running();
        }

        @Override
        public int numberOfActiveThreads() {
            return settings.group.running();
        }

        @Override
        public boolean verifyThreadsStopped() {
            return settings.group.running() == 0;
        }

        @Override
        public void waitThreadsStopped() {
            settings.group.waitThreadsStopped();
        }

        @Override
        public void stop() {
            settings.group.stop();
        }

        @Override
        public void tellThreadsToStop() {
            settings.group.tellThreadsToStop(true);
        }

        @Override
        public void tellThreadsToStop(boolean now) {
            settings.group.tellThreadsToStop(now);
        }

        @Override
        public boolean stopThread(String threadName, boolean now) {
            return settings.group.stopThread(threadName, now);
        }

        @Override
        public JMeterThread addNewThread(int delay, StandardJMeterEngine engine) {
            throw added();
        }
    }

    static final class Setup extends SetupThreadGroup {
        private static final long serialVersionUID = 1L;

        private final transient Settings settings;

        Setup(Group group, String name) {
            setName(name);
            setSamplerController(once());
            settings = new Settings(group);
        }

        private void settle() {
            // Constructors read properties, too: then the group has not started.
            if (settings != null) {
                settings.settle(this);
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
        public int getNumberOfThreads() {
            return settings.group.running();
        }

        @Override
        public int numberOfActiveThreads() {
            return settings.group.running();
        }

        @Override
        public boolean verifyThreadsStopped() {
            return settings.group.running() == 0;
        }

        @Override
        public void waitThreadsStopped() {
            settings.group.waitThreadsStopped();
        }

        @Override
        public void stop() {
            settings.group.stop();
        }

        @Override
        public void tellThreadsToStop() {
            settings.group.tellThreadsToStop(true);
        }

        @Override
        public void tellThreadsToStop(boolean now) {
            settings.group.tellThreadsToStop(now);
        }

        @Override
        public boolean stopThread(String threadName, boolean now) {
            return settings.group.stopThread(threadName, now);
        }

        @Override
        public JMeterThread addNewThread(int delay, StandardJMeterEngine engine) {
            throw added();
        }
    }

    static final class Teardown extends PostThreadGroup {
        private static final long serialVersionUID = 1L;

        private final transient Settings settings;

        Teardown(Group group, String name) {
            setName(name);
            setSamplerController(once());
            settings = new Settings(group);
        }

        private void settle() {
            // Constructors read properties, too: then the group has not started.
            if (settings != null) {
                settings.settle(this);
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
        public int getNumberOfThreads() {
            return settings.group.running();
        }

        @Override
        public int numberOfActiveThreads() {
            return settings.group.running();
        }

        @Override
        public boolean verifyThreadsStopped() {
            return settings.group.running() == 0;
        }

        @Override
        public void waitThreadsStopped() {
            settings.group.waitThreadsStopped();
        }

        @Override
        public void stop() {
            settings.group.stop();
        }

        @Override
        public void tellThreadsToStop() {
            settings.group.tellThreadsToStop(true);
        }

        @Override
        public void tellThreadsToStop(boolean now) {
            settings.group.tellThreadsToStop(now);
        }

        @Override
        public boolean stopThread(String threadName, boolean now) {
            return settings.group.stopThread(threadName, now);
        }

        @Override
        public JMeterThread addNewThread(int delay, StandardJMeterEngine engine) {
            throw added();
        }
    }
}
