package dev.drumfire.jvm;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

import org.junit.Before;
import org.junit.Test;

/** The contract of Properties, although the engine stores texts and Java stores objects. */
public class PropsTest {
    private Props props;

    @Before
    public void start() throws Exception {
        Natives.user();
        Properties defaults = new Properties();
        defaults.setProperty("default", "d");
        props = new Props(defaults);
    }

    @Test
    public void textsLiveInTheEngineAndDefaultsBehindThem() {
        assertNull(props.setProperty("a", "1"));
        assertEquals(Map.of("a", "1"), Natives.PROPERTIES);
        assertEquals("1", props.put("a", "2"));
        assertEquals("2", props.getProperty("a"));
        assertEquals("d", props.getProperty("default"));
        assertEquals("other", props.getProperty("none", "other"));
        assertNull("as in Properties", props.get("default"));
        assertEquals("2", props.remove("a"));
        assertTrue(Natives.PROPERTIES.isEmpty());
    }

    @Test
    public void objectsTakeThePlaceOfTextsAndTheOtherWayRound() {
        props.put("a", "before");
        props.put("a", List.of(1));
        assertEquals(List.of(1), props.get("a"));
        assertNull("as in Properties", props.getProperty("a"));
        props.put("a", "text");
        assertEquals("text", props.get("a"));
        assertEquals(1, props.size());
    }

    @Test
    public void whatChangesInPlaceChangesInTheEngine() {
        assertEquals("1", props.computeIfAbsent("n", name -> "1"));
        assertEquals("1", props.computeIfAbsent("n", name -> "2"));
        assertEquals("1", props.putIfAbsent("n", "3"));
        assertEquals("14", props.merge("n", "4", (one, other) -> one.toString() + other));
        assertEquals("14", Natives.PROPERTIES.get("n"));
        assertNull(props.compute("n", (name, value) -> null));
        assertTrue(props.isEmpty());
        assertEquals("x", props.getOrDefault("n", "x"));
    }

    @Test
    public void listingsHaveBoth() {
        props.put("text", "t");
        props.put("object", 5);
        assertEquals(Set.of("text", "object"), props.keySet());
        assertEquals(Set.of("text"), props.stringPropertyNames());
        assertTrue(props.containsKey("object"));
    }
}
