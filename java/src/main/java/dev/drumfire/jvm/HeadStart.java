package dev.drumfire.jvm;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import javax.script.ScriptException;

import org.apache.jmeter.util.JSR223TestElement;

import groovy.lang.GroovySystem;
import groovy.lang.MetaClassRegistry;
import groovy.lang.Script;

/**
 * Groovy takes a third of a second of work until its first script is compiled. That begins as soon as the plan is known to have
 * one, beside all else that comes before the first sample, and on two threads.
 */
final class HeadStart {
    /** Later ones are compiled in no time, when they are called. */
    private static final int SCRIPTS = 8;
    private static final int IDLE_SECONDS = 1;

    private static final Set<String> TEXTS = new HashSet<>();
    private static ThreadPoolExecutor threads;

    private HeadStart() {
    }

    /** The plan has this script, whose text never changes. Gives whether it will be compiled ahead of its first call. */
    static synchronized boolean expect(JSR223TestElement element) {
        Beans.prepare(element);
        String text = element.getScript();
        // Annotations may make the compiler do things that are to be done when the script is called (Grape).
        boolean isPlain = GroovyScript.isKept(element) && element.getFilename().isEmpty() && !text.isEmpty() && text.indexOf('@') < 0;
        if (!isPlain || TEXTS.size() == SCRIPTS || !TEXTS.add(text)) {
            return false;
        }
        if (threads == null) {
            threads = new ThreadPoolExecutor(2, 2, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), HeadStart::thread);
            threads.allowCoreThreadTimeOut(true);
            threads.execute(HeadStart::loadNames);
        }
        threads.execute(() -> compile(text));
        return true;
    }

    static synchronized void clear() {
        TEXTS.clear();
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(work, "head-start");
        thread.setDaemon(true);
        Threads.useClassLoader(thread);
        return thread;
    }

    /** The names of all classes that scripts need not import: read from Java's and Groovy's archives. */
    private static void loadNames() {
        try {
            Class.forName("org.codehaus.groovy.control.ResolveVisitor");
        } catch (ClassNotFoundException | LinkageError e) {
            return; // the first script will say it
        }
        MetaClassRegistry methods = GroovySystem.getMetaClassRegistry();
        for (Class<?> type : new Class<?>[] {Script.class, Names.class, Vars.class}) {
            methods.getMetaClass(type);
        }
    }

    private static void compile(String text) {
        try {
            GroovySystem.getMetaClassRegistry();
            GroovyScript.compiled(text, null);
        } catch (ScriptException | IOException | RuntimeException | LinkageError e) {
            // The call will say it.
        }
    }
}
