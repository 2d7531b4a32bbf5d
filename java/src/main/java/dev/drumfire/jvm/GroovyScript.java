package dev.drumfire.jvm;

import java.io.File;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;

import javax.script.Bindings;
import javax.script.Compilable;
import javax.script.CompiledScript;
import javax.script.ScriptEngine;
import javax.script.ScriptException;

import org.apache.jmeter.util.JMeterUtils;
import org.apache.jmeter.util.JSR223TestElement;
import org.apache.jorphan.util.JMeterStopTestException;
import org.apache.jorphan.util.JMeterStopTestNowException;
import org.apache.jorphan.util.JMeterStopThreadException;
import org.codehaus.groovy.jsr223.GroovyCompiledScript;
import org.codehaus.groovy.jsr223.GroovyScriptEngineFactory;
import org.codehaus.groovy.jsr223.GroovyScriptEngineImpl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import groovy.lang.Binding;
import groovy.lang.MissingMethodException;
import groovy.lang.MissingPropertyException;
import groovy.lang.Script;

/**
 * The Groovy script of a JSR223 element that caches it compiled. It does what JSR223TestElement#processFileOrScript does with
 * Groovy's script engine, but without the objects that the two make for each call: an engine with a class loader, closures of all
 * methods of the script, a metaclass for the object, and bindings that the script does not use.
 */
final class GroovyScript {
    /** A cache of the size that JSR223TestElement's has. */
    private static final Cache<Object, Compiled> COMPILED =
        Caffeine.newBuilder().maximumSize(JMeterUtils.getPropDefault("jsr223.compiled_scripts_cache_size", 100)).build();
    /** Only provides bindings for elements; it compiles nothing. */
    private static final ScriptEngine ENGINE = newEngine();
    private static final Field SCRIPT_CLASS = scriptClass();

    private record FileKey(String path, long lastModified) {
    }

    /** A script's class; the constructor is null if the class is no script. */
    private record Compiled(Class<?> type, Constructor<?> constructor) {
        static Compiled of(Class<?> type) throws NoSuchMethodException {
            return new Compiled(type, Script.class.isAssignableFrom(type) ? type.getConstructor(Binding.class) : null);
        }
    }

    /** How the element would get its engine. */
    interface Engines {
        ScriptEngine get() throws ScriptException;
    }

    /** How the element would run its script. */
    interface Runner {
        Object run(ScriptEngine engine, Bindings own) throws IOException, ScriptException;
    }

    private final JSR223TestElement element;
    private final Engines engines;
    private final Runner runner;
    /** The script as it was at this element's first call, whatever its variables have become since (JSR223TestElement#scriptMd5). */
    private Compiled first;
    private String loggerName;
    private Logger log;

    GroovyScript(JSR223TestElement element, Engines engines, Runner runner) {
        this.element = element;
        this.engines = engines;
        this.runner = runner;
    }

    /** Uses Groovy's own factory, since ScriptEngineManager would load the engines of all languages. */
    private static ScriptEngine newEngine() {
        return new GroovyScriptEngineFactory().getScriptEngine();
    }

    private static Field scriptClass() {
        try {
            Field field = GroovyCompiledScript.class.getDeclaredField("clasz");
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException("this Groovy has no GroovyCompiledScript.clasz", e);
        }
    }

    ScriptEngine engine() throws ScriptException {
        return isOwn() ? ENGINE : engines.get();
    }

    /** Whether the script is Groovy, and is to be cached compiled. */
    private boolean isOwn() {
        String language = element.getScriptLanguage();
        boolean isGroovy = language == null || language.isEmpty() || language.equals("groovy") || language.equals("Groovy");
        return isGroovy && !"false".equals(element.getCacheKey());
    }

    /** Whether {@link #run} can run it; otherwise JMeter runs it or reports what is wrong. */
    private boolean isReady() {
        if (!isOwn()) {
            return false;
        }
        String file = element.getFilename();
        if (file != null && !file.isEmpty()) {
            return new File(file).canRead() && new File(file).isFile();
        }
        String text = element.getScript();
        return first != null || text != null && !text.isEmpty();
    }

    /** Runs it; {@code own} are the names that only this kind of element has. */
    Object run(ScriptEngine engine, Bindings own) throws ScriptException, IOException {
        if (!isReady()) {
            ShownClasses.prepare(element.getScript());
            return runner.run(engine, own);
        }
        Compiled compiled = compiled();
        if (compiled.constructor == null) {
            return compiled.type;
        }
        try {
            String label = element.getName();
            Script script = (Script) compiled.constructor.newInstance(new Names(element, label, log(), own));
            return script.run();
        } catch (JMeterStopTestException | JMeterStopTestNowException | JMeterStopThreadException e) {
            throw e;
        } catch (MissingMethodException e) {
            boolean isOwn = e.getType() == compiled.type;
            // In this case the engine looks for methods of other scripts, and names itself in the exception.
            Class<?> type = isOwn ? GroovyScriptEngineImpl.class : ShownNames.of(e.getType());
            throw new ScriptException(type == e.getType() ? e : of(type, e));
        } catch (MissingPropertyException e) {
            Class<?> type = e.getType() == null ? null : ShownNames.of(e.getType());
            throw new ScriptException(type == e.getType() ? e : new MissingPropertyException(e.getProperty(), type));
        } catch (Exception e) {
            throw new ScriptException(e);
        }
    }

    /** The same exception for another class: its message suggests methods of that class. */
    private static MissingMethodException of(Class<?> type, MissingMethodException e) {
        MissingMethodException other = new MissingMethodException(e.getMethod(), type, e.getArguments(), e.isStatic());
        other.setStackTrace(e.getStackTrace());
        return other;
    }

    private Compiled compiled() throws ScriptException {
        String name = element.getFilename();
        if (name != null && !name.isEmpty()) {
            File file = new File(name);
            return compiled(new FileKey(file.getAbsolutePath(), file.lastModified()), file);
        }
        if (first == null) {
            first = compiled(element.getScript(), null);
        }
        return first;
    }

    /** The compiled script of a file, or of the text in the key if {@code file} is null. */
    private static Compiled compiled(Object key, File file) throws ScriptException {
        Compiled known = COMPILED.getIfPresent(key);
        if (known != null) {
            return known;
        }
        synchronized (COMPILED) {
            known = COMPILED.getIfPresent(key);
            if (known == null) {
                known = compile(file == null ? (String) key : read(file));
                COMPILED.put(key, known);
            }
            return known;
        }
    }

    /** The text of a script file; what Groovy throws if it cannot be read. */
    private static String read(File file) throws ScriptException {
        try (Reader text = Files.newBufferedReader(file.toPath(), StandardCharsets.UTF_8)) {
            StringWriter all = new StringWriter();
            text.transferTo(all);
            return all.toString();
        } catch (IOException e) {
            throw new ScriptException(e);
        }
    }

    /** With an engine of its own, so that no script sees the classes of another. */
    private static Compiled compile(String text) throws ScriptException {
        ShownClasses.prepare(text);
        CompiledScript script = ((Compilable) newEngine()).compile(text);
        try {
            return Compiled.of((Class<?>) SCRIPT_CLASS.get(script));
        } catch (ReflectiveOperationException e) {
            throw new ScriptException(e);
        }
    }

    private Logger log() {
        String name = element.getName(); // evaluated again, as in JMeter: a function in it counts both times
        if (!name.equals(loggerName)) {
            loggerName = name;
            log = LoggerFactory.getLogger(element.getClass().getSuperclass().getName() + '.' + name);
        }
        return log;
    }
}
