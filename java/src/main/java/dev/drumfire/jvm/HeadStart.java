package dev.drumfire.jvm;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import javax.script.ScriptException;

import org.apache.groovy.parser.antlr4.GroovyLangLexer;
import org.apache.groovy.parser.antlr4.GroovyLangParser;
import org.apache.jmeter.util.JSR223TestElement;

import groovy.lang.GroovySystem;
import groovy.lang.MetaClassRegistry;
import groovy.lang.Script;
import groovyjarjarantlr4.v4.runtime.CharStreams;
import groovyjarjarantlr4.v4.runtime.CommonTokenStream;
import groovyjarjarantlr4.v4.runtime.atn.PredictionMode;

/**
 * Groovy takes a third of a second of work until its first script is compiled. That begins as soon as the plan is known to have
 * one, beside all else that comes before the first sample, and on two threads.
 */
final class HeadStart {
    /** Later ones are compiled in no time, when they are called. */
    private static final int SCRIPTS = 8;
    private static final int IDLE_SECONDS = 1;
    /** Something of what most scripts are made of. */
    private static final String SAMPLE = "vars.put('a', 1)";

    private static final Set<String> TEXTS = new HashSet<>();
    private static ThreadPoolExecutor threads;

    private HeadStart() {
    }

    /** The plan has a Groovy script. */
    static synchronized void begin() {
        if (threads == null) {
            threads = new ThreadPoolExecutor(2, 2, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), HeadStart::thread);
            threads.allowCoreThreadTimeOut(true);
            threads.execute(HeadStart::loadNames);
            threads.execute(HeadStart::loadParser);
        }
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
        begin();
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
            MetaClassRegistry methods = GroovySystem.getMetaClassRegistry();
            for (Class<?> type : new Class<?>[] {Script.class, Names.class, Vars.class}) {
                methods.getMetaClass(type);
            }
        } catch (ClassNotFoundException | RuntimeException | LinkageError e) {
            // The first script will say it.
        }
    }

    static void loadParser() {
        try {
            GroovyLangLexer words = new GroovyLangLexer(CharStreams.fromString(SAMPLE));
            GroovyLangParser parser = new GroovyLangParser(new CommonTokenStream(words));
            parser.getInterpreter().setPredictionMode(PredictionMode.SLL);
            parser.compilationUnit();
            GroovySystem.getMetaClassRegistry();
        } catch (RuntimeException | LinkageError e) {
            // The first script will say it.
        }
    }

    private static void compile(String text) {
        try {
            GroovyScript.compiled(text, null);
        } catch (ScriptException | IOException | RuntimeException | LinkageError e) {
            // The call will say it.
        }
    }
}
