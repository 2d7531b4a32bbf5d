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
 * Groovy takes a third of a second of work until its first script is compiled. The part that is the same for all scripts begins
 * with Java itself, on two threads, beside all else that comes before the first sample. Scripts are left to their calls, since
 * Groovy numbers them as it compiles them.
 */
final class HeadStart {
    /** Something of what most scripts are made of. */
    private static final String SAMPLE = "vars.put('a', 1)";
    /** The compiler's classes that have much to do when they are loaded. */
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
            // The first script will say it.
        }
    }

    static void loadCompiler() {
        for (String name : COMPILER) {
            try {
                Class.forName(name);
            } catch (ClassNotFoundException e) {
                // Another Groovy has others.
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
        // As Groovy does: what could follow in the case of an error is not worked out.
        parser.setErrorHandler(new BailErrorStrategy());
        parser.compilationUnit();
        GroovySystem.getMetaClassRegistry();
    }
}
