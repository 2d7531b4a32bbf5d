package a.own;

import java.io.IOException;
import java.nio.file.*;
import org.apache.jmeter.assertions.*;
import org.apache.jmeter.config.*;
import org.apache.jmeter.control.*;
import org.apache.jmeter.engine.event.*;
import org.apache.jmeter.processor.*;
import org.apache.jmeter.samplers.*;
import org.apache.jmeter.testelement.*;
import org.apache.jmeter.threads.*;
import org.apache.jmeter.timers.Timer;

public class Own {
    static synchronized void note(String text) {
        try {
            Files.writeString(Path.of(System.getProperty("user.dir"), "events.txt"), text + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
    static String here() {
        JMeterContext c = JMeterContextService.getContext();
        return c.getThread() == null ? "-" : c.getThread().getThreadName();
    }

    /** Gives each of its samplers twice. */
    public static class Twice extends GenericController {
        private transient Sampler last;
        private transient boolean again;
        @Override public Sampler next() {
            if (again) { again = false; return last; }
            last = super.next();
            again = last != null;
            return last;
        }
    }
    /** Loops by its own count and is an IteratingController. */
    public static class Times extends GenericController implements IteratingController, LoopIterationListener {
        private transient int round;
        private transient boolean broken;
        @Override public boolean isDone() { return round >= getPropertyAsInt("times") && subControllersAndSamplers.size() > 0 ; }
        @Override public Sampler next() {
            Own.note("next " + getName() + " round " + round + " " + here());
            if (broken || round >= getPropertyAsInt("times")) { round = 0; broken = false; reInitialize(); return null; }
            return super.next();
        }
        @Override protected Sampler nextIsNull() throws NextIsNullException {
            reInitialize();
            round++;
            fireIterationStart();
            if (round >= getPropertyAsInt("times")) { round = 0; return null; }
            return next();
        }
        @Override protected void fireIterEvents() { if (isFirst()) { fireIterationStart(); setFirst(false); } }
        @Override protected int getIterCount() { return round + 1; }
        @Override public void startNextLoop() { Own.note("startNextLoop " + getName()); reInitialize(); }
        @Override public void breakLoop() { Own.note("breakLoop " + getName()); broken = true; }
        @Override public void iterationStart(LoopIterationEvent e) { Own.note("iteration of " + getName() + " " + e.getIteration() + " from " + e.getSource().getClass().getSimpleName()); round = 0; }
    }
    /** From scratch. */
    public static class Bare extends AbstractTestElement implements Controller, ThreadListener, TestStateListener {
        private final java.util.List<TestElement> children = new java.util.ArrayList<>();
        private transient int at = 0;
        @Override public void addTestElement(TestElement e) { if (e instanceof Sampler || e instanceof Controller) children.add(e); }
        @Override public Sampler next() {
            while (at < children.size()) {
                TestElement child = children.get(children.size() - 1 - at);
                if (child instanceof Sampler) { at++; return (Sampler) child; }
                Sampler s = ((Controller) child).next();
                if (s != null) return s;
                at++;
            }
            at = 0;
            return null;
        }
        @Override public boolean isDone() { return false; }
        @Override public void addIterationListener(LoopIterationListener l) { }
        @Override public void removeIterationListener(LoopIterationListener l) { }
        @Override public void initialize() { at = 0; for (TestElement c : children) if (c instanceof Controller) ((Controller) c).initialize(); }
        @Override public void triggerEndOfLoop() { at = 0; }
        @Override public void threadStarted() { Own.note("controller threadStarted " + here()); }
        @Override public void threadFinished() { Own.note("controller threadFinished " + here()); }
        @Override public void testStarted() { Own.note("controller testStarted"); }
        @Override public void testStarted(String h) { }
        @Override public void testEnded() { Own.note("controller testEnded"); }
        @Override public void testEnded(String h) { }
    }
    public static class Wait extends AbstractTestElement implements Timer {
        @Override public long delay() { Own.note("delay " + getName() + " " + here()); return 20; }
    }
    public static class Judge extends AbstractTestElement implements Assertion {
        @Override public AssertionResult getResult(SampleResult r) {
            AssertionResult a = new AssertionResult(getName());
            a.setFailure(r.getSampleLabel().equals("two"));
            a.setFailureMessage("judged " + r.getSampleLabel());
            Own.note("assert " + r.getSampleLabel());
            return a;
        }
    }
    /** Everything that is told. */
    public static class Ear extends AbstractTestElement implements SampleListener, TestStateListener, ThreadListener, LoopIterationListener, TestIterationListener, PreProcessor, PostProcessor {
        private int samples;
        @Override public void sampleOccurred(SampleEvent e) { Own.note("sample " + e.getResult().getSampleLabel() + " " + e.getThreadGroup() + " " + ++samples + " " + e.getResult().isSuccessful()); }
        @Override public void sampleStarted(SampleEvent e) { Own.note("sampleStarted"); }
        @Override public void sampleStopped(SampleEvent e) { Own.note("sampleStopped"); }
        @Override public void testStarted() { Own.note("testStarted " + getName()); }
        @Override public void testStarted(String h) { }
        @Override public void testEnded() { Own.note("testEnded " + getName()); }
        @Override public void testEnded(String h) { }
        @Override public void threadStarted() { Own.note("threadStarted " + here()); }
        @Override public void threadFinished() { Own.note("threadFinished " + here()); }
        @Override public void iterationStart(LoopIterationEvent e) { Own.note("iterationStart " + e.getIteration()+ " " + here() + " " + (e.getSource() instanceof LoopController)); }
        @Override public void testIterationStart(LoopIterationEvent e) { Own.note("testIterationStart " + e.getIteration() + " " + (e.getSource() instanceof org.apache.jmeter.threads.ThreadGroup)); }
        @Override public void process() { Own.note("process " + getName() + " " + JMeterContextService.getContext().getCurrentSampler().getName()); }
    }
}
