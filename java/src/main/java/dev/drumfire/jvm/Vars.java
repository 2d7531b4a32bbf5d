package dev.drumfire.jvm;

import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterVariables;

/**
 * One user's variables. Texts live in the engine; objects that are no texts stay here, and the engine holds a text in their
 * place. When the engine's text has changed, something outside Java has replaced the object.
 */
final class Vars extends JMeterVariables {
    /** An object, and what the engine holds for it. */
    private static final class Held {
        final Object object;
        String text;
        /** A script has had it in hands since its text was taken. */
        boolean isTouched;

        Held(Object object, String text) {
            this.object = object;
            this.text = text;
        }
    }

    /** Made with the first object. */
    private Map<String, Held> objects;

    /** What threads that scripts have started see: the variables as they were when the last such script ended. */
    private volatile Map<String, Object> shared;
    /** What such threads have set since; a value of this object removes the variable. */
    private final Map<String, Object> pending = new ConcurrentHashMap<>();
    private static final Object REMOVED = new Object();

    /** Takes over another's objects, whose texts the engine has given to this one, too. */
    void inherit(Vars other) {
        if (other.objects != null) {
            objects = new HashMap<>();
            other.objects.forEach((name, held) -> objects.put(name, new Held(held.object, held.text)));
        }
    }

    /** Lets threads other than the user's see the variables as they are now. */
    void share() {
        takePending();
        Map<String, Object> now = new ConcurrentHashMap<>();
        entrySet().forEach(entry -> {
            if (entry.getValue() != null) {
                now.put(entry.getKey(), entry.getValue());
            }
        });
        shared = now;
    }

    /** Sets what other threads have set. */
    void takePending() {
        if (shared == null || pending.isEmpty()) {
            return;
        }
        for (String name : pending.keySet()) {
            Object value = pending.remove(name);
            if (value == REMOVED) {
                remove(name);
            } else {
                putObject(name, value);
            }
        }
    }

    /** Whether a thread asks that is not in a call of this user. */
    private boolean isElsewhere() {
        return shared != null && JMeterContextService.getContext().getVariables() != this;
    }

    private void putElsewhere(String key, Object value) {
        if (value == null) {
            shared.remove(key);
        } else {
            shared.put(key, value);
        }
        pending.put(key, value == null ? REMOVED : value);
    }

    @Override
    public int getIteration() {
        return isElsewhere() ? 0 : Natives.iteration();
    }

    @Override
    public void incIteration() {
        // The engine counts.
    }

    @Override
    public Object remove(String key) {
        Object before = getObject(key);
        if (isElsewhere()) {
            putElsewhere(key, null);
            return before;
        }
        if (objects != null) {
            objects.remove(key);
        }
        Natives.removeVariable(key);
        return before;
    }

    @Override
    public void put(String key, String value) {
        if (isElsewhere()) {
            putElsewhere(key, value);
            return;
        }
        if (objects != null) {
            objects.remove(key);
        }
        Natives.setVariable(key, value);
    }

    @Override
    public void putObject(String key, Object value) {
        if (value == null || value instanceof String) {
            put(key, (String) value);
            return;
        }
        if (isElsewhere()) {
            putElsewhere(key, value);
            return;
        }
        if (objects == null) {
            objects = new HashMap<>();
        }
        // Where the plan spells the name out it may want the text; elsewhere the text of a large object would be made in vain.
        boolean isRead = Natives.isSpelledOut(key);
        String text = isRead ? String.valueOf(value) : value.getClass().getName() + '@' + Integer.toHexString(System.identityHashCode(value));
        Held held = new Held(value, text);
        held.isTouched = isRead;
        objects.put(key, held);
        Natives.setVariable(key, text);
    }

    @Override
    public void putAll(Map<String, ?> vars) {
        vars.forEach(this::putObject);
    }

    @Override
    public void putAll(JMeterVariables vars) {
        vars.entrySet().forEach(entry -> putObject(entry.getKey(), entry.getValue()));
    }

    @Override
    public String get(String key) {
        if (objects == null && shared == null) {
            return Natives.variable(key);
        }
        Object object = getObject(key);
        return object == null ? null : object.toString();
    }

    @Override
    public Object getObject(String key) {
        if (isElsewhere()) {
            return shared.get(key);
        }
        String text = Natives.variable(key);
        return objects == null ? text : current(key, text);
    }

    /** The object of that name if nothing has replaced it, else the engine's text. */
    private Object current(String key, String text) {
        Held held = objects.get(key);
        if (held == null) {
            return text;
        }
        if (!held.text.equals(text)) {
            objects.remove(key);
            return text;
        }
        held.isTouched = true;
        return held.object;
    }

    /** At the end of a call: texts of objects that may have changed. */
    void settle() {
        if (objects == null) {
            return;
        }
        objects.forEach((key, held) -> {
            if (held.isTouched && Natives.isSpelledOut(key) && held.text.equals(Natives.variable(key))) {
                String text = String.valueOf(held.object);
                if (!text.equals(held.text)) {
                    held.text = text;
                    Natives.setVariable(key, text);
                }
            }
            held.isTouched = false;
        });
    }

    @Override
    public Iterator<Map.Entry<String, Object>> getIterator() {
        return entrySet().iterator();
    }

    @Override
    public Set<Map.Entry<String, Object>> entrySet() {
        if (isElsewhere()) {
            return Collections.unmodifiableMap(shared).entrySet();
        }
        String[] all = Natives.variables();
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < all.length; i += 2) {
            map.put(all[i], objects == null ? all[i + 1] : current(all[i], all[i + 1]));
        }
        return Collections.unmodifiableMap(map).entrySet();
    }

    @Override
    public boolean isSameUserOnNextIteration() {
        return Boolean.parseBoolean(get("__jmv_SAME_USER"));
    }
}
