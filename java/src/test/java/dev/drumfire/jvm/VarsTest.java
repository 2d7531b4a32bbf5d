package dev.drumfire.jvm;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.Before;
import org.junit.Test;

/** The contract of JMeterVariables, although the engine stores texts and Java stores objects. */
public class VarsTest {
    private Vars vars;

    @Before
    public void start() throws Exception {
        vars = Natives.user().vars();
    }

    @Test
    public void textsLiveInTheEngine() {
        vars.put("a", "1");
        assertEquals(Map.of("a", "1"), Natives.VARIABLES);
        Natives.VARIABLES.put("a", "2");
        assertEquals("2", vars.get("a"));
        assertEquals("2", vars.getObject("a"));
        vars.putObject("a", "3");
        assertEquals("3", vars.remove("a"));
        assertNull(vars.get("a"));
        assertEquals(3, vars.getIteration());
    }

    @Test
    public void objectsStayInJavaUntilTheirTextIsReplaced() {
        List<Integer> list = new ArrayList<>(List.of(1, 2));
        Natives.SPELLED_OUT.add("list");
        vars.putObject("list", list);
        assertSame(list, vars.getObject("list"));
        assertEquals("[1, 2]", vars.get("list"));
        assertEquals("[1, 2]", Natives.VARIABLES.get("list"));
        Natives.VARIABLES.put("list", "other");
        assertEquals("other", vars.getObject("list"));
        Natives.VARIABLES.put("list", "[1, 2]");
        assertEquals("it is gone for good", "[1, 2]", vars.getObject("list"));
    }

    @Test
    public void theTextOfAnObjectIsMadeOnlyWhereThePlanMayReadIt() {
        Object dear = new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException("nobody asked for the text");
            }
        };
        vars.putObject("dear", dear);
        vars.settle();
        assertSame(dear, vars.getObject("dear"));
    }

    @Test
    public void anObjectThatAScriptChangesShowsItsNewText() {
        List<Integer> list = new ArrayList<>();
        Natives.SPELLED_OUT.add("list");
        vars.putObject("list", list);
        vars.settle();
        list.add(7);
        vars.settle();
        assertEquals("nobody had it in hands", "[]", Natives.VARIABLES.get("list"));
        vars.getObject("list");
        vars.settle();
        assertEquals("[7]", Natives.VARIABLES.get("list"));
        assertSame(list, vars.getObject("list"));
    }

    @Test
    public void listingsHaveTextsAndObjects() {
        vars.put("text", "t");
        vars.putObject("number", 5);
        vars.putObject("null", null);
        Map<String, Object> all = new TreeMap<>();
        vars.entrySet().forEach(entry -> all.put(entry.getKey(), entry.getValue()));
        Map<String, Object> expected = new TreeMap<>(Map.of("text", "t", "number", 5));
        expected.put("null", null);
        assertEquals(expected, all);
        vars.remove("null");
        assertEquals(2, vars.entrySet().size());
        vars.putAll(Map.of("more", 6));
        assertEquals(6, vars.getObject("more"));
    }

    @Test
    public void usersBeginWithWhatTheTestsStartLeft() {
        vars.putObject("shared", List.of(1));
        User other = new User(null, "Users 1-2", 1, 0, 0);
        other.begin(true);
        other.vars().inherit(vars);
        assertEquals(List.of(1), other.vars().getObject("shared"));
    }

    private static void onAnotherThread(Runnable work) throws InterruptedException {
        Thread other = new Thread(work);
        other.start();
        other.join();
    }

    @Test
    public void duringACallThreadsThatScriptsStartUseTheSameVariables() throws InterruptedException {
        vars.put("before", "1");
        Object[] seen = new Object[2];
        onAnotherThread(() -> {
            seen[0] = vars.get("before");
            vars.put("from elsewhere", "2");
            vars.putObject("object", List.of(3));
            vars.remove("before");
            seen[1] = vars.getIteration();
        });
        assertEquals("1", seen[0]);
        assertEquals(3, seen[1]);
        assertEquals("2", vars.get("from elsewhere"));
        assertEquals(List.of(3), vars.getObject("object"));
        assertNull(vars.get("before"));
    }

    @Test
    public void betweenCallsTheyHaveVariablesThatTheNextCallTakesOver() throws InterruptedException {
        vars.put("before", "1");
        vars.share();
        Natives.isRunning = false;
        Object[] seen = new Object[2];
        onAnotherThread(() -> {
            seen[0] = vars.get("before");
            vars.put("from elsewhere", "2");
            vars.remove("before");
            seen[1] = vars.getObject("from elsewhere");
        });
        assertEquals("1", seen[0]);
        assertEquals("2", seen[1]);
        assertFalse("the engine is the user's", Natives.VARIABLES.containsKey("from elsewhere"));
        vars.takePending();
        assertEquals(Map.of("from elsewhere", "2"), Natives.VARIABLES);
    }
}
