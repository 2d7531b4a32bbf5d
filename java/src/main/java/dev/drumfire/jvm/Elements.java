package dev.drumfire.jvm;

import java.io.ByteArrayInputStream;
import java.io.IOException;

import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.BooleanProperty;
import org.apache.jmeter.testelement.property.CollectionProperty;
import org.apache.jmeter.testelement.property.DoubleProperty;
import org.apache.jmeter.testelement.property.FloatProperty;
import org.apache.jmeter.testelement.property.IntegerProperty;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.LongProperty;
import org.apache.jmeter.testelement.property.MapProperty;
import org.apache.jmeter.testelement.property.MultiProperty;
import org.apache.jmeter.testelement.property.StringProperty;
import org.apache.jmeter.testelement.property.TestElementProperty;

/**
 * Reads elements of the plan as the engine writes them, and makes them as JMeter's TestElementConverter does from a file. JMeter's
 * own reader takes a quarter of a second to load, so it only reads elements that have another form.
 */
final class Elements {
    // The kinds of properties; the engine's side of them is in element.rs.
    private static final int TEXT = 0;
    private static final int FLAG = 1;
    private static final int INT = 2;
    private static final int LONG = 3;
    private static final int FLOAT = 4;
    private static final int DOUBLE = 5;
    private static final int ELEMENT = 6;
    private static final int LIST = 7;
    private static final int MAP = 8;

    private Elements() {
    }

    static TestElement read(byte[] written) throws ReflectiveOperationException {
        return element(new Wire.Reader(written));
    }

    /** Reads an element from XML, by JMeter's own reader. */
    static TestElement readXml(byte[] xml) throws IOException {
        if (SaveService.loadElement(new ByteArrayInputStream(xml)) instanceof TestElement element) {
            return element;
        }
        throw new IllegalArgumentException("not a test element");
    }

    private static TestElement element(Wire.Reader in) throws ReflectiveOperationException {
        String type = in.text();
        TestElement element = Class.forName(type).asSubclass(TestElement.class).getDeclaredConstructor().newInstance();
        element.setProperty(TestElement.GUI_CLASS, in.text());
        element.setProperty(TestElement.TEST_CLASS, type);
        element.setProperty(TestElement.NAME, in.text());
        element.setProperty(TestElement.ENABLED, "true");
        for (int left = in.number(); left > 0; left--) {
            element.setProperty(property(in));
        }
        return element;
    }

    private static JMeterProperty property(Wire.Reader in) throws ReflectiveOperationException {
        int kind = in.number();
        String name = in.text();
        return switch (kind) {
            case TEXT -> new StringProperty(name, in.text());
            case FLAG -> new BooleanProperty(name, in.flag());
            case INT -> new IntegerProperty(name, in.number());
            case LONG -> new LongProperty(name, in.large());
            case FLOAT -> new FloatProperty(name, Float.intBitsToFloat(in.number()));
            case DOUBLE -> new DoubleProperty(name, Double.longBitsToDouble(in.large()));
            case ELEMENT -> new TestElementProperty(name, element(in));
            case LIST -> filled(new CollectionProperty(), name, in);
            case MAP -> filled(new MapProperty(), name, in);
            default -> throw new IllegalArgumentException("property " + kind);
        };
    }

    private static JMeterProperty filled(MultiProperty property, String name, Wire.Reader in) throws ReflectiveOperationException {
        property.setName(name);
        for (int left = in.number(); left > 0; left--) {
            property.addProperty(property(in));
        }
        return property;
    }
}
