package dev.drumfire.jvm;

import java.io.PrintWriter;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import javax.script.Bindings;
import javax.script.ScriptContext;
import javax.script.SimpleBindings;
import javax.script.SimpleScriptContext;

import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jmeter.util.JSR223TestElement;
import org.apache.jorphan.util.JOrphanUtils;
import org.slf4j.Logger;

import groovy.lang.Binding;
import groovy.lang.MissingPropertyException;

/**
 * The names that JSR223TestElement#populateBindings gives to a script. The object behind a name is created on first use, because
 * most scripts use two of them, and the previous result alone costs more than most scripts do.
 */
final class Names extends Binding {
    private static final Set<String> PROVIDED = Set.of("log", "Label", "FileName", "Parameters", "args", "ctx", "vars", "props", "OUT", "sampler", "prev");

    private final JSR223TestElement element;
    private final String label;
    private final Logger log;
    /** The user's context, whichever thread uses a name: scripts start threads. */
    private final JMeterContext context = JMeterContextService.getContext();
    /** Names that the element or the script has set, and those that the script has used. */
    private final Map<String, Object> known;
    private boolean isWhole;
    private PrintWriter out;
    private ScriptContext scriptContext;

    Names(JSR223TestElement element, String label, Logger log, Map<String, Object> own) {
        super(Map.of());
        this.element = element;
        this.label = label;
        this.log = log;
        known = own == null ? new HashMap<>() : own;
    }

    private Object make(String name) {
        return switch (name) {
            case "log" -> log;
            case "Label" -> label;
            case "FileName" -> element.getFilename();
            case "Parameters" -> element.getParameters();
            case "args" -> JOrphanUtils.split(element.getParameters(), " ");
            case "ctx" -> context;
            case "vars" -> context.getVariables();
            case "props" -> JMeterUtils.getJMeterProperties();
            case "OUT" -> System.out;
            case "sampler" -> context.getCurrentSampler();
            default -> context.getPreviousResult();
        };
    }

    @Override
    public Object getVariable(String name) {
        Object value = known.get(name);
        if (value != null || known.containsKey(name)) {
            return value;
        }
        if (!isWhole && PROVIDED.contains(name)) {
            value = make(name);
            known.put(name, value);
            return value;
        }
        // As in GroovyScriptEngineImpl: these exist, but no list shows them.
        if (name.equals("out")) {
            if (out == null) {
                out = new PrintWriter(System.out, true);
            }
            return out;
        }
        if (name.equals("context")) {
            return scriptContext();
        }
        throw new MissingPropertyException(name, getClass());
    }

    private ScriptContext scriptContext() {
        if (scriptContext == null) {
            scriptContext = new SimpleScriptContext();
            Bindings bindings = new SimpleBindings(getVariables());
            scriptContext.setBindings(bindings, ScriptContext.ENGINE_SCOPE);
        }
        return scriptContext;
    }

    @Override
    public void setVariable(String name, Object value) {
        known.put(name, value);
    }

    @Override
    public void removeVariable(String name) {
        getVariables().remove(name);
    }

    @Override
    public boolean hasVariable(String name) {
        return known.containsKey(name) || !isWhole && PROVIDED.contains(name);
    }

    @Override
    public Map<String, Object> getVariables() {
        if (!isWhole) {
            for (String name : PROVIDED) {
                if (!known.containsKey(name)) {
                    known.put(name, make(name));
                }
            }
            isWhole = true;
        }
        return known;
    }
}
