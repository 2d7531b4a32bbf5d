package dev.drumfire.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The thread-local values of a user. In JMeter each user is a thread, so Java code keeps things for a user in a ThreadLocal: JDBC's
 * connections, clients of protocols, caches of plugins. Here a user's calls run on any thread, and each call brings the values along.
 */
final class ThreadLocals {
    private static final VarHandle MAP = field("threadLocals");
    private static final VarHandle INHERITABLE = field("inheritableThreadLocals");

    private Object map;
    private Object inheritable;

    /** A field of Thread; null if this Java has another one. */
    private static VarHandle field(String name) {
        try {
            Class<?> type = Class.forName("java.lang.ThreadLocal$ThreadLocalMap");
            return MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup()).findVarHandle(Thread.class, name, type);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }

    /** Gives these values to the current thread; returns the values that it had, or null if it has these already. */
    ThreadLocals lend() {
        if (MAP == null || INHERITABLE == null) {
            return null;
        }
        ThreadLocals before = new ThreadLocals();
        before.takeBack();
        if (map != null && before.map == map) {
            return null;
        }
        install();
        return before;
    }

    /** Stores the current thread's values here. */
    void takeBack() {
        Thread thread = Thread.currentThread();
        map = MAP.get(thread);
        inheritable = INHERITABLE.get(thread);
    }

    /** Makes these the current thread's values. */
    void install() {
        Thread thread = Thread.currentThread();
        MAP.set(thread, map);
        INHERITABLE.set(thread, inheritable);
    }
}
