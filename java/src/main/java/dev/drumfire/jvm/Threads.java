package dev.drumfire.jvm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Pattern;

import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.PropertyIterator;
import org.apache.jmeter.testelement.property.StringProperty;

/**
 * Threads that come from outside Java, and those that scripts start: these may look at the user's variables while the user
 * does something else.
 */
final class Threads {
    private static final Pattern WORDS = Pattern.compile("Thread\\b|Executor|Runnable|CompletableFuture|parallelStream|\\bTimer\\b|GPars");

    private Threads() {
    }

    /** Threads that come from outside Java have no class loader, and much of JMeter looks there. */
    static void useClassLoader(Thread thread) {
        if (thread.getContextClassLoader() == null) {
            thread.setContextClassLoader(Threads.class.getClassLoader());
        }
    }

    static boolean areStartedBy(TestElement element) {
        PropertyIterator properties = element.propertyIterator();
        while (properties.hasNext()) {
            JMeterProperty property = properties.next();
            if (!(property instanceof StringProperty)) {
                continue;
            }
            String text = property.getStringValue();
            if (text != null && (starts(text) || property.getName().toLowerCase(java.util.Locale.ROOT).endsWith("filename") && startsInFile(text))) {
                return true;
            }
        }
        return false;
    }

    private static boolean starts(String text) {
        return text.length() > "Thread".length() && WORDS.matcher(text).find();
    }

    private static boolean startsInFile(String name) {
        if (name.isEmpty()) {
            return false;
        }
        try {
            Path file = Path.of(FileServer.getFileServer().getBaseDir()).resolve(name);
            return Files.isRegularFile(file) && starts(Files.readString(file));
        } catch (IOException | InvalidPathException e) {
            return false; // the element itself will say it
        }
    }
}
