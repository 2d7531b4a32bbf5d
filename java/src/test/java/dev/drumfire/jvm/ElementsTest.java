package dev.drumfire.jvm;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.apache.jmeter.assertions.BeanShellAssertion;
import org.apache.jmeter.assertions.JSR223Assertion;
import org.apache.jmeter.extractor.BeanShellPostProcessor;
import org.apache.jmeter.extractor.JSR223PostProcessor;
import org.apache.jmeter.modifiers.BeanShellPreProcessor;
import org.apache.jmeter.modifiers.JSR223PreProcessor;
import org.apache.jmeter.protocol.java.sampler.JSR223Sampler;
import org.apache.jmeter.testbeans.TestBeanHelper;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.MultiProperty;
import org.apache.jmeter.testelement.property.PropertyIterator;
import org.apache.jmeter.testelement.property.TestElementProperty;
import org.apache.jmeter.timers.BeanShellTimer;
import org.apache.jmeter.timers.JSR223Timer;
import org.apache.jmeter.util.BeanShellTestElement;
import org.apache.jmeter.util.JSR223TestElement;
import org.apache.jmeter.visualizers.BeanShellListener;
import org.apache.jmeter.visualizers.JSR223Listener;
import org.junit.Before;
import org.junit.Test;

/** Elements are made and prepared as JMeter's own reader and TestBeanHelper do it. */
public class ElementsTest {
    @Before
    public void start() throws Exception {
        Natives.user();
    }

    private static final String XML = """
        <ConfigTestElement guiclass="SimpleConfigGui" testclass="ConfigTestElement" testname="a &lt; b" enabled="true">
          <stringProp name="text">two
        lines</stringProp>
          <boolProp name="flag">true</boolProp>
          <intProp name="int">-3</intProp>
          <longProp name="long">8000000000</longProp>
          <FloatProperty><name>float</name><value>1.5</value><savedValue>0.0</savedValue></FloatProperty>
          <doubleProp><name>double</name><value>0.1</value><savedValue>0.0</savedValue></doubleProp>
          <elementProp name="element" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments" testname="" enabled="true">
            <collectionProp name="Arguments.arguments">
              <elementProp name="k" elementType="Argument" guiclass="" testclass="Argument" testname="" enabled="true">
                <stringProp name="Argument.value">v</stringProp>
              </elementProp>
              <stringProp name="">bare</stringProp>
            </collectionProp>
          </elementProp>
          <mapProp name="map"><stringProp name="x">y</stringProp></mapProp>
        </ConfigTestElement>""";

    private static Wire.Writer element(Wire.Writer out, String type, String gui, String name, int properties) {
        return out.text("org.apache.jmeter.config." + type).text(gui).text(name).number(properties);
    }

    private static byte[] written() {
        Wire.Writer out = element(new Wire.Writer(), "ConfigTestElement", "org.apache.jmeter.config.gui.SimpleConfigGui", "a < b", 8);
        out.number(0).text("text").text("two\nlines");
        out.number(1).text("flag").flag(true);
        out.number(2).text("int").number(-3);
        out.number(3).text("long").large(8_000_000_000L);
        out.number(4).text("float").number(Float.floatToIntBits(1.5f));
        out.number(5).text("double").large(Double.doubleToLongBits(0.1));
        element(out.number(6).text("element"), "Arguments", "org.apache.jmeter.config.gui.ArgumentsPanel", "", 1);
        out.number(7).text("Arguments.arguments").number(2);
        element(out.number(6).text("k"), "Argument", "", "", 1);
        out.number(0).text("Argument.value").text("v");
        out.number(0).text("").text("bare");
        out.number(8).text("map").number(1);
        out.number(0).text("x").text("y");
        return out.done();
    }

    private static String shown(TestElement element) {
        return element.getClass().getName() + shown(element.propertyIterator());
    }

    private static List<String> shown(PropertyIterator properties) {
        List<String> shown = new ArrayList<>();
        while (properties.hasNext()) {
            JMeterProperty property = properties.next();
            String inner = property instanceof TestElementProperty nested ? shown(nested.getElement())
                : property instanceof MultiProperty many ? shown(many.iterator()).toString() : property.getStringValue();
            shown.add(property.getClass().getSimpleName() + ' ' + property.getName() + '=' + inner);
        }
        return shown;
    }

    @Test
    public void elementsAreThoseThatJMetersReaderMakes() throws Exception {
        TestElement theirs = Elements.readXml(XML.getBytes(StandardCharsets.UTF_8));
        assertEquals(shown(theirs), shown(Elements.read(written())));
        byte[] noElement = element(new Wire.Writer(), "gui.ArgumentsPanel", "", "", 0).done();
        assertThrows(ClassCastException.class, () -> Elements.read(noElement));
    }

    private static String fields(TestElement element) {
        if (element instanceof JSR223TestElement script) {
            return List.of(script.getCacheKey(), script.getFilename(), script.getParameters(), script.getScript(), script.getScriptLanguage()).toString();
        }
        BeanShellTestElement script = (BeanShellTestElement) element;
        return List.of(script.getFilename(), script.getParameters(), script.isResetInterpreter(), script.getScript()).toString();
    }

    @Test
    public void scriptsArePreparedAsTestBeanHelperDoes() {
        List<TestElement> scripts = List.of(
            new JSR223PreProcessor(), new JSR223Sampler(), new JSR223PostProcessor(), new JSR223Assertion(), new JSR223Timer(), new JSR223Listener(),
            new BeanShellPreProcessor(), new BeanShellPostProcessor(), new BeanShellAssertion(), new BeanShellTimer(), new BeanShellListener());
        for (TestElement script : scripts) {
            for (String[] properties : new String[][] {{}, {"cacheKey", "filename", "parameters", "resetInterpreter", "script", "scriptLanguage"}}) {
                for (String property : properties) {
                    script.setProperty(property, property.equals("resetInterpreter") ? "TRUE" : "a " + property);
                }
                TestElement own = Scripts.replaced((TestElement) script.clone());
                TestBeanHelper.prepare(script);
                Beans.prepare(own);
                assertEquals(script.getClass().getName(), fields(script), fields(own));
            }
        }
    }
}
