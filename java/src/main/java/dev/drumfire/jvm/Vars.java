package dev.drumfire.jvm;

import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.apache.jmeter.threads.JMeterVariables;

/**
 * One user's variables. The engine stores texts. Objects that are no texts stay here, and the engine stores a text in their
 * place. When the engine's text has changed, something outside Java has replaced the object.
 */
final class Vars extends JMeterVariables {
    /** The variable that receives the result of a script in a function. The engine stores the result itself. */
    static final String RESULT = "script\0result";

    private boolean hasResult;

    /** By how much scripts have increased the iteration. */
    private int ahead;

    /** An object, and the text that the engine stores for it. */
    private static final class Held {
        final Object object;
        String text;
        /** Whether a script has had access to it since its text was taken. */
        boolean isTouched;

        Held(Object object, String text) {
            this.object = object;
            this.text = text;
        }
    }

    private final User user;
    /** Created with the first object. */
    private volatile Map<String, Held> objects;

    /**
     * The variables for threads outside of the user's calls, which see them while no call runs: a snapshot of the end of the
     * last call, with what such threads have set since.
     */
    private volatile Map<String, Object> shared;
    /** Values that such threads have set since; {@link #REMOVED} removes the variable. */
    private final Map<String, Object> pending = new ConcurrentHashMap<>();
    private static final Object REMOVED = new Object();

    Vars(User user) {
        this.user = user;
    }

    /** Takes over another's objects, whose texts the engine has given to this one, too. */
    void inherit(Vars other) {
        if (other.objects != null) {
            objects = new ConcurrentHashMap<>();
            other.objects.forEach((name, held) -> objects.put(name, new Held(held.object, held.text)));
        }
    }

    /** Lets threads other than the user's see the variables as they are now, after the call has ended. */
    void share() {
        Map<String, Object> now = new ConcurrentHashMap<>();
        entrySet().forEach(entry -> {
            if (entry.getValue() != null) {
                now.put(entry.getKey(), entry.getValue());
            }
        });
        shared = now;
    }

    /** Applies the changes of other threads. */
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

    /** Sets a variable while no call is running. */
    private void putBetween(String key, Object value) {
        if (value != null) {
            between().put(key, value);
        } else {
            between().remove(key);
        }
        pending.put(key, value == null ? REMOVED : value);
    }

    private synchronized Map<String, Object> between() {
        if (shared == null) {
            shared = new ConcurrentHashMap<>();
        }
        return shared;
    }

    /** Runs {@code engine} if a call is running, and {@code between} if not. */
    private <T> T at(Supplier<T> engine, Supplier<T> between) {
        if (user.isHere()) {
            return engine.get();
        }
        Supplier<T> nowhere = () -> null;
        Supplier<T> done = user.reach(() -> {
            T value = engine.get();
            return () -> value;
        }, nowhere);
        return done == nowhere ? between.get() : done.get();
    }

    @Override
    public int getIteration() {
        return at(Natives::iteration, () -> 0) + ahead;
    }

    @Override
    public void incIteration() {
        ahead++; // the engine counts by itself
    }

    @Override
    public Object remove(String key) {
        Object before = getObject(key);
        set(key, null, () -> {
            if (objects != null) {
                objects.remove(key);
            }
            Natives.removeVariable(key);
        });
        return before;
    }

    @Override
    public void put(String key, String value) {
        if (RESULT.equals(key)) {
            hasResult = true;
            return;
        }
        set(key, value, () -> {
            if (objects != null) {
                objects.remove(key);
            }
            Natives.setVariable(key, value);
        });
    }

    @Override
    public void putObject(String key, Object value) {
        if (value == null || value instanceof String) {
            put(key, (String) value);
        } else {
            set(key, value, () -> hold(key, value));
        }
    }

    /** Whether a function has stored its result since the last call, as JMeter's functions do unless their script fails. */
    boolean takeHasResult() {
        boolean had = hasResult;
        hasResult = false;
        return had;
    }

    private void set(String key, Object value, Runnable inEngine) {
        if (user.isHere()) {
            inEngine.run();
            return;
        }
        at(() -> {
            inEngine.run();
            // The call may end before this is seen.
            if (shared != null && value != null) {
                shared.put(key, value);
            }
            return true;
        }, () -> {
            putBetween(key, value);
            return true;
        });
    }

    private synchronized void hold(String key, Object value) {
        if (objects == null) {
            objects = new ConcurrentHashMap<>();
        }
        // If the name is literally in the plan, the text may be needed; otherwise making it for a large object is a waste.
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
        if (objects == null && user.isHere()) {
            return Natives.variable(key);
        }
        Object object = getObject(key);
        return object == null ? null : object.toString();
    }

    @Override
    public Object getObject(String key) {
        return at(() -> live(key), () -> between().get(key));
    }

    private Object live(String key) {
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

    /** At the end of a call, updates the texts of objects that may have changed. */
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
        return at(this::all, () -> Collections.unmodifiableMap(between()).entrySet());
    }

    private Set<Map.Entry<String, Object>> all() {
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
