package dev.drumfire.jvm;

import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.apache.jmeter.config.ConfigTestElement;
import org.apache.jmeter.control.Controller;
import org.apache.jmeter.engine.util.ConfigMergabilityIndicator;
import org.apache.jmeter.engine.util.NoConfigMerge;
import org.apache.jmeter.protocol.http.control.HeaderManager;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase;
import org.apache.jmeter.samplers.Interruptible;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.threads.JMeterContext.TestLogicalAction;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.UserContext;
import org.slf4j.LoggerFactory;

/** One virtual user, as JMeter's classes see it. */
final class User {
    /** Created on first use, because SampleResult's class reads properties. */
    private static final class Unread {
        static final SampleResult RESULT = new SampleResult();
    }

    final UserContext context = new UserContext(this);
    private final ThreadLocals threadLocals = new ThreadLocals();
    private final Vars vars = new Vars(this);
    private final String threadName;
    private final Group group;
    /** The thread that stands for the user; null if the engine started the user itself. */
    private JMeterThread own;
    /** The line by which threads that run none of its calls reach it. */
    private final long line;
    /** The thread that runs the current call. */
    private volatile Thread caller;
    /** Whether such threads have reached it: they may do so again between its calls. */
    private volatile boolean isReached;
    private TestElement[] elements = new TestElement[0];

    /** Users whose samplers can be interrupted. */
    private static final Set<User> INTERRUPTIBLE = ConcurrentHashMap.newKeySet();
    /** The sampler of the current call if it can be interrupted. */
    private volatile Interruptible interruptible;

    // The current call.
    /** The values of the thread that runs it, until its end. */
    private ThreadLocals lender;
    private boolean isBusy;
    private boolean isResultOffered;
    private SampleResult result;
    private Results.Before resultBefore;
    /** Whether a sampler is running: its changes to the previous result come too late. */
    private boolean isSampling;
    private boolean isSamplerKnown;
    private Sampler sampler;
    private byte[] requestBefore;
    private HeaderManager headersBefore;
    private Cookies cookiesBefore;
    /** The number of the sample that {@link #elements} were last prepared for. */
    private int sample = -1;
    /** Controllers that have their children. */
    private final Set<Controller> filled = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<TestElement> changed = Collections.newSetFromMap(new IdentityHashMap<>());

    User(Group group, String threadName, int number, long line, long endMillis) {
        this.threadName = threadName;
        this.group = group;
        this.line = line;
        if (Lifecycle.planVariables() != null) {
            vars.inherit(Lifecycle.planVariables());
        }
        context.setVariables(vars);
        context.setThreadNum(number);
        if (group != null) {
            context.setThreadGroup(group.threadGroup());
            own = group.takeThread(threadName);
            context.setThread(own != null ? own : new UserThread(this, threadName, number, group.threadGroup(), endMillis));
        }
        context.setEngine(Engine.INSTANCE);
        context.setSamplingStarted(true);
        context.offer(() -> reach(this::result, Unread.RESULT), () -> reach(this::sampler, null), () -> reach(this::previousSampler, null));
    }

    /** Whether this thread runs the current call. */
    boolean isHere() {
        return caller == Thread.currentThread();
    }

    /**
     * Asks the engine from any thread. A thread that runs no call of this user uses the call that is running. If there is none,
     * {@code otherwise} is returned.
     */
    <T> T reach(Supplier<T> ask, T otherwise) {
        if (isHere()) {
            return ask.get();
        }
        isReached = true;
        if (!Natives.join(line)) {
            return otherwise;
        }
        try {
            return ask.get();
        } finally {
            Natives.leave();
        }
    }

    boolean isReached() {
        return isReached;
    }

    boolean isCalled(String name) {
        return threadName.equals(name);
    }

    /** Interrupts the current call. */
    void interrupt() {
        Thread thread = caller;
        if (thread != null) {
            thread.interrupt();
        }
    }

    /** Interrupts the sample at hand, if its sampler can be interrupted. */
    void interruptSample() {
        Interruptible current = interruptible;
        if (current != null && current.interrupt()) {
            LoggerFactory.getLogger(User.class).warn("the sample of '{}' was interrupted", threadName);
        }
    }

    static boolean isAnySampleInterruptible() {
        return !INTERRUPTIBLE.isEmpty();
    }

    static void interruptSamples() {
        INTERRUPTIBLE.forEach(User::interruptSample);
    }

    /** Makes this the user of the current thread. */
    void enter() {
        lender = threadLocals.lend();
        JMeterContextService.replaceContext(context);
        if (lender != null) {
            threadLocals.takeBack(); // a call within this one may run on another thread
        }
        Thread thread = Thread.currentThread();
        Threads.useClassLoader(thread);
        if (!threadName.equals(thread.getName())) {
            thread.setName(threadName);
        }
    }

    Vars vars() {
        return vars;
    }

    /** Starts a new sample, with elements as the plan has them (SamplePackage#recoverRunningVersion). */
    void startSample(int number) {
        if (number == sample) {
            return;
        }
        sample = number;
        context.getSamplerContext().clear();
        changed.forEach(TestElement::recoverRunningVersion);
        changed.clear();
    }

    /** This user's copy of an element for the current sample; a sampler with its configuration merged in (TestCompiler). */
    TestElement prepared(int id) {
        TestElement element = element(id);
        if (Plan.isFixedScript(id)) {
            return element; // nothing about it ever changes, and it got its bean's properties when it was copied
        }
        if (changed.add(element) && element instanceof Sampler current) {
            current.clearTestElementChildren();
            for (int config : Plan.configs(id)) {
                merge(current, element(config));
            }
        }
        return element;
    }

    /** The same copy, ready to be called. */
    TestElement called(int id) {
        TestElement element = prepared(id);
        if (!Plan.isFixedScript(id)) {
            Beans.prepare(element);
        }
        return element;
    }

    private void merge(Sampler current, TestElement config) {
        changed.add(config);
        if (config instanceof ConfigTestElement known && !(config instanceof NoConfigMerge)
            && (!(current instanceof ConfigMergabilityIndicator indicator) || indicator.applies(known))) {
            current.addTestElement(config);
        }
    }

    /** This user's copy of an element of the plan. */
    TestElement element(int id) {
        if (id >= elements.length) {
            elements = Arrays.copyOf(elements, Plan.size());
        }
        TestElement element = elements[id];
        if (element == null) {
            element = Plan.copy(id);
            elements[id] = element;
            if (Plan.isFixedScript(id)) {
                Beans.prepare(element);
            }
        }
        return element;
    }

    /** This user's copy of a controller, with stand-ins for what is below it. */
    Controller controller(int id) {
        Controller controller = (Controller) element(id);
        if (filled.add(controller)) {
            Beans.prepare(controller);
            Controllers.fill(controller);
        }
        return controller;
    }

    /** The state of a call, saved while a function in one of its texts runs a script. */
    record Hands(Thread caller, ThreadLocals lender, boolean isResultOffered, SampleResult result, Results.Before resultBefore, boolean isSampling, boolean isSamplerKnown, Sampler sampler,
            byte[] requestBefore, HeaderManager headersBefore, Cookies cookiesBefore, TestLogicalAction action) {
    }

    Hands hands() {
        return new Hands(caller, lender, isResultOffered, result, resultBefore, isSampling, isSamplerKnown, sampler, requestBefore, headersBefore, cookiesBefore, context.getTestLogicalAction());
    }

    void take(Hands hands) {
        caller = hands.caller;
        lender = hands.lender;
        isResultOffered = hands.isResultOffered;
        result = hands.result;
        resultBefore = hands.resultBefore;
        isSampling = hands.isSampling;
        isSamplerKnown = hands.isSamplerKnown;
        sampler = hands.sampler;
        requestBefore = hands.requestBefore;
        headersBefore = hands.headersBefore;
        cookiesBefore = hands.cookiesBefore;
        context.setTestLogicalAction(hands.action);
        isBusy = true;
    }

    /** Whether a call is running: a script that starts now is part of one of its texts. */
    boolean isBusy() {
        return isBusy;
    }

    /** Starts a call; {@code wantsResult} is false if nothing can read the result. */
    void begin(boolean wantsResult) {
        isBusy = true;
        caller = Thread.currentThread();
        if (group != null) {
            group.enter(this);
        }
        isResultOffered = wantsResult;
        result = null;
        isSampling = false;
        isSamplerKnown = false;
        sampler = null;
        context.setTestLogicalAction(TestLogicalAction.CONTINUE);
        context.begin();
        vars.takePending();
    }

    SampleResult result() {
        if (!isResultOffered) {
            return Unread.RESULT;
        }
        if (result == null) {
            byte[] written = Natives.result();
            if (written != null) {
                result = Results.read(written, Natives.resultBody());
                resultBefore = new Results.Before(result);
            }
        }
        return result;
    }

    private Sampler sampler() {
        if (!isSamplerKnown) {
            isSamplerKnown = true;
            long current = isResultOffered ? Natives.sampler() : -1;
            if ((int) current >= 0) {
                startSample((int) (current >> Integer.SIZE));
                sampler = (Sampler) prepared((int) current);
                return sampler;
            }
            requestBefore = isResultOffered ? Natives.request() : null;
            if (requestBefore != null) {
                HTTPSamplerBase http = Requests.read(requestBefore);
                sampler = http;
                sampler.setThreadContext(context);
                requestBefore = Requests.write(http);
                headersBefore = http.getHeaderManager();
                cookiesBefore = (Cookies) http.getCookieManager();
            } else if (isResultOffered) {
                sampler = named(Natives.namedSampler());
            }
        }
        return sampler;
    }

    private Sampler previousSampler() {
        return named(Natives.previousSampler());
    }

    /** A sampler that the engine runs natively: an object of its class with nothing but its name. */
    private static Sampler named(String[] classAndName) {
        if (classAndName == null) {
            return null;
        }
        try {
            Sampler sampler = (Sampler) Class.forName(classAndName[0]).getDeclaredConstructor().newInstance();
            sampler.setName(classAndName[1]);
            return sampler;
        } catch (ReflectiveOperationException | LinkageError | ClassCastException e) {
            return null;
        }
    }

    /** Begins a Java sampler's turn, in which it is the current sampler itself. */
    void take(Sampler current) {
        isSampling = true;
        isSamplerKnown = true;
        sampler = current;
        requestBefore = null;
        if (current instanceof Interruptible known) {
            interruptible = known;
            INTERRUPTIBLE.add(this);
        }
    }

    /** Ends a call and passes its changes to the engine. */
    void end() {
        if (isSampling && interruptible != null) {
            interruptible = null;
            INTERRUPTIBLE.remove(this);
        }
        vars.settle();
        if (result != null && !isSampling) {
            hand(result, resultBefore);
        }
        if (requestBefore != null && sampler instanceof HTTPSamplerBase http) {
            byte[] after = Requests.write(http);
            if (!Arrays.equals(requestBefore, after)) {
                Natives.setRequest(requestBefore, after, headersBefore != null && http.getHeaderManager() == headersBefore);
            }
            if (cookiesBefore != null) {
                cookiesBefore.end();
            }
        }
        if (context.getTestLogicalAction() != TestLogicalAction.CONTINUE) {
            Natives.setAction(context.getTestLogicalAction().ordinal());
        }
        if (own != null && OwnGroup.isStopped(own)) {
            Natives.stopThread();
        }
        result = null;
        sampler = null;
        isBusy = false;
        caller = null;
        if (group != null) {
            group.leave(this);
        }
        if (lender != null) {
            threadLocals.takeBack();
            lender.install();
            lender = null;
        }
    }

    private static void hand(SampleResult result, Results.Before before) {
        byte[] body = result.getResponseData() == before.body() ? null : result.getResponseData();
        if (body != null || !before.is(result)) {
            Natives.setResult(Results.write(result), body);
        }
    }
}
