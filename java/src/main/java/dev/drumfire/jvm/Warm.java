package dev.drumfire.jvm;

import java.util.Properties;

import org.apache.jmeter.modifiers.BeanShellPreProcessor;
import org.apache.jmeter.modifiers.JSR223PreProcessor;
import org.apache.jmeter.protocol.java.sampler.BeanShellSampler;
import org.apache.jmeter.protocol.java.sampler.JSR223Sampler;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testelement.TestElement;

import groovy.lang.GroovySystem;

/** Loads what scripts need and ends: what it has loaded goes into the archive of classes. */
final class Warm {
    private static final String SCRIPT = """
        def list = [1, 2].collect { it * 2 }
        def text = "${list.sum()}" + Label
        new groovy.json.JsonSlurper().parseText('{"a": [1]}').a[0] + text.size() + vars.hashCode()
        """;

    private Warm() {
    }

    /** The argument is JMeter's home. Whatever fails, the classes until there are loaded. */
    public static void main(String[] args) {
        Loggers.setLevels(new String[] {"", "OFF"}); // there is no engine to write to
        try {
            Home.prepare(args[0], new Properties());
            new bsh.Interpreter().eval("a = 1; for (i = 0; i < 3; i++) { a += i; } String.valueOf(a);");
            User user = new User(new Group("", 1), "", 0);
            user.enter();
            for (TestElement script : new TestElement[] {new BeanShellSampler(), new BeanShellPreProcessor(), new JSR223PreProcessor()}) {
                Beans.prepare((TestElement) Scripts.replaced(script).clone());
            }
            TestElement groovy = Scripts.replaced(new JSR223Sampler());
            groovy.setProperty("script", SCRIPT);
            Beans.prepare(groovy);
            Results.read(Results.write(((Sampler) groovy).sample(null)), null);
            GroovySystem.getMetaClassRegistry().getMetaClass(Vars.class);
        } catch (Exception | LinkageError e) {
            System.err.println(e);
        }
    }
}
