package dev.drumfire.jvm;

import java.util.Arrays;
import java.util.Set;

import org.apache.jmeter.assertions.Assertion;
import org.apache.jmeter.config.ConfigElement;
import org.apache.jmeter.control.Controller;
import org.apache.jmeter.control.IteratingController;
import org.apache.jmeter.engine.event.LoopIterationListener;
import org.apache.jmeter.processor.PostProcessor;
import org.apache.jmeter.processor.PreProcessor;
import org.apache.jmeter.reporters.ResultCollector;
import org.apache.jmeter.samplers.SampleListener;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.threads.AbstractThreadGroup;
import org.apache.jmeter.timers.Timer;
import org.apache.jmeter.visualizers.backend.BackendListenerClient;

/** The roles of a class that the engine does not know. */
final class Classes {
    /** The roles that a class can have; the engine's side of it is Traits, in this order. */
    private static final Class<?>[] ROLES = {
        Sampler.class, ConfigElement.class, PreProcessor.class, PostProcessor.class, Assertion.class, Timer.class,
        SampleListener.class, Controller.class, AbstractThreadGroup.class, ResultCollector.class, LoopIterationListener.class,
        IteratingController.class, BackendListenerClient.class,
    };

    private static final Set<String> WALK = Set.of("next", "isDone", "initialize", "getSamplerController", "addTestElement",
        "addIterationListener", "startNextLoop", "triggerEndOfLoop", "breakThreadLoop");

    private Classes() {
    }

    /**
     * A bit for each of {@link #ROLES}, and then one for a thread group that selects samplers itself; -1 if there is no such
     * class, or it has no role and is no element.
     */
    static int classify(String name) {
        Class<?> found;
        try {
            found = Class.forName(name, false, Classes.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return -1;
        }
        if (!TestElement.class.isAssignableFrom(found) && !BackendListenerClient.class.isAssignableFrom(found)) {
            return -1;
        }
        int roles = 0;
        for (int i = 0; i < ROLES.length; i++) {
            if (ROLES[i].isAssignableFrom(found)) {
                roles |= 1 << i;
            }
        }
        if (AbstractThreadGroup.class.isAssignableFrom(found) && walksItself(found)) {
            roles |= 1 << ROLES.length;
        }
        return roles;
    }

    /** Whether a thread group selects the next sampler by its own methods, not by the controller in it. */
    private static boolean walksItself(Class<?> group) {
        try {
            return Arrays.stream(group.getMethods())
                .filter(method -> WALK.contains(method.getName()))
                .anyMatch(method -> method.getDeclaringClass() != AbstractThreadGroup.class && !method.getDeclaringClass().isInterface());
        } catch (LinkageError e) {
            return true; // leaves it to its object
        }
    }
}
