package dev.drumfire.jvm;

import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;

/** JMeter's properties. The engine stores texts, which all users share; objects that are no texts stay in the table here. */
final class Props extends Properties {
    private static final long serialVersionUID = 1L;

    Props(Properties defaults) {
        super(defaults);
    }

    @Override
    public String getProperty(String key) {
        String value = Natives.property(key);
        return value == null && defaults != null ? defaults.getProperty(key) : value;
    }

    @Override
    public String getProperty(String key, String other) {
        String value = getProperty(key);
        return value == null ? other : value;
    }

    @Override
    public synchronized Object get(Object key) {
        Object object = super.get(key);
        return object == null && key instanceof String name ? Natives.property(name) : object;
    }

    @Override
    public Object getOrDefault(Object key, Object other) {
        Object value = get(key);
        return value == null ? other : value;
    }

    @Override
    public synchronized Object put(Object key, Object value) {
        Object before = get(key);
        if (key instanceof String name && value instanceof String text) {
            super.remove(key);
            Natives.setProperty(name, text);
        } else {
            super.put(key, value);
            if (key instanceof String name) {
                Natives.setProperty(name, null);
            }
        }
        return before;
    }

    @Override
    public synchronized Object setProperty(String key, String value) {
        return put(key, value);
    }

    @Override
    public synchronized void putAll(Map<?, ?> all) {
        all.forEach(this::put);
    }

    @Override
    public synchronized Object putIfAbsent(Object key, Object value) {
        Object before = get(key);
        return before == null ? put(key, value) : before;
    }

    @Override
    public synchronized Object computeIfAbsent(Object key, Function<? super Object, ?> make) {
        Object value = get(key);
        if (value == null) {
            value = make.apply(key);
            if (value != null) {
                put(key, value);
            }
        }
        return value;
    }

    @Override
    public synchronized Object compute(Object key, BiFunction<? super Object, ? super Object, ?> make) {
        Object value = make.apply(key, get(key));
        if (value == null) {
            remove(key);
        } else {
            put(key, value);
        }
        return value;
    }

    @Override
    public synchronized Object merge(Object key, Object value, BiFunction<? super Object, ? super Object, ?> join) {
        Object before = get(key);
        Object after = before == null ? value : join.apply(before, value);
        if (after == null) {
            remove(key);
        } else {
            put(key, after);
        }
        return after;
    }

    @Override
    public synchronized Object remove(Object key) {
        Object before = get(key);
        super.remove(key);
        if (key instanceof String name) {
            Natives.setProperty(name, null);
        }
        return before;
    }

    @Override
    public boolean containsKey(Object key) {
        return get(key) != null;
    }

    /** All of them as they are now. */
    private synchronized Map<Object, Object> snapshot() {
        Map<Object, Object> all = new LinkedHashMap<>();
        String[] texts = Natives.properties();
        for (int i = 0; i < texts.length; i += 2) {
            all.put(texts[i], texts[i + 1]);
        }
        super.forEach(all::put);
        return all;
    }

    @Override
    public Set<Map.Entry<Object, Object>> entrySet() {
        return Collections.unmodifiableMap(snapshot()).entrySet();
    }

    @Override
    public Set<Object> keySet() {
        return Collections.unmodifiableMap(snapshot()).keySet();
    }

    @Override
    public Collection<Object> values() {
        return Collections.unmodifiableMap(snapshot()).values();
    }

    @Override
    public void forEach(BiConsumer<? super Object, ? super Object> action) {
        snapshot().forEach(action);
    }

    @Override
    public Set<String> stringPropertyNames() {
        Map<String, String> names = new LinkedHashMap<>();
        snapshot().forEach((key, value) -> {
            if (key instanceof String name && value instanceof String text) {
                names.put(name, text);
            }
        });
        return Collections.unmodifiableSet(names.keySet());
    }

    @Override
    public Enumeration<?> propertyNames() {
        return keys();
    }

    @Override
    public Enumeration<Object> keys() {
        return Collections.enumeration(keySet());
    }

    @Override
    public Enumeration<Object> elements() {
        return Collections.enumeration(values());
    }

    @Override
    public int size() {
        return snapshot().size();
    }

    @Override
    public boolean isEmpty() {
        return size() == 0;
    }

    @Override
    public String toString() {
        return snapshot().toString();
    }
}
