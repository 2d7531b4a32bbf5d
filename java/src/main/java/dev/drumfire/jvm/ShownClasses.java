package dev.drumfire.jvm;

import groovy.lang.Closure;
import groovy.lang.ExpandoMetaClass;
import groovy.lang.GroovySystem;

import org.apache.jmeter.threads.UserContext;

/** Lets Groovy scripts that ask an object for its class see JMeter's class, for which the object's class stands. */
final class ShownClasses {
    private static final Class<?>[] OWN = {
        Vars.class, Props.class, UserContext.class, UserThread.class, Engine.class, ShownGroups.Main.class, ShownGroups.Setup.class,
        ShownGroups.Teardown.class, Scripts.PreProcessor.class, Scripts.Sampler.class, Scripts.PostProcessor.class, Scripts.Assertion.class,
        Scripts.Timer.class, Scripts.Listener.class,
    };
    private static boolean isDone;

    private ShownClasses() {
    }

    /** To be called before the script is compiled. */
    static synchronized void prepare(String script) {
        if (isDone || script == null || !script.contains("class") && !script.contains("getClass")) {
            return;
        }
        isDone = true;
        for (Class<?> own : OWN) {
            ExpandoMetaClass shown = new ExpandoMetaClass(own, false, true);
            shown.registerInstanceMethod("getClass", new Shown(ShownNames.of(own)));
            shown.initialize();
            GroovySystem.getMetaClassRegistry().setMetaClass(own, shown);
        }
    }

    private static final class Shown extends Closure<Class<?>> {
        private static final long serialVersionUID = 1L;
        private final Class<?> type;

        Shown(Class<?> type) {
            super(null);
            this.type = type;
        }

        @SuppressWarnings("unused") // Groovy calls it
        public Class<?> doCall() {
            return type;
        }
    }
}
