package a.own;

import java.awt.BorderLayout;

import javax.swing.JCheckBox;
import javax.swing.JComboBox;
import javax.swing.JLabel;
import javax.swing.JPanel;
import javax.swing.JPasswordField;
import javax.swing.JTextField;

import org.apache.jmeter.samplers.gui.AbstractSamplerGui;
import org.apache.jmeter.testelement.TestElement;

/** The panel of {@link Queue}. */
public class QueuePanel extends AbstractSamplerGui {
    private final JTextField name = new JTextField();
    private final JCheckBox isKept = new JCheckBox("Keep messages");
    private final JPasswordField password = new JPasswordField();
    private final JComboBox<String> level = new JComboBox<>(new String[] {"low", "high"});

    public QueuePanel() {
        JPanel panel = new JPanel();
        panel.add(new JLabel("Queue"));
        panel.add(name);
        panel.add(isKept);
        panel.add(new JLabel("Password"));
        panel.add(password);
        panel.add(new JLabel("Level"));
        panel.add(level);
        add(panel, BorderLayout.CENTER);
    }

    @Override
    public String getStaticLabel() {
        return "Queue Request";
    }

    @Override
    public String getLabelResource() {
        return getClass().getName();
    }

    @Override
    public TestElement createTestElement() {
        TestElement element = new Queue();
        modifyTestElement(element);
        return element;
    }

    @Override
    public void modifyTestElement(TestElement element) {
        configureTestElement(element);
        element.setProperty("queue.name", name.getText());
        element.setProperty("queue.kept", isKept.isSelected());
        element.setProperty("queue.password", new String(password.getPassword()));
        element.setProperty("queue.level", (String) level.getSelectedItem());
    }
}
