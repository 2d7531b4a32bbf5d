package dev.drumfire.jvm;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import org.junit.Test;

/** Messages name JMeter's classes. */
public class ShownNamesTest {
    @Test
    public void subclassesAreShownAsTheClassesForWhichTheyStand() {
        assertEquals("method org.apache.jmeter.threads.JMeterVariables.put(", ShownNames.in("method dev.drumfire.jvm.Vars.put("));
        assertEquals("class java.util.Properties", ShownNames.in("class dev.drumfire.jvm.Props"));
        assertEquals("class'org.apache.jmeter.threads.JMeterContext'", ShownNames.in("class'org.apache.jmeter.threads.UserContext'"));
        assertEquals(
            "org.apache.jmeter.protocol.java.sampler.JSR223Sampler, org.apache.jmeter.engine.StandardJMeterEngine",
            ShownNames.in("dev.drumfire.jvm.Scripts$Sampler, dev.drumfire.jvm.Engine"));
    }

    @Test
    public void theLoggerIsThatOfJMeter() {
        assertEquals("class'org.apache.logging.slf4j.Log4jLogger'", ShownNames.in("class'org.slf4j.helpers.MarkerIgnoringBase'"));
        assertEquals(java.util.Properties.class, ShownNames.of(Props.class));
        assertEquals(String.class, ShownNames.of(String.class));
    }

    @Test
    public void otherTextsStay() {
        assertNull(ShownNames.in(null));
        String text = "dev.drumfire.jvm.NoSuchClass of dev.drumfire.jvm.Bridge\n\tat dev.drumfire.jvm.Vars.put(Vars.java:1)";
        assertEquals(text, ShownNames.in(text));
        assertEquals("$1 \\ java.util.Properties", ShownNames.in("$1 \\ dev.drumfire.jvm.Props"));
    }
}
