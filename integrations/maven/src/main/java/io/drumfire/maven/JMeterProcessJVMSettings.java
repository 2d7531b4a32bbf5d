package io.drumfire.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code <jMeterProcessJVMSettings>}: the Java that runs a plan's scripts and Java elements. */
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

    /** The options of the virtual machine: heap sizes in MiB, then the user's additions. */
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

    /** The home folder of a Java, derived from the path of its {@code bin/java}. */
    private File home() {
        File bin = new File(javaRuntime).getParentFile();
        return bin == null ? null : bin.getParentFile();
    }
}
