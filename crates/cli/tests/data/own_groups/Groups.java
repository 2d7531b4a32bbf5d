package a.own;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.jmeter.engine.*;
import org.apache.jmeter.samplers.*;
import org.apache.jmeter.testelement.*;
import org.apache.jmeter.threads.*;
import org.apache.jorphan.collections.*;

/** Thread groups of a user's own. */
public class Groups {
    /** Starts each thread when the one before has ended. */
    public static class InTurn extends AbstractThreadGroup {
        private transient Thread starter;
        private transient volatile boolean isStopped;
        private final transient Set<JMeterThread> running = ConcurrentHashMap.newKeySet();

        @Override
        public void start(int number, ListenerNotifier notifier, ListedHashTree tree, StandardJMeterEngine engine) {
            JMeterVariables variables = JMeterContextService.getContext().getVariables();
            starter = new Thread(() -> {
                for (int k = 0; k < getNumThreads() && !isStopped; k++) {
                    JMeterThread thread = makeThread(engine, this, notifier, number, k, cloneTree(tree), variables);
                    thread.setThreadName(getName() + " turn " + (k + 1));
                    thread.setThreadNum(k + 10);
                    running.add(thread);
                    Thread java = new Thread(thread, thread.getThreadName());
                    java.start();
                    try {
                        java.join();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            });
            starter.start();
        }

        @Override
        public void threadFinished(JMeterThread thread) {
            running.remove(thread);
        }

        @Override
        public boolean stopThread(String name, boolean now) {
            return running.stream().filter(thread -> thread.getThreadName().equals(name)).peek(JMeterThread::stop).count() > 0;
        }

        @Override
        public int numberOfActiveThreads() {
            return running.size();
        }

        @Override
        public JMeterThread addNewThread(int delay, StandardJMeterEngine engine) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean verifyThreadsStopped() {
            return !starter.isAlive();
        }

        @Override
        public void waitThreadsStopped() {
            try {
                starter.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void tellThreadsToStop() {
            stop();
            starter.interrupt();
        }

        @Override
        public void stop() {
            isStopped = true;
            running.forEach(JMeterThread::stop);
        }
    }

    /** Has twice the threads, and gives each sampler twice. */
    public static class Twice extends org.apache.jmeter.threads.ThreadGroup implements ThreadListener {
        private transient Sampler last;

        @Override
        public int getNumThreads() {
            return 2 * super.getNumThreads();
        }

        @Override
        public Sampler next() {
            Sampler next = last != null ? last : super.next();
            last = last != null ? null : next;
            return next;
        }

        @Override
        public void threadStarted() {
            Own.note("started " + Own.here());
        }

        @Override
        public void threadFinished() {
            Own.note("finished " + Own.here());
        }
    }

    /** Differs from a Thread Group by its name alone, and cannot start if it is told so. */
    public static class Same extends org.apache.jmeter.threads.ThreadGroup implements TestStateListener {
        @Override
        public void start(int number, ListenerNotifier notifier, ListedHashTree tree, StandardJMeterEngine engine) {
            if (getPropertyAsBoolean("fails")) {
                throw new org.apache.jorphan.util.JMeterStopTestException("not today");
            }
            Own.note("starts " + number + " with " + getNumThreads());
            super.start(number, notifier, tree, engine);
        }

        @Override
        public void testStarted() {
            Own.note("testStarted " + getName());
        }

        @Override
        public void testStarted(String host) {
        }

        @Override
        public void testEnded() {
            Own.note("testEnded " + getName());
        }

        @Override
        public void testEnded(String host) {
        }
    }
}
