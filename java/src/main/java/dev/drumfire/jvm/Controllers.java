package dev.drumfire.jvm;

import java.util.HashMap;
import java.util.Map;

import org.apache.jmeter.control.Controller;
import org.apache.jmeter.control.GenericController;
import org.apache.jmeter.control.IteratingController;
import org.apache.jmeter.control.LoopController;
import org.apache.jmeter.engine.event.LoopIterationEvent;
import org.apache.jmeter.engine.event.LoopIterationListener;
import org.apache.jmeter.samplers.AbstractSampler;
import org.apache.jmeter.samplers.Entry;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.threads.AbstractThreadGroup;

/**
 * Controllers of classes that the engine does not know. Their Java object selects the next sampler. Its children stand for those
 * that the engine runs: samplers that it only returns, and controllers that ask the engine.
 */
final class Controllers {
    // Questions to a controller; the engine's side of them is in below.rs.
    private static final int NEXT = 0;
    private static final int INITIALIZE = 1;
    private static final int IS_DONE = 2;
    private static final int END_OF_LOOP = 3;
    private static final int ITERATION = 4;
    private static final int LOOP_ITERATION = 5;
    private static final int START_NEXT_LOOP = 6;
    private static final int BREAK_LOOP = 7;

    /** The answer to NEXT if there is no step; otherwise the answer is the number of a step. */
    static final int NOTHING = -1;

    private Controllers() {
    }

    /** Gives a controller its children. */
    static void fill(Controller controller) {
        String[] children = Natives.children();
        for (int place = 0; place < children.length; place++) {
            int space = children[place].indexOf(' ');
            String step = children[place].substring(0, space);
            TestElement child = step.equals("c") ? new Branch(place) : new Leaf(Integer.parseInt(step));
            child.setName(children[place].substring(space + 1));
            child.setRunningVersion(true);
            controller.addTestElement(child);
        }
        boolean isLoop = (controller instanceof AbstractThreadGroup group ? group.getSamplerController() : controller) instanceof LoopController;
        controller.addIterationListener(event -> Natives.tellChildren(event.getIteration(), isLoop));
    }

    static int ask(Controller controller, int question, int argument) {
        switch (question) {
            case NEXT -> {
                return step(controller.next());
            }
            case INITIALIZE -> controller.initialize();
            case IS_DONE -> {
                return controller.isDone() ? 1 : 0;
            }
            case END_OF_LOOP -> controller.triggerEndOfLoop();
            case ITERATION -> ((LoopIterationListener) controller).iterationStart(new LoopIterationEvent(new GenericController(), argument));
            case LOOP_ITERATION -> ((LoopIterationListener) controller).iterationStart(new LoopIterationEvent(new LoopController(), argument));
            case START_NEXT_LOOP -> startNextLoop(controller);
            case BREAK_LOOP -> breakLoop(controller);
            default -> throw new IllegalArgumentException("question " + question);
        }
        return 0;
    }

    private static void startNextLoop(Controller controller) {
        if (controller instanceof AbstractThreadGroup group) {
            group.startNextLoop();
        } else {
            ((IteratingController) controller).startNextLoop();
        }
    }

    private static void breakLoop(Controller controller) {
        if (controller instanceof AbstractThreadGroup group) {
            group.breakThreadLoop();
        } else {
            ((IteratingController) controller).breakLoop();
        }
    }

    private static int step(Sampler sampler) {
        if (sampler == null) {
            return NOTHING;
        }
        if (sampler instanceof Leaf leaf) {
            return leaf.step;
        }
        throw new IllegalStateException("The controller returned a sampler of " + sampler.getClass().getName() + ", which is not below it in the plan");
    }

    /** A step of the engine. */
    private static final class Leaf extends AbstractSampler {
        private static final long serialVersionUID = 1L;
        private final int step;

        Leaf(int step) {
            this.step = step;
        }

        @Override
        public SampleResult sample(Entry entry) {
            throw new UnsupportedOperationException("The engine runs the samplers below a controller");
        }
    }

    /** A controller of the engine. */
    private static final class Branch extends GenericController {
        private static final long serialVersionUID = 1L;
        private final int place;
        /** The steps that it has given: the same step is the same object, as in JMeter. */
        private final transient Map<Integer, Leaf> found = new HashMap<>();

        Branch(int place) {
            this.place = place;
        }

        @Override
        public Sampler next() {
            int step = Natives.askChild(place, NEXT);
            return step == NOTHING ? null : found.computeIfAbsent(step, Leaf::new);
        }

        @Override
        public boolean isDone() {
            return Natives.askChild(place, IS_DONE) == 1;
        }

        @Override
        public void initialize() {
            Natives.askChild(place, INITIALIZE);
        }

        @Override
        public void triggerEndOfLoop() {
            Natives.askChild(place, END_OF_LOOP);
        }
    }
}
