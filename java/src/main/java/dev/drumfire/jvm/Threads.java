package dev.drumfire.jvm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.regex.Pattern;

import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.PropertyIterator;
import org.apache.jmeter.testelement.property.StringProperty;

/**
 * Threads that come from outside Java, and those that scripts start. The latter may read the user's variables while the user
 * does something else.
 */
final class Threads {
    private static final Pattern WORDS = Pattern.compile("Thread\\b|Executor|Runnable|CompletableFuture|parallelStream|\\bTimer\\b|GPars");

    /** Threads that come from outside Java. */
    private static final Set<Thread> OF_ENGINE = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    /** jmeter.exit.check.pause, as JMeter has it. */
    private static final long EXIT_PAUSE_MILLIS = 2000;
    private static final long JOIN_MILLIS = 100;

    private Threads() {
    }

    /** Threads that come from outside Java have no class loader, and much of JMeter looks there. */
    static void useClassLoader(Thread thread) {
        if (thread.getContextClassLoader() == null) {
            OF_ENGINE.add(thread);
            thread.setContextClassLoader(Threads.class.getClassLoader());
        }
    }

    /** Waits for the threads that Java code has started and that keep a JVM from ending (JMeter#checkForRemainingThreads). */
    static void awaitOwn() {
        long toldAt = System.currentTimeMillis() + EXIT_PAUSE_MILLIS;
        boolean isTold = false;
        for (List<Thread> left = own(); !left.isEmpty(); left = own()) {
            if (!isTold && System.currentTimeMillis() > toldAt) {
                isTold = true;
                System.out.println("The JVM should have exited but did not.\nThe following non-daemon threads are still running:");
                left.forEach(System.out::println);
            }
            try {
                left.get(0).join(JOIN_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static List<Thread> own() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread != Thread.currentThread() && !thread.isDaemon() && !OF_ENGINE.contains(thread)).toList();
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
            return false; // the element itself will report it
        }
    }
}
