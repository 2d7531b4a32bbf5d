package dev.drumfire.jvm;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.charset.StandardCharsets;

import org.apache.jmeter.config.Arguments;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.util.JSR223TestElement;
import org.junit.Before;
import org.junit.Test;

/** Elements as the engine hands them over, and classes by what they can be. */
public class PlanTest {
    private User user;

    @Before
    public void start() throws Exception {
        user = Natives.user();
        Natives.template = "text ";
    }

    private static void add(String xml) throws Exception {
        Plan.add(xml.getBytes(StandardCharsets.UTF_8), true, new int[0]);
    }

    private static String element(String type, String script) {
        return "<" + type + " guiclass=\"TestBeanGUI\" testclass=\"" + type + "\" testname=\"n\"><stringProp name=\"script\">" + script
            + "</stringProp></" + type + ">";
    }

    @Test
    public void textsWithVariablesAreTheEnginesEachTimeTheyAreRead() throws Exception {
        add(element("JSR223PreProcessor", "\uE0D77"));
        TestElement element = user.element(0);
        assertEquals("text 7", element.getPropertyAsString("script"));
        Natives.template = "now ";
        assertEquals("now 7", element.getPropertyAsString("script"));
        assertFalse(Plan.isFixedScript(0));
        element.setRunningVersion(true);
        element.getProperty("script").setObjectValue("a script's own");
        assertEquals("a script's own", element.getPropertyAsString("script"));
        element.recoverRunningVersion();
        assertEquals("now 7", element.getPropertyAsString("script"));
    }

    @Test
    public void soAreTextsInsideOfOthers() throws Exception {
        add("<JavaSampler guiclass=\"JavaTestSamplerGui\" testclass=\"JavaSampler\" testname=\"n\"><elementProp name=\"arguments\" elementType=\"Arguments\""
            + " guiclass=\"ArgumentsPanel\" testclass=\"Arguments\"><collectionProp name=\"Arguments.arguments\"><elementProp name=\"a\" elementType=\"Argument\">"
            + "<stringProp name=\"Argument.name\">a</stringProp><stringProp name=\"Argument.value\">\uE0D73</stringProp></elementProp></collectionProp></elementProp>"
            + "</JavaSampler>");
        Arguments arguments = (Arguments) user.element(0).getProperty("arguments").getObjectValue();
        assertEquals("{a=text 3}", arguments.getArgumentsAsMap().toString());
    }

    @Test
    public void eachUserHasACopyOfItsOwn() throws Exception {
        add(element("JSR223PreProcessor", "1"));
        TestElement own = user.called(0);
        assertSame(own, user.called(0));
        assertTrue(Plan.isFixedScript(0));
        assertEquals("1", ((JSR223TestElement) own).getScript());
        User other = new User(new Group("Users", 0, new byte[0], -1), "Users 1-2", 1, 0, 0);
        assertNotSame(own, other.called(0));
    }

    @Test
    public void scriptElementsAreReplacedAndOthersAreNot() throws Exception {
        add(element("JSR223Sampler", "1"));
        add(element("BeanShellPreProcessor", "1"));
        assertEquals(Scripts.Sampler.class, user.element(0).getClass());
        assertEquals("n", user.element(0).getName());
        assertEquals("BeanShellPreProcessor", user.element(1).getClass().getSimpleName());
        assertThrows(IllegalArgumentException.class, () -> add("<hashTree/>"));
    }

    /** The bits are those of {@code Traits}. */
    @Test
    public void classesAreKnownByWhatTheyCanBe() {
        assertEquals(1, Classes.classify("org.apache.jmeter.protocol.java.sampler.JSR223Sampler") & 1);
        assertEquals(1 << 4, Classes.classify("org.apache.jmeter.assertions.JSR223Assertion"));
        assertEquals(1 << 5, Classes.classify("org.apache.jmeter.timers.JSR223Timer"));
        assertEquals(-1, Classes.classify("java.lang.String"));
        assertEquals(-1, Classes.classify("no.such.Class"));
    }
}
