package dev.drumfire.jvm;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

import org.apache.jmeter.engine.util.NoThreadClone;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.CollectionProperty;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.MapProperty;
import org.apache.jmeter.testelement.property.PropertyIterator;
import org.apache.jmeter.testelement.property.StringProperty;
import org.apache.jmeter.testelement.property.TestElementProperty;
import org.apache.jmeter.util.JSR223TestElement;

/** The elements of the plan that Java runs, as the file has them. */
final class Plan {
    /** The mark that the engine puts before the number of a text that it evaluates. */
    private static final char TEMPLATE = '\uE0D7';

    private static final List<TestElement> ELEMENTS = new ArrayList<>();
    /** For each element the numbers of those that are merged into it, the nearest first. */
    private static final List<int[]> CONFIGS = new ArrayList<>();
    /** Elements that were settled, as they were before. */
    private static final Map<Integer, TestElement> AS_WRITTEN = new ConcurrentHashMap<>();
    private static final BitSet START_THREADS = new BitSet();
    private static final BitSet FIXED_SCRIPTS = new BitSet();

    private Plan() {
    }

    static synchronized void clear() {
        ELEMENTS.clear();
        CONFIGS.clear();
        START_THREADS.clear();
        FIXED_SCRIPTS.clear();
        AS_WRITTEN.clear();
    }

    /** Adds the next element; returns what it listens to, as {@link Lifecycle} numbers it. */
    static synchronized int add(byte[] element, boolean isXml, int[] configs) throws Exception {
        return add(isXml ? Elements.readXml(element) : Elements.read(element), configs);
    }

    private static int add(TestElement written, int[] configs) {
        TestElement element = Scripts.replaced(written);
        boolean isFixed = !replace(element, Plan::template);
        START_THREADS.set(ELEMENTS.size(), Threads.areStartedBy(element));
        // Samplers are never fixed: scripts can access and change them.
        FIXED_SCRIPTS.set(ELEMENTS.size(), isFixed && element instanceof JSR223TestElement && !(element instanceof Sampler));
        ELEMENTS.add(element);
        CONFIGS.add(configs);
        return Lifecycle.listensTo(element);
    }

    /** An element that Java does not run, for scripts that read it. */
    static TestElement shown(byte[] element) {
        try {
            TestElement shown = Elements.read(element);
            replace(shown, Plan::template);
            return shown;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static int size() {
        return ELEMENTS.size();
    }

    /** Whether the element is a script that may start threads. */
    static boolean startsThreads(int id) {
        return START_THREADS.get(id);
    }

    /** Whether the element is a script with the same texts at each call. */
    static boolean isFixedScript(int id) {
        return FIXED_SCRIPTS.get(id);
    }

    static int[] configs(int id) {
        return CONFIGS.get(id);
    }

    /** Fixes the current values of an element's texts in its own object, for any thread. Users still get copies of the plan's. */
    static void settle(int id) {
        TestElement element = original(id);
        AS_WRITTEN.put(id, (TestElement) element.clone());
        element.setRunningVersion(false);
        replace(element, Plan::settled);
        element.setRunningVersion(true);
    }

    private static JMeterProperty settled(JMeterProperty property) {
        return property instanceof TemplateProperty ? new StringProperty(property.getName(), property.getStringValue()) : null;
    }

    /** Replaces properties at any depth; returns whether any were replaced. */
    private static boolean replace(TestElement element, UnaryOperator<JMeterProperty> other) {
        List<JMeterProperty> changed = new ArrayList<>();
        boolean isAny = false;
        PropertyIterator properties = element.propertyIterator();
        while (properties.hasNext()) {
            JMeterProperty property = properties.next();
            JMeterProperty replacement = other.apply(property);
            if (replacement != null) {
                changed.add(replacement);
            } else {
                isAny |= replaceWithin(property, other);
            }
        }
        for (JMeterProperty replacement : changed) {
            element.setProperty(replacement);
        }
        return isAny || !changed.isEmpty();
    }

    /** The template that replaces the property; null if the property stays. */
    private static JMeterProperty template(JMeterProperty property) {
        if (property instanceof StringProperty) {
            String text = property.getStringValue();
            if (text.length() > 1 && text.charAt(0) == TEMPLATE) {
                return new TemplateProperty(property.getName(), Integer.parseInt(text.substring(1)));
            }
        }
        return null;
    }

    private static boolean replaceWithin(JMeterProperty property, UnaryOperator<JMeterProperty> other) {
        boolean isAny = false;
        if (property instanceof TestElementProperty nested) {
            isAny = replace(nested.getElement(), other);
        } else if (property instanceof CollectionProperty list) {
            for (int i = 0; i < list.size(); i++) {
                JMeterProperty replacement = other.apply(list.get(i));
                if (replacement != null) {
                    list.set(i, replacement);
                }
                isAny |= replacement != null || replaceWithin(list.get(i), other);
            }
        } else if (property instanceof MapProperty map) {
            List<JMeterProperty> items = new ArrayList<>();
            map.valueIterator().forEachRemaining(items::add);
            for (JMeterProperty item : items) {
                JMeterProperty replacement = other.apply(item);
                if (replacement != null) {
                    map.addProperty(replacement);
                }
                isAny |= replacement != null || replaceWithin(item, other);
            }
        }
        return isAny;
    }

    static TestElement original(int id) {
        return ELEMENTS.get(id);
    }

    /** A user's own copy (TreeCloner); elements that ask not to be copied are shared. */
    static TestElement copy(int id) {
        TestElement element = AS_WRITTEN.getOrDefault(id, original(id));
        if (!(element instanceof NoThreadClone)) {
            element = (TestElement) element.clone();
        }
        element.setRunningVersion(true);
        return element;
    }
}
