package dev.drumfire.jvm;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import org.junit.Before;
import org.junit.Test;

/** A user's thread-local values are there in each of its calls, on any thread, and nowhere else. */
public class ThreadLocalsTest {
    private static final ThreadLocal<String> OWN = new ThreadLocal<>();
    private static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>();

    private User one;
    private User other;

    @Before
    public void start() throws Exception {
        one = Natives.user();
        one.end();
        other = new User(null, "Users 1-2", 1, 0, 0);
        OWN.set("thread");
    }

    private static void call(User user, Runnable work) {
        user.enter();
        user.begin(false);
        work.run();
        user.end();
    }

    private static void onAnotherThread(Runnable work) throws InterruptedException {
        Thread thread = new Thread(work);
        thread.start();
        thread.join();
    }

    @Test
    public void usersOfOneThreadHaveTheirOwn() {
        call(one, () -> {
            assertNull(OWN.get());
            OWN.set("one");
        });
        call(other, () -> {
            assertNull(OWN.get());
            OWN.set("other");
        });
        call(one, () -> assertEquals("one", OWN.get()));
        assertEquals("thread", OWN.get());
    }

    @Test
    public void theyComeAlongToOtherThreads() throws InterruptedException {
        String[] seen = new String[2];
        call(one, () -> {
            OWN.set("one");
            INHERITED.set("inherited");
        });
        onAnotherThread(() -> call(one, () -> {
            seen[0] = OWN.get();
            try {
                onAnotherThread(() -> seen[1] = INHERITED.get());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            OWN.set("changed");
        }));
        assertEquals("one", seen[0]);
        assertEquals("inherited", seen[1]);
        call(one, () -> assertEquals("changed", OWN.get()));
    }

    @Test
    public void aCallWithinACallSharesThem() throws InterruptedException {
        call(one, () -> {
            User.Hands hands = one.hands();
            OWN.set("outer");
            call(one, () -> OWN.set(OWN.get() + ", inner"));
            one.take(hands);
            assertEquals("outer, inner", OWN.get());
        });
        assertEquals("thread", OWN.get());
        call(one, () -> {
            User.Hands hands = one.hands();
            OWN.set("outer");
            try {
                onAnotherThread(() -> call(one, () -> OWN.set(OWN.get() + " elsewhere")));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            one.take(hands);
        });
        assertEquals("thread", OWN.get());
        call(one, () -> assertEquals("outer elsewhere", OWN.get()));
    }
}
