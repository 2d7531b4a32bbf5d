package dev.drumfire.forms;

import java.awt.Component;
import java.awt.Container;
import java.beans.BeanInfo;
import java.beans.Introspector;
import java.beans.PropertyDescriptor;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import javax.swing.AbstractButton;
import javax.swing.DefaultButtonModel;
import javax.swing.JButton;
import javax.swing.JComboBox;
import javax.swing.JLabel;
import javax.swing.JPasswordField;
import javax.swing.JRadioButton;
import javax.swing.JTable;
import javax.swing.JToggleButton;
import javax.swing.text.JTextComponent;
import org.apache.jmeter.gui.JMeterGUIComponent;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.testbeans.TestBean;
import org.apache.jmeter.testbeans.gui.TestBeanGUI;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.CollectionProperty;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.MapProperty;
import org.apache.jmeter.testelement.property.ObjectProperty;
import org.apache.jmeter.testelement.property.PropertyIterator;
import org.apache.jmeter.testelement.property.TestElementProperty;
import org.apache.jmeter.util.JMeterUtils;

/**
 * Prints the inputs of the forms in some jars, and the properties that each writes; its arguments are JMeter's home and the jars. It
 * runs in a process of its own: of `cargo xtask forms`, or of the plan editor for jars of the user.
 *
 * Makes each panel without a screen, changes one input at a time, and compares the element that the panel writes before and after.
 * One line per fact in the order of the panel, fields divided by tabs:
 *
 * <pre>
 * form    GUI class     element class   name      menu
 * new     property      kind            value     a property of a new element
 * absent  property                      value     the schema's value for a missing property
 * input   property      input           label     an input and the property that it writes
 * kind    property      kind                      how the property is saved that a changed input writes
 * choice  property      value           label     a radio button or an item of a list
 * </pre>
 */
public final class Forms {
    private static final String PROBE = "4711";
    private final Set<String> lines = new LinkedHashSet<>();
    private JMeterGUIComponent gui;

    private Forms() {
    }

    public static void main(String[] arguments) throws Exception {
        System.setProperty("java.awt.headless", "true");
        String home = arguments[0];
        JMeterUtils.setJMeterHome(home);
        // A JMeter that Drumfire assembled has jars only.
        File properties = new File(home, "bin/jmeter.properties");
        if (properties.isFile()) {
            JMeterUtils.loadJMeterProperties(properties.getPath());
        }
        JMeterUtils.setLocale(Locale.ENGLISH);
        SaveService.loadProperties();
        List<String> forms = new ArrayList<>();
        for (Class<?> type : types(Arrays.asList(arguments).subList(1, arguments.length))) {
            try {
                String form = new Forms().form(type);
                if (form != null) {
                    forms.add(form);
                }
            } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
                System.err.println("no form of " + type.getName() + ": " + e);
            }
        }
        Collections.sort(forms);
        forms.forEach(System.out::print);
        System.exit(0);
    }

    /** The panels and beans of jars. */
    private static List<Class<?>> types(List<String> jars) throws IOException {
        List<Class<?>> found = new ArrayList<>();
        for (String jar : jars) {
            try (JarFile entries = new JarFile(jar)) {
                for (JarEntry entry : Collections.list(entries.entries())) {
                    String name = entry.getName();
                    if (!name.endsWith(".class") || name.contains("$") || name.contains("module-info")) {
                        continue;
                    }
                    try {
                        Class<?> type = Class.forName(name.replace('/', '.').substring(0, name.length() - 6), false,
                                Forms.class.getClassLoader());
                        boolean isForm = JMeterGUIComponent.class.isAssignableFrom(type) || TestBean.class.isAssignableFrom(type);
                        if (isForm && !type.isInterface() && !Modifier.isAbstract(type.getModifiers()) && type != TestBeanGUI.class) {
                            found.add(type);
                        }
                    } catch (ClassNotFoundException | LinkageError e) {
                        // It needs a class that is not installed.
                    }
                }
            }
        }
        return found;
    }

    private String form(Class<?> type) throws ReflectiveOperationException {
        boolean isBean = !JMeterGUIComponent.class.isAssignableFrom(type);
        if (isBean) {
            gui = new TestBeanGUI(type);
        } else {
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            gui = (JMeterGUIComponent) constructor.newInstance();
        }
        // As JMeter's window does when it adds an element.
        gui.clearGui();
        TestElement element = gui.createTestElement();
        if (element == null) {
            return null;
        }
        gui.configure(element);
        if (isBean) {
            bean(type);
        }
        Map<String, String> fresh = isBean ? texts(element) : read();
        fresh.forEach((name, value) -> {
            if (!isCommon(name)) {
                lines.add("new\t" + name + "\t" + value);
            }
        });
        schema(element);
        if (!isBean && gui instanceof Container) {
            probe((Container) gui);
        }
        Collection<String> menus = gui.getMenuCategories();
        String head = String.join("\t", "form", alias(isBean ? TestBeanGUI.class : type), alias(element.getClass()), gui.getStaticLabel(),
                menus == null ? "" : String.join(" ", new TreeSet<>(menus)));
        StringBuilder text = new StringBuilder(head).append('\n');
        lines.forEach(line -> text.append(line).append('\n'));
        return text.toString();
    }

    /** Whether every element has the property. */
    private static boolean isCommon(String name) {
        return name.startsWith("TestElement.") || name.equals("TestPlan.comments");
    }

    private static String alias(Class<?> type) {
        String alias = SaveService.classToAlias(type.getName());
        return alias == null ? type.getName() : alias;
    }

    private void bean(Class<?> type) throws ReflectiveOperationException {
        BeanInfo info;
        try {
            info = Introspector.getBeanInfo(type);
        } catch (java.beans.IntrospectionException e) {
            throw new ReflectiveOperationException(e);
        }
        for (PropertyDescriptor property : info.getPropertyDescriptors()) {
            if (property.isHidden() || property.getReadMethod() == null || property.getWriteMethod() == null) {
                continue;
            }
            lines.add("input\t" + property.getName() + "\t" + property.getPropertyType().getSimpleName() + "\t" + one(property.getDisplayName()));
            Object tags = property.getValue("tags");
            if (tags instanceof Object[]) {
                Arrays.stream((Object[]) tags).forEach(tag -> lines.add("choice\t" + property.getName() + "\t" + tag + "\t"));
            }
        }
    }

    /** The values that the element's schema gives to missing properties. */
    private void schema(TestElement element) {
        element.getSchema().getProperties().forEach((key, property) -> {
            Object value = property.getDefaultValue();
            if (value != null && !isCommon(property.getName())) {
                lines.add("absent\t" + property.getName() + "\t" + one(property.getDefaultValueAsString()));
            }
        });
    }

    /** Changes each input of a panel and notes the properties that change with it. */
    private void probe(Container panel) {
        List<Component> inputs = new ArrayList<>();
        Map<Component, String> labels = new HashMap<>();
        walk(panel, inputs, labels, "");
        for (Component input : inputs) {
            String label = one(labels.get(input));
            try {
                if (input instanceof JTextComponent) {
                    text((JTextComponent) input, label);
                } else if (input instanceof JRadioButton) {
                    radio((JRadioButton) input, label);
                } else if (input instanceof JToggleButton) {
                    toggle((JToggleButton) input, label);
                } else if (input instanceof JComboBox) {
                    list((JComboBox<?>) input, label);
                }
            } catch (RuntimeException e) {
                System.err.println(gui.getClass().getName() + " '" + label + "': " + e);
            }
        }
    }

    private static void walk(Container panel, List<Component> inputs, Map<Component, String> labels, String before) {
        String label = before;
        for (Component part : panel.getComponents()) {
            if (part instanceof JLabel && ((JLabel) part).getText() != null && !((JLabel) part).getText().isBlank()) {
                label = ((JLabel) part).getText();
                if (((JLabel) part).getLabelFor() != null) {
                    labels.put(((JLabel) part).getLabelFor(), label);
                }
            }
            boolean isButton = part instanceof AbstractButton && !(part instanceof JButton);
            if (part instanceof JTextComponent || isButton || part instanceof JComboBox || part instanceof JTable) {
                inputs.add(part);
                labels.putIfAbsent(part, isButton ? ((AbstractButton) part).getText() : label);
            }
            if (part instanceof Container && !(part instanceof JComboBox)) {
                walk((Container) part, inputs, labels, label);
            }
        }
    }

    private void text(JTextComponent input, String label) {
        Map<String, String> before = read();
        String old = input.getText();
        input.setText(PROBE);
        String kind = input instanceof JPasswordField ? "password" : "text";
        Map<String, String> after = read();
        changes(before, after).keySet().stream().filter(name -> !isCommon(name)).forEach(name -> {
            lines.add("input\t" + name + "\t" + kind + "\t" + label);
            lines.add("kind\t" + name + "\t" + after.getOrDefault(name, "\t").split("\t")[0]);
        });
        input.setText(old);
    }

    private void toggle(JToggleButton input, String label) {
        Map<String, String> before = read();
        input.setSelected(!input.isSelected());
        changes(before, read()).keySet().forEach(name -> lines.add("input\t" + name + "\tcheck\t" + label));
        input.setSelected(!input.isSelected());
    }

    private void radio(JRadioButton input, String label) {
        List<AbstractButton> group = new ArrayList<>();
        if (input.getModel() instanceof DefaultButtonModel && ((DefaultButtonModel) input.getModel()).getGroup() != null) {
            group = Collections.list(((DefaultButtonModel) input.getModel()).getGroup().getElements());
        }
        AbstractButton first = group.stream().filter(AbstractButton::isSelected).findFirst().orElse(null);
        AbstractButton other = group.stream().filter(button -> button != input).findFirst().orElse(null);
        if (other == null) {
            toggle(input, label);
            return;
        }
        other.setSelected(true);
        Map<String, String> before = read();
        input.setSelected(true);
        changes(before, read()).forEach((name, value) -> lines.add("choice\t" + name + "\t" + value + "\t" + label));
        if (first != null) {
            first.setSelected(true);
        }
    }

    private void list(JComboBox<?> input, String label) {
        // The list beside a check box that may be an expression.
        if (input.getItemCount() > 0 && String.valueOf(input.getItemAt(0)).startsWith("${")) {
            return;
        }
        int old = input.getSelectedIndex();
        for (int at = 0; at < input.getItemCount(); at++) {
            input.setSelectedIndex(at == 0 ? input.getItemCount() - 1 : 0);
            Map<String, String> before = read();
            input.setSelectedIndex(at);
            String item = one(String.valueOf(input.getItemAt(at)));
            changes(before, read()).forEach((name, value) -> {
                lines.add("input\t" + name + "\tlist\t" + label);
                lines.add("choice\t" + name + "\t" + value + "\t" + item);
            });
        }
        input.setSelectedIndex(old);
    }

    private Map<String, String> read() {
        TestElement element = gui.createTestElement();
        gui.modifyTestElement(element);
        return texts(element);
    }

    /** The properties of an element as kind, tab, text. */
    private static Map<String, String> texts(TestElement element) {
        Map<String, String> texts = new TreeMap<>();
        PropertyIterator properties = element.propertyIterator();
        while (properties.hasNext()) {
            JMeterProperty property = properties.next();
            String kind = property.getClass().getSimpleName().replace("Property", "").toLowerCase(Locale.ENGLISH);
            boolean isWhole = property instanceof TestElementProperty || property instanceof CollectionProperty
                    || property instanceof MapProperty || property instanceof ObjectProperty;
            texts.put(property.getName(), kind + "\t" + (isWhole ? "" : one(property.getStringValue())));
        }
        return texts;
    }

    private static Map<String, String> changes(Map<String, String> before, Map<String, String> after) {
        Map<String, String> changes = new TreeMap<>();
        after.forEach((name, text) -> {
            if (!text.equals(before.get(name))) {
                changes.put(name, text.substring(text.indexOf('\t') + 1));
            }
        });
        before.keySet().stream().filter(name -> !after.containsKey(name)).forEach(name -> changes.put(name, ""));
        return changes;
    }

    /** A text on one line. */
    private static String one(String text) {
        return text == null ? "" : text.replaceAll("<[a-zA-Z/][^>]*>", "").replaceAll("\\s+", " ").trim();
    }
}
