package dev.drumfire.jvm;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertSame;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

import javax.script.Bindings;
import javax.script.ScriptEngine;

import org.apache.jmeter.modifiers.JSR223PreProcessor;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.util.JSR223TestElement;
import org.junit.Before;
import org.junit.Test;

/** Groovy scripts see and do the same as in JMeter's own element, which runs beside ours. */
public class ScriptsTest {
    private User user;

    @Before
    public void start() throws Exception {
        user = Natives.user();
        Natives.result = Results.write(new SampleResult());
    }

    private static JSR223PreProcessor element(JSR223PreProcessor element, String script) {
        element.setName("a script");
        element.setScriptLanguage("groovy");
        element.setCacheKey("true");
        element.setParameters("one two");
        element.setFilename("");
        element.setScript(script);
        return element;
    }

    private static Method method(String name, Class<?>... parameters) throws ReflectiveOperationException {
        Method method = JSR223TestElement.class.getDeclaredMethod(name, parameters);
        method.setAccessible(true);
        return method;
    }

    /** Runs a script as the element's own code does. */
    private Object run(JSR223PreProcessor element) throws Throwable {
        user.begin(true);
        try {
            Object engine = method("getScriptEngine").invoke(element);
            return method("processFileOrScript", ScriptEngine.class, Bindings.class).invoke(element, engine, null);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        } finally {
            user.end();
        }
    }

    /** The script's value or exception, its log lines, and a variable afterwards. Scripts are numbered as they are compiled. */
    private String outcome(JSR223PreProcessor element) {
        Natives.LOG.clear();
        Natives.VARIABLES.clear();
        Natives.VARIABLES.put("v", "1");
        String outcome;
        try {
            outcome = "gives " + run(element);
        } catch (Throwable thrown) {
            outcome = "throws " + thrown + " caused by " + thrown.getCause();
        }
        return (outcome + " logs " + Natives.LOG + " leaves " + Natives.VARIABLES).replaceAll("Script\\d+", "Script");
    }

    @Test
    public void scriptsDoWhatTheyDoInJMeter() {
        List<String> scripts = List.of(
            "1 + 1",
            "Label + args.length + Parameters + FileName",
            "binding.variables.keySet().sort().join(' ')",
            "vars.put('v', vars.get('v') + ctx.threadNum + props.getProperty('none', 'p'))",
            "x = 5; binding.variables.x + ' ' + binding.hasVariable('prev') + binding.hasVariable('none')",
            "def seen = []; Thread.start { seen << ctx.threadNum << vars.get('v') }.join(); seen.join(' ')",
            "prev.responseCode + (prev == ctx.previousResult) + (sampler == null)",
            "log.info('said')",
            "context.getBindings(100).get('vars') == vars",
            "out.class.simpleName + OUT.class.simpleName",
            "vars = 'mine'; vars.length()",
            "def f(n) { n * 2 }\nf(4)",
            "class Own { static int four() { 4 } }\nOwn.four()",
            "class Only { }",
            "nothing",
            "missing(1)",
            "'text'.missing(1)",
            "throw new IllegalStateException('no')",
            "throw new org.apache.jorphan.util.JMeterStopThreadException('stop')",
            "assert 1 == 2",
            "def (");
        for (String script : scripts) {
            String theirs = outcome(element(new JSR223PreProcessor(), script));
            assertEquals(script, theirs, outcome(element(new Scripts.PreProcessor(), script)));
        }
    }

    @Test
    public void aScriptIsCompiledOnceForAllElements() throws Throwable {
        String script = "getClass()";
        Object type = run(element(new Scripts.PreProcessor(), script));
        JSR223PreProcessor again = element(new Scripts.PreProcessor(), script);
        assertSame(type, run(again));
        assertSame(type, run(again));
        again.setCacheKey("false");
        assertNotEquals(type, run(again));
    }

    /** Where a script has no names of its own, its class's number shows in messages. */
    @Test
    public void theHeadStartCompilesNoScript() throws Throwable {
        String before = ((Class<?>) run(element(new Scripts.PreProcessor(), "getClass() // before"))).getName();
        HeadStart.loadParser();
        HeadStart.loadCompiler();
        String after = ((Class<?>) run(element(new Scripts.PreProcessor(), "getClass() // after"))).getName();
        assertEquals(number(before) + 1, number(after));
    }

    private static int number(String name) {
        return Integer.parseInt(name.substring("Script".length()));
    }

    @Test
    public void whatNoScriptAsksForIsNotMade() throws Throwable {
        run(element(new Scripts.PreProcessor(), "vars.put('a', 'b')"));
        assertEquals(0, Natives.resultReads);
        run(element(new Scripts.PreProcessor(), "prev"));
        assertEquals(1, Natives.resultReads);
    }

    @Test
    public void scriptsThatStartThreadsAreKnown() {
        List<Boolean> starts = new ArrayList<>();
        for (String script : List.of("Thread.start { }", "threadName = 'Thready'", "list.parallelStream()")) {
            JSR223PreProcessor element = new JSR223PreProcessor();
            element.setProperty("script", script);
            starts.add(Threads.areStartedBy(element));
        }
        assertEquals(List.of(true, false, true), starts);
        assertFalse(Threads.areStartedBy(new JSR223PreProcessor()));
    }
}
