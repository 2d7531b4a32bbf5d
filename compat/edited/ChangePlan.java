import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Locale;
import org.apache.jmeter.gui.JMeterGUIComponent;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.testbeans.gui.TestBeanGUI;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.BooleanProperty;
import org.apache.jmeter.testelement.property.CollectionProperty;
import org.apache.jmeter.testelement.property.IntegerProperty;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.NullProperty;
import org.apache.jmeter.testelement.property.StringProperty;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jorphan.collections.HashTree;

/**
 * Makes the changes of a list in a plan as JMeter's forms make them: each element goes through its form and is saved by JMeter.
 *
 * <pre>
 * java --add-opens java.desktop/sun.awt=ALL-UNNAMED -cp "$JMETER_HOME/lib/*:$JMETER_HOME/lib/ext/*" ChangePlan.java $JMETER_HOME before.jmx changes.tsv plan.jmx
 * </pre>
 *
 * A line has an element's name, a path and a value, divided by tabs. A number in the path is a row of a table; the number after the
 * last row adds a copy of that row.
 */
public class ChangePlan {
    public static void main(String[] arguments) throws Exception {
        System.setProperty("java.awt.headless", "true");
        String home = arguments[0];
        JMeterUtils.setJMeterHome(home);
        JMeterUtils.loadJMeterProperties(home + "/bin/jmeter.properties");
        JMeterUtils.setLocale(Locale.ENGLISH);
        SaveService.loadProperties();
        HashTree plan = SaveService.loadTree(new File(arguments[1]));
        for (String line : Files.readAllLines(Paths.get(arguments[2]))) {
            String[] cells = line.split("\t", -1);
            change(find(plan, cells[0]), cells[1], cells[2]);
        }
        throughForms(plan);
        try (OutputStream out = new FileOutputStream(arguments[3])) {
            SaveService.saveTree(plan, out);
        }
    }

    private static TestElement find(HashTree tree, String name) {
        for (Object each : tree.list()) {
            if (((TestElement) each).getName().equals(name)) {
                return (TestElement) each;
            }
            TestElement found = find(tree.getTree(each), name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static void change(TestElement element, String path, String value) {
        int slash = path.indexOf('/');
        if (slash < 0) {
            set(element, path, value);
            return;
        }
        JMeterProperty outer = element.getProperty(path.substring(0, slash));
        String rest = path.substring(slash + 1);
        if (!(outer instanceof CollectionProperty)) {
            change((TestElement) outer.getObjectValue(), rest, value);
            return;
        }
        CollectionProperty rows = (CollectionProperty) outer;
        String[] cell = rest.split("/", 2);
        int row = Integer.parseInt(cell[0]);
        if (row == rows.size()) {
            rows.addProperty(rows.get(row - 1).clone());
        }
        if (cell[1].isEmpty()) {
            rows.get(row).setObjectValue(value);
        } else {
            set((TestElement) rows.get(row).getObjectValue(), cell[1], value);
        }
    }

    private static void set(TestElement element, String property, String value) {
        JMeterProperty present = element.getProperty(property);
        if (property.equals("TestElement.enabled")) {
            element.setEnabled(Boolean.parseBoolean(value));
        } else if (present instanceof BooleanProperty || value.equals("true") && present instanceof NullProperty) {
            element.setProperty(property, Boolean.parseBoolean(value));
        } else if (present instanceof IntegerProperty) {
            element.setProperty(property, Integer.parseInt(value));
        } else {
            element.setProperty(new StringProperty(property, value));
        }
    }

    private static void throughForms(HashTree tree) throws Exception {
        for (Object each : tree.list()) {
            TestElement element = (TestElement) each;
            String form = element.getPropertyAsString(TestElement.GUI_CLASS);
            JMeterGUIComponent gui = form.endsWith("TestBeanGUI")
                ? new TestBeanGUI(element.getClass())
                : (JMeterGUIComponent) Class.forName(form).getDeclaredConstructor().newInstance();
            gui.configure(element);
            gui.modifyTestElement(element);
            throughForms(tree.getTree(each));
        }
    }
}
