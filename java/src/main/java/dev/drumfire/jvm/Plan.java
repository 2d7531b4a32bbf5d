package dev.drumfire.jvm;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

import org.apache.jmeter.engine.util.NoThreadClone;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.save.SaveService;
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
    static synchronized int add(byte[] xml, int[] configs) throws Exception {
        Object loaded = SaveService.loadElement(new ByteArrayInputStream(xml));
        if (!(loaded instanceof TestElement written)) {
            throw new IllegalArgumentException("not a test element: " + new String(xml, StandardCharsets.UTF_8));
        }
        TestElement element = Scripts.replaced(written);
        replaceTemplates(element);
        START_THREADS.set(ELEMENTS.size(), Threads.areStartedBy(element));
        FIXED_SCRIPTS.set(ELEMENTS.size(), isFixedScript(element, xml));
        ELEMENTS.add(element);
        CONFIGS.add(configs);
        return Lifecycle.listensTo(element);
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

    /** Samplers are none: scripts get them in hands, and may change them. */
    private static boolean isFixedScript(TestElement element, byte[] xml) {
        return element instanceof JSR223TestElement && !(element instanceof Sampler) && new String(xml, StandardCharsets.UTF_8).indexOf(TEMPLATE) < 0;
    }

    static int[] configs(int id) {
        return CONFIGS.get(id);
    }

    private static void replaceTemplates(TestElement element) {
        List<JMeterProperty> changed = new ArrayList<>();
        PropertyIterator properties = element.propertyIterator();
        while (properties.hasNext()) {
            JMeterProperty property = properties.next();
            JMeterProperty replaced = replaced(property);
            if (replaced != property) {
                changed.add(replaced);
            }
        }
        changed.forEach(element::setProperty);
    }

    private static JMeterProperty replaced(JMeterProperty property) {
        if (property instanceof StringProperty) {
            String text = property.getStringValue();
            if (text.length() > 1 && text.charAt(0) == TEMPLATE) {
                return new TemplateProperty(property.getName(), Integer.parseInt(text.substring(1)));
            }
        } else if (property instanceof TestElementProperty nested) {
            replaceTemplates(nested.getElement());
        } else if (property instanceof CollectionProperty list) {
            for (int i = 0; i < list.size(); i++) {
                JMeterProperty item = replaced(list.get(i));
                if (item != list.get(i)) {
                    list.set(i, item);
                }
            }
        } else if (property instanceof MapProperty map) {
            List<JMeterProperty> items = new ArrayList<>();
            map.valueIterator().forEachRemaining(items::add);
            for (JMeterProperty item : items) {
                JMeterProperty replaced = replaced(item);
                if (replaced != item) {
                    map.addProperty(replaced);
                }
            }
        }
        return property;
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
