package dev.drumfire.jvm;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

import javax.script.ScriptEngine;
import javax.script.ScriptEngineManager;

import org.apache.jmeter.save.SaveService;

/** Loads what scripts need and ends: what it has loaded goes into the archive of classes. */
final class Warm {
    private Warm() {
    }

    /** The argument is JMeter's home. Whatever fails, the classes until there are loaded. */
    public static void main(String[] args) {
        Loggers.setLevels(new String[] {"", "OFF"}); // there is no engine to write to
        try {
            Home.prepare(args[0], new Properties());
            for (String element : new String[] {"JSR223Sampler", "BeanShellSampler", "JSR223PreProcessor"}) {
                String xml = '<' + element + " guiclass=\"TestBeanGUI\" testclass=\"" + element + "\" testname=\"\" enabled=\"true\"/>";
                SaveService.loadElement(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
            }
            ScriptEngine groovy = new ScriptEngineManager().getEngineByName("groovy");
            groovy.eval("def list = [1, 2].collect { it * 2 }; def text = \"${list.sum()}\"; new groovy.json.JsonSlurper().parseText('{\"a\": [1]}').a[0] + text.size()");
            new bsh.Interpreter().eval("a = 1; for (i = 0; i < 3; i++) { a += i; } String.valueOf(a);");
        } catch (Exception | LinkageError e) {
            System.err.println(e);
        }
    }
}
