package dev.drumfire.jvm;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

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
    /** What the engine puts before the number of a text that it evaluates. */
    private static final char TEMPLATE = '\uE0D7';

    private static final List<TestElement> ELEMENTS = new ArrayList<>();
    /** For each element the numbers of those that are merged into it, the nearest first. */
    private static final List<int[]> CONFIGS = new ArrayList<>();
    private static final BitSet START_THREADS = new BitSet();
    private static final BitSet FIXED_SCRIPTS = new BitSet();

    private Plan() {
    }

    static synchronized void clear() {
        ELEMENTS.clear();
        CONFIGS.clear();
        START_THREADS.clear();
        FIXED_SCRIPTS.clear();
    }

    /** Adds the next element; gives what it listens to, as {@link Lifecycle} numbers it. */
    static synchronized int add(byte[] element, boolean isXml, int[] configs) throws Exception {
        return add(isXml ? Elements.readXml(element) : Elements.read(element), configs);
    }

    private static int add(TestElement written, int[] configs) {
        TestElement element = Scripts.replaced(written);
        boolean isFixed = !replaceTemplates(element);
        START_THREADS.set(ELEMENTS.size(), Threads.areStartedBy(element));
        // Samplers are none: scripts get them in hands, and may change them.
        FIXED_SCRIPTS.set(ELEMENTS.size(), isFixed && element instanceof JSR223TestElement && !(element instanceof Sampler));
        ELEMENTS.add(element);
        CONFIGS.add(configs);
        return Lifecycle.listensTo(element);
    }

    /** An element that Java does not run, for scripts that look at it. */
    static TestElement shown(byte[] element) {
        try {
            TestElement shown = Elements.read(element);
            replaceTemplates(shown);
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

    /** Gives whether there were any. */
    private static boolean replaceTemplates(TestElement element) {
        List<JMeterProperty> changed = new ArrayList<>();
        boolean isAny = false;
        PropertyIterator properties = element.propertyIterator();
        while (properties.hasNext()) {
            JMeterProperty property = properties.next();
            TemplateProperty template = template(property);
            if (template != null) {
                changed.add(template);
            } else {
                isAny |= replaceWithin(property);
            }
        }
        for (JMeterProperty template : changed) {
            element.setProperty(template);
        }
        return isAny || !changed.isEmpty();
    }

    /** What takes the property's place; null if it stays. */
    private static TemplateProperty template(JMeterProperty property) {
        if (property instanceof StringProperty) {
            String text = property.getStringValue();
            if (text.length() > 1 && text.charAt(0) == TEMPLATE) {
                return new TemplateProperty(property.getName(), Integer.parseInt(text.substring(1)));
            }
        }
        return null;
    }

    private static boolean replaceWithin(JMeterProperty property) {
        boolean isAny = false;
        if (property instanceof TestElementProperty nested) {
            isAny = replaceTemplates(nested.getElement());
        } else if (property instanceof CollectionProperty list) {
            for (int i = 0; i < list.size(); i++) {
                TemplateProperty template = template(list.get(i));
                if (template != null) {
                    list.set(i, template);
                }
                isAny |= template != null || replaceWithin(list.get(i));
            }
        } else if (property instanceof MapProperty map) {
            List<JMeterProperty> items = new ArrayList<>();
            map.valueIterator().forEachRemaining(items::add);
            for (JMeterProperty item : items) {
                TemplateProperty template = template(item);
                if (template != null) {
                    map.addProperty(template);
                }
                isAny |= template != null || replaceWithin(item);
            }
        }
        return isAny;
    }

    static TestElement original(int id) {
        return ELEMENTS.get(id);
    }

    /** A user's own copy (TreeCloner); elements that ask not to be copied are shared. */
    static TestElement copy(int id) {
        TestElement element = original(id);
        if (!(element instanceof NoThreadClone)) {
            element = (TestElement) element.clone();
        }
        element.setRunningVersion(true);
        return element;
    }
}
