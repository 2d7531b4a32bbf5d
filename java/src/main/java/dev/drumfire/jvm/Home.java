package dev.drumfire.jvm;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Properties;

import org.apache.jmeter.JMeter;
import org.apache.jmeter.util.JMeterUtils;

/** Prepares JMeter's properties, and the folder in which its classes look for files. */
final class Home {
    /** SaveService reads it from the home; JMeter's own jars have it, too. */
    private static final String NAMES = "bin/saveservice.properties";

    private Home() {
    }

    static void prepare(String home, Properties known) throws ReflectiveOperationException, IOException {
        Field properties = JMeterUtils.class.getDeclaredField("appProperties");
        properties.setAccessible(true);
        properties.set(null, known);
        JMeterUtils.setJMeterHome(home);
        JMeterUtils.initLocale();
        unpack(Path.of(home).resolve(NAMES));
    }

    /** Runs scripts that properties name. JMeter's own method for this is private. */
    static void runInitFiles() throws ReflectiveOperationException {
        if (JMeterUtils.getPropDefault("beanshell.init.file", "").isEmpty() && JMeterUtils.getPropDefault("jsr223.init.file", "").isEmpty()) {
            return;
        }
        Method run = JMeter.class.getDeclaredMethod("runInitScripts");
        run.setAccessible(true);
        run.invoke(null);
    }

    private static void unpack(Path file) throws IOException {
        if (Files.exists(file)) {
            return;
        }
        try (InputStream in = Home.class.getClassLoader().getResourceAsStream(NAMES)) {
            if (in != null) {
                Files.createDirectories(file.getParent());
                Path part = Files.createTempFile(file.getParent(), "names", ".part");
                Files.copy(in, part, StandardCopyOption.REPLACE_EXISTING);
                Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            }
        }
    }
}
