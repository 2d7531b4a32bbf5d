package dev.drumfire.jvm;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Collections;
import java.util.Properties;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

import org.apache.jmeter.modifiers.BeanShellPreProcessor;
import org.apache.jmeter.modifiers.JSR223PreProcessor;
import org.apache.jmeter.protocol.java.sampler.BeanShellSampler;
import org.apache.jmeter.protocol.java.sampler.JSR223Sampler;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.testelement.TestElement;

/** Loads what scripts need and ends. Java then writes the loaded classes to the archive. */
final class Warm {
    private static final String SCRIPT = """
        def list = [1, 2].collect { it * 2 }
        def text = "${list.sum()}" + Label
        new groovy.json.JsonSlurper().parseText('{"a": [1]}').a[0] + text.size() + vars.hashCode()
        """;

    private Warm() {
    }

    /** The argument is JMeter's home. If a step fails, the classes before it are loaded. */
    public static void main(String[] args) {
        Loggers.setLevels(new String[] {"", "OFF"}); // there is no engine to write to
        try {
            HeadStart.begin();
            loadOwn();
            Home.prepare(args[0], new Properties());
            FileServer.getFileServer().setBaseForScript(new File(args[0]));
            Bridge.garbageMillis();
            new bsh.Interpreter().eval("a = 1; for (i = 0; i < 3; i++) { a += i; } String.valueOf(a);");
            User user = new User(new Group("", 0, new byte[0], -1), "", 0, 0, 0);
            user.enter();
            for (TestElement script : new TestElement[] {new BeanShellSampler(), new BeanShellPreProcessor(), new JSR223PreProcessor()}) {
                Beans.prepare((TestElement) Scripts.replaced(script).clone());
            }
            TestElement groovy = Scripts.replaced(new JSR223Sampler());
            groovy.setProperty("script", SCRIPT);
            Beans.prepare(groovy);
            Results.read(Results.write(((Sampler) groovy).sample(null)), null);
            HeadStart.loadCompiler();
            HeadStart.loadParser();
        } catch (Exception | LinkageError e) {
            System.err.println(e);
        }
    }

    /** The bridge's classes. */
    private static void loadOwn() throws IOException, URISyntaxException, ClassNotFoundException {
        URI place = Warm.class.getProtectionDomain().getCodeSource().getLocation().toURI();
        try (JarFile jar = new JarFile(new File(place))) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                String name = entry.getName();
                if (name.endsWith(".class")) {
                    Class.forName(name.substring(0, name.length() - ".class".length()).replace('/', '.'), false, Warm.class.getClassLoader());
                }
            }
        }
    }
}
