package dev.drumfire.jvm;

import java.io.IOException;

import javax.script.Bindings;
import javax.script.ScriptEngine;
import javax.script.ScriptException;

import org.apache.jmeter.assertions.JSR223Assertion;
import org.apache.jmeter.extractor.JSR223PostProcessor;
import org.apache.jmeter.modifiers.JSR223PreProcessor;
import org.apache.jmeter.protocol.java.sampler.JSR223Sampler;
import org.apache.jmeter.timers.JSR223Timer;
import org.apache.jmeter.visualizers.JSR223Listener;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.PropertyIterator;

/**
 * JMeter's JSR223 elements with another way to run a Groovy script; see {@link GroovyScript}. The methods that they override are
 * protected in each of six classes, so each needs a subclass of its own.
 */
final class Scripts {
    /** Marks one of these elements. */
    interface Own {
    }

    private Scripts() {
    }

    /** The replacement of an element, or the element itself. */
    static TestElement replaced(TestElement element) {
        TestElement script = switch (element.getClass().getSimpleName()) {
            case "JSR223PreProcessor" -> new PreProcessor();
            case "JSR223Sampler" -> new Sampler();
            case "JSR223PostProcessor" -> new PostProcessor();
            case "JSR223Assertion" -> new Assertion();
            case "JSR223Timer" -> new Timer();
            case "JSR223Listener" -> new Listener();
            case "BackendListener" -> new Backend();
            default -> null;
        };
        if (script == null) {
            return element;
        }
        PropertyIterator properties = element.propertyIterator();
        while (properties.hasNext()) {
            script.setProperty(properties.next());
        }
        return script;
    }

    public static final class PreProcessor extends JSR223PreProcessor implements Own {
        private static final long serialVersionUID = 1L;
        private final transient GroovyScript script = new GroovyScript(this, super::getScriptEngine, super::processFileOrScript);

        @Override
        protected ScriptEngine getScriptEngine() throws ScriptException {
            return script.engine();
        }

        @Override
        protected Object processFileOrScript(ScriptEngine engine, Bindings own) throws IOException, ScriptException {
            return script.run(engine, own);
        }
    }

    public static final class Sampler extends JSR223Sampler implements Own {
        private static final long serialVersionUID = 1L;
        private final transient GroovyScript script = new GroovyScript(this, super::getScriptEngine, super::processFileOrScript);

        @Override
        protected ScriptEngine getScriptEngine() throws ScriptException {
            return script.engine();
        }

        @Override
        protected Object processFileOrScript(ScriptEngine engine, Bindings own) throws IOException, ScriptException {
            return script.run(engine, own);
        }
    }

    public static final class PostProcessor extends JSR223PostProcessor implements Own {
        private static final long serialVersionUID = 1L;
        private final transient GroovyScript script = new GroovyScript(this, super::getScriptEngine, super::processFileOrScript);

        @Override
        protected ScriptEngine getScriptEngine() throws ScriptException {
            return script.engine();
        }

        @Override
        protected Object processFileOrScript(ScriptEngine engine, Bindings own) throws IOException, ScriptException {
            return script.run(engine, own);
        }
    }

    public static final class Assertion extends JSR223Assertion implements Own {
        private static final long serialVersionUID = 1L;
        private final transient GroovyScript script = new GroovyScript(this, super::getScriptEngine, super::processFileOrScript);

        @Override
        protected ScriptEngine getScriptEngine() throws ScriptException {
            return script.engine();
        }

        @Override
        protected Object processFileOrScript(ScriptEngine engine, Bindings own) throws IOException, ScriptException {
            return script.run(engine, own);
        }
    }

    public static final class Timer extends JSR223Timer implements Own {
        private static final long serialVersionUID = 1L;
        private final transient GroovyScript script = new GroovyScript(this, super::getScriptEngine, super::processFileOrScript);

        @Override
        protected ScriptEngine getScriptEngine() throws ScriptException {
            return script.engine();
        }

        @Override
        protected Object processFileOrScript(ScriptEngine engine, Bindings own) throws IOException, ScriptException {
            return script.run(engine, own);
        }
    }

    public static final class Listener extends JSR223Listener implements Own {
        private static final long serialVersionUID = 1L;
        private final transient GroovyScript script = new GroovyScript(this, super::getScriptEngine, super::processFileOrScript);

        @Override
        protected ScriptEngine getScriptEngine() throws ScriptException {
            return script.engine();
        }

        @Override
        protected Object processFileOrScript(ScriptEngine engine, Bindings own) throws IOException, ScriptException {
            return script.run(engine, own);
        }
    }
}
