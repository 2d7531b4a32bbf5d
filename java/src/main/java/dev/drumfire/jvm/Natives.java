package dev.drumfire.jvm;

/**
 * The engine's services for Java code. {@link #log}, {@link #lost}, and those for properties, counts and stopping work on any
 * thread. The others concern the virtual user whose call is running on this thread. They throw IllegalStateException on a
 * thread that runs no call and has joined none.
 */
final class Natives {
    private Natives() {
    }

    /** The value of a variable, or null. */
    static native String variable(String name);

    /** Sets a variable to a value, or to null. */
    static native void setVariable(String name, String value);

    static native void removeVariable(String name);

    /** Whether a name is literally in the plan, so that a variable of that name may be read. */
    static native boolean isSpelledOut(String name);

    /** Names and values of all variables, in turn; a value may be null. */
    static native String[] variables();

    /** The present value of a text of the plan, by its number. */
    static native String template(int number);

    /** The current result, or the user's previous one, as {@link Results} writes it; null if there is none. */
    static native byte[] result();

    /** The response body that belongs to {@link #result}. */
    static native byte[] resultBody();

    /** Changes the current result. A body of null leaves the body as it is. */
    static native void setResult(byte[] result, byte[] body);

    /** The number of the current sample, and in the lower half the number of its sampler among the plan's elements, or -1. */
    static native long sampler();

    /** The settings of the current HTTP Request as {@link Requests} writes them; null if the sampler is another one. */
    static native byte[] request();

    /** The class and the name of the current sampler; null if there is none. */
    static native String[] namedSampler();

    /**
     * Applies the differences between the two to the current HTTP Request, for this sample. Headers that were changed in the
     * manager that the request came with persist.
     */
    static native void setRequest(byte[] before, byte[] after, boolean isSameHeaderManager);

    /** The cookies that the current HTTP Request may send, as {@link Cookies} writes them. */
    static native byte[] cookies();

    /** Replaces all of those cookies; null means that a script has cleared the Cookie Manager. */
    static native void setCookies(byte[] cookies);

    /** Reports the verdict of an assertion. */
    static native void verdict(String name, boolean failure, boolean error, String message);

    /** Reports the exception of a call, and its consequence for the user. */
    static native void thrown(int fate, String text);

    /** Sets the user's next step after this sample, by the number of its TestLogicalAction. */
    static native void setAction(int action);

    /** Ends the user after this sample. */
    static native void stopThread();

    /** The iteration of the thread group, from 1. */
    static native int iteration();

    /** Reports data of this run that was not sent; the run's end shows the message. */
    static native void lost(String text);

    /** Ends the run, at once or after the current samples. */
    static native void stopTest(boolean now);

    static native String property(String name);

    /** Sets a property; null removes it. */
    static native void setProperty(String name, String value);

    /** Names and values of all properties, in turn. */
    static native String[] properties();

    static native void log(int level, String category, String message);

    /** The class and the name of the sampler before the current one; null if there was none. */
    static native String[] previousSampler();

    /** The number of running users in a thread group, by its number, or with -1 in all. */
    static native int runningThreads(int group);

    /** The number of users in the current phase: active (0), started (1), finished (2), and all that were to run (3). */
    static native int threadCount(int which);

    /** A thread group's users, ramp-up, whether users are created late, whether there is a schedule, its delay and its duration. */
    static native long[] groupSettings(int group);

    /** Stops a user after its sample (0), or interrupts the sample (1), or also a timer (2); false if none of that name runs. */
    static native boolean stopUser(String threadName, int how);

    /** Stops all users of a thread group in one of these ways. */
    static native void stopGroup(int group, int how);

    /**
     * Starts a user of a thread group that its own object drives; returns a number to wait for, or 0 if the group takes no more.
     * The actions after a failed sample are numbered in {@link OwnGroup}; an end of 0 means none.
     */
    static native long startUser(int group, String threadName, int number, long endMillis, int onError, boolean isSameUser);

    /** Waits for the end of a user that was started here; false if it has not come within this number of milliseconds. */
    static native boolean awaitUser(long user, int longestMillis);

    /** The current controller's children: the number of a sampler's step, or c for a controller, then a space and its name. */
    static native String[] children();

    /** Asks the child controller at that place one of the questions of {@link Controllers}. */
    static native int askChild(int place, int question);

    /** Tells the engine that the current controller starts an iteration. */
    static native void tellChildren(int iteration, boolean isLoop);

    /**
     * Lets this thread, which runs no call, use the call of a user that another thread runs, until {@link #leave}; false if no
     * call of the user is running.
     */
    static native boolean join(long line);

    static native void leave();
}
