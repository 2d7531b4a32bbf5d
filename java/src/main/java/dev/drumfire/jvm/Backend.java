package dev.drumfire.jvm;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.jmeter.config.Arguments;
import org.apache.jmeter.samplers.SampleEvent;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.visualizers.backend.AbstractBackendListenerClient;
import org.apache.jmeter.visualizers.backend.BackendListener;
import org.apache.jmeter.visualizers.backend.BackendListenerClient;
import org.apache.jmeter.visualizers.backend.BackendListenerContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * JMeter's Backend Listener for clients that only Java can run. The client's own thread sends, as in JMeter. There are two
 * differences: a sample is dropped and counted where JMeter makes a user wait for room in the queue, and each element has a client
 * of its own, even if two elements have the same name.
 */
public final class Backend extends BackendListener {
    private static final long serialVersionUID = 1L;
    private static final int QUEUE_SIZE = Integer.parseInt(DEFAULT_QUEUE_SIZE);
    /** The limit of response bodies in the queue, in bytes. */
    private static final long MAX_WAITING_BYTES = 64L << 20;
    /** How long the end of a run waits for the queue, and then for {@code teardownTest}. */
    private static final long PATIENCE_SECONDS = 10;
    /** Marks the end of the queue. */
    private static final SampleResult END = new SampleResult();

    private static final Logger LOG = LoggerFactory.getLogger(BackendListener.class);

    private transient Feed feed;

    @Override
    public void testStarted() {
        String name = getClassname().trim();
        BackendListenerClient client = null;
        String problem = null;
        try {
            Class<?> found = Class.forName(name, false, Thread.currentThread().getContextClassLoader());
            client = (BackendListenerClient) found.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | RuntimeException e) {
            LOG.error("Backend Listener '{}': cannot create an object of {}", getName(), name, e);
            problem = e.toString();
        }
        feed = new Feed(getName(), client, problem, capacity());
        if (client == null) {
            return;
        }
        Map<String, String> parameters = new LinkedHashMap<>(getArguments().getArgumentsAsMap());
        Thread sender = new Thread(feed);
        // JMeter gives the name of the thread under this key, not that of the element (BackendListener.Worker).
        parameters.put(TestElement.NAME, sender.getName());
        feed.context = new BackendListenerContext(parameters);
        sender.setDaemon(true);
        feed.sender = sender;
        LOG.info("Backend Listener '{}' sends with {}", getName(), name);
        sender.start();
        try {
            client.setupTest(new BackendListenerContext((Arguments) getArguments().clone()));
        } catch (Exception e) {
            throw new IllegalStateException("setupTest of " + name + " failed: " + e, e);
        }
    }

    private int capacity() {
        String size = getQueueSize();
        try {
            int capacity = Integer.parseInt(size.trim());
            if (capacity > 0) {
                return capacity;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        LOG.warn("Backend Listener '{}': '{}' is not a queue size, using {}", getName(), size, QUEUE_SIZE);
        return QUEUE_SIZE;
    }

    @Override
    public void sampleOccurred(SampleEvent event) {
        if (feed.client == null) {
            feed.refuse();
            return;
        }
        SampleResult sample = event.getResult();
        if (feed.isChoosing) {
            sample = feed.client.createSampleResult(new BackendListenerContext(getArguments()), sample);
        }
        if (sample != null) {
            feed.add(sample);
        }
    }

    @Override
    public void testEnded() {
        if (feed != null) {
            String problem = feed.end(new BackendListenerContext(getArguments()));
            if (problem != null) {
                Natives.lost("Backend Listener " + getName() + ": " + problem);
            }
        }
    }

    /** The samples on their way to one client, and the thread that hands them over. */
    private static final class Feed implements Runnable {
        private final String name;
        private final BackendListenerClient client;
        /** Whether the client may replace samples or leave some out. */
        private final boolean isChoosing;
        private final BlockingQueue<SampleResult> queue;
        private final int capacity;
        private final AtomicLong waitingBytes = new AtomicLong();
        private final AtomicLong accepted = new AtomicLong();
        private final AtomicLong refused = new AtomicLong();
        private final AtomicLong handled = new AtomicLong();
        private final AtomicReference<String> problem = new AtomicReference<>();
        private final CountDownLatch sent = new CountDownLatch(1);
        private final CountDownLatch ended = new CountDownLatch(1);
        private BackendListenerContext context;
        private volatile BackendListenerContext lastContext;
        private Thread sender;

        Feed(String name, BackendListenerClient client, String problem, int capacity) {
            this.name = name;
            this.client = client;
            this.capacity = capacity;
            this.problem.set(problem);
            isChoosing = client != null && isChoosing(client.getClass());
            queue = new ArrayBlockingQueue<>(capacity);
        }

        private static boolean isChoosing(Class<?> type) {
            try {
                Method create = type.getMethod("createSampleResult", BackendListenerContext.class, SampleResult.class);
                Class<?> by = create.getDeclaringClass();
                return by != BackendListenerClient.class && by != AbstractBackendListenerClient.class;
            } catch (NoSuchMethodException e) {
                return true;
            }
        }

        void refuse() {
            refused.incrementAndGet();
        }

        void add(SampleResult sample) {
            long bytes = bytes(sample);
            long waiting = waitingBytes.addAndGet(bytes);
            boolean hasRoom = waiting <= MAX_WAITING_BYTES || waiting == bytes;
            if (hasRoom && queue.offer(sample)) {
                accepted.incrementAndGet();
            } else {
                waitingBytes.addAndGet(-bytes);
                refuse();
            }
        }

        private static long bytes(SampleResult sample) {
            long bytes = sample.getResponseData().length;
            for (SampleResult child : sample.getSubResults()) {
                bytes += bytes(child);
            }
            return bytes;
        }

        @Override
        public void run() {
            try {
                List<SampleResult> batch = new ArrayList<>();
                boolean isOpen = true;
                while (isOpen) {
                    batch.add(queue.take());
                    queue.drainTo(batch);
                    isOpen = !batch.remove(END);
                    batch.forEach(sample -> waitingBytes.addAndGet(-bytes(sample)));
                    hand(batch);
                    batch.clear();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                sent.countDown();
            }
            try {
                client.teardownTest(lastContext);
            } catch (Throwable thrown) { // a client's exception must not end the run
                note("teardownTest", thrown);
            } finally {
                ended.countDown();
            }
        }

        private void hand(List<SampleResult> batch) {
            if (batch.isEmpty()) {
                return;
            }
            int size = batch.size(); // clients may empty it
            try {
                client.handleSampleResults(batch, context);
                handled.addAndGet(size);
            } catch (Throwable thrown) { // a client's exception, which would end JMeter's own thread
                note("handleSampleResults", thrown);
            }
        }

        private void note(String method, Throwable thrown) {
            LOG.error("Backend Listener '{}': {} failed", name, method, thrown);
            problem.compareAndSet(null, method + " failed: " + thrown);
        }

        /** Lets the client finish; returns what was lost, or null. */
        String end(BackendListenerContext last) {
            if (client != null) {
                lastContext = last;
                try {
                    boolean isTold = queue.offer(END, PATIENCE_SECONDS, TimeUnit.SECONDS);
                    if (!isTold || !sent.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                        problem.compareAndSet(null, "handleSampleResults did not end within " + PATIENCE_SECONDS + " s");
                        sender.interrupt();
                    } else if (!ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                        problem.compareAndSet(null, "teardownTest did not end within " + PATIENCE_SECONDS + " s");
                        sender.interrupt();
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            return lost();
        }

        private String lost() {
            long withoutRoom = refused.get();
            long lost = withoutRoom + accepted.get() - handled.get();
            String why = problem.get();
            if (why == null && withoutRoom > 0) {
                why = "its queue of " + capacity + " was full, raise QUEUE_SIZE";
            }
            if (lost == 0) {
                return why;
            }
            return lost + " of " + (withoutRoom + accepted.get()) + " samples were not sent: " + why;
        }
    }
}
