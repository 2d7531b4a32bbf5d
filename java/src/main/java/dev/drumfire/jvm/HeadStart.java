package dev.drumfire.jvm;

import org.apache.groovy.parser.antlr4.GroovyLangLexer;
import org.apache.groovy.parser.antlr4.GroovyLangParser;

import groovy.lang.GroovySystem;
import groovy.lang.MetaClassRegistry;
import groovy.lang.Script;
import groovyjarjarantlr4.v4.runtime.BailErrorStrategy;
import groovyjarjarantlr4.v4.runtime.CharStreams;
import groovyjarjarantlr4.v4.runtime.CommonTokenStream;
import groovyjarjarantlr4.v4.runtime.atn.PredictionMode;

/**
 * Loads the parts of Groovy that all scripts need, on two threads, beside all else that comes before the first sample. Groovy
 * takes a third of a second of work until its first script is compiled. Scripts themselves are compiled when they are called,
 * since Groovy numbers them as it compiles them.
 */
final class HeadStart {
    /** A script with syntax that most scripts use. */
    private static final String SAMPLE = "vars.put('a', 1)";
    /** The compiler's classes that take long to load. */
    private static final String[] COMPILER = {
        "org.codehaus.groovy.control.ResolveVisitor", "org.codehaus.groovy.classgen.asm.InvocationWriter",
        "org.codehaus.groovy.classgen.AsmClassGenerator", "org.codehaus.groovy.transform.stc.StaticTypeCheckingSupport",
    };

    private HeadStart() {
    }

    static void begin() {
        start(HeadStart::loadCompiler);
        start(HeadStart::loadParser);
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(() -> attempt(work), "head-start");
        thread.setDaemon(true);
        Threads.useClassLoader(thread);
        thread.start();
    }

    private static void attempt(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | LinkageError e) {
            // The first script will report it.
        }
    }

    static void loadCompiler() {
        for (String name : COMPILER) {
            try {
                Class.forName(name);
            } catch (ClassNotFoundException e) {
                // Another version of Groovy may not have it.
            }
        }
        MetaClassRegistry methods = GroovySystem.getMetaClassRegistry();
        for (Class<?> type : new Class<?>[] {Script.class, Names.class, Vars.class}) {
            methods.getMetaClass(type);
        }
    }

    static void loadParser() {
        GroovyLangLexer words = new GroovyLangLexer(CharStreams.fromString(SAMPLE));
        GroovyLangParser parser = new GroovyLangParser(new CommonTokenStream(words));
        parser.getInterpreter().setPredictionMode(PredictionMode.SLL);
        // As Groovy does: without computing a recovery from errors.
        parser.setErrorHandler(new BailErrorStrategy());
        parser.compilationUnit();
        GroovySystem.getMetaClassRegistry();
    }
}
