package io.drumfire.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code <jMeterProcessJVMSettings>}: the Java that scripts and Java elements of a plan run in. */
public class JMeterProcessJVMSettings {
    private int xms = 512;
    private int xmx = 512;
    private String javaRuntime = "java";
    private List<String> arguments = new ArrayList<>();

    /** Puts these settings into the environment of a run. */
    void into(Map<String, String> environment) {
        environment.put("JVM_ARGS", String.join(" ", options()));
        File home = home();
        if (home != null) {
            environment.put("JAVA_HOME", home.getPath());
        } else if (!environment.containsKey("JAVA_HOME")) {
            environment.put("JAVA_HOME", System.getProperty("java.home"));
        }
    }

    /** The options of the virtual machine: sizes of the heap in MiB, then what the user adds. */
    List<String> options() {
        List<String> options = new ArrayList<>();
        options.add("-Xms" + xms + "M");
        options.add("-Xmx" + xmx + "M");
        options.addAll(arguments);
        if (arguments.stream().noneMatch(argument -> argument.contains("-Djava.awt.headless="))) {
            options.add("-Djava.awt.headless=true");
        }
        return options;
    }

    /** The program that starts Java. */
    String java() {
        return javaRuntime;
    }

    /** The folder of a Java that is named by its {@code bin/java}. */
    private File home() {
        File bin = new File(javaRuntime).getParentFile();
        return bin == null ? null : bin.getParentFile();
    }
}
