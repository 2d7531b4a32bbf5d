package dev.drumfire.jvm;

/**
 * The engine's services for Java code. {@link #log}, {@link #lost}, those about properties, about counts and about stopping
 * work on any thread. The others are about the virtual user whose call is running on this thread, and throw IllegalStateException
 * on a thread that runs none and has joined none.
 */
final class Natives {
    private Natives() {
    }

    /** The value of a variable, or null. */
    static native String variable(String name);

    /** Gives a variable a value, or null. */
    static native void setVariable(String name, String value);

    static native void removeVariable(String name);

    /** Whether the plan spells out a name somewhere, so that a variable of that name may be read. */
    static native boolean isSpelledOut(String name);

    /** Names and values of all variables, in turn; a value may be null. */
    static native String[] variables();

    /** The present value of a text of the plan, by its number. */
    static native String template(int number);

    /** The result at hand or the user's previous one as {@link Results} writes it; null if there is none. */
    static native byte[] result();

    /** The response body that belongs to {@link #result}. */
    static native byte[] resultBody();

    /** Changes the result at hand. A body of null leaves the body as it is. */
    static native void setResult(byte[] result, byte[] body);

    /** The number of the sample at hand, and in the lower half the number of its sampler among the plan's elements, or -1. */
    static native long sampler();

    /** The settings of the HTTP Request at hand as {@link Requests} writes them; null if the sampler is another one. */
    static native byte[] request();

    /** The class and the name of the sampler at hand; null if there is none. */
    static native String[] namedSampler();

    /**
     * Changes the HTTP Request at hand for this sample by what differs between the two. Where headers were changed in the
     * manager that the request came with, they stay so.
     */
    static native void setRequest(byte[] before, byte[] after, boolean isSameHeaderManager);

    /** The cookies that the HTTP Request at hand may send, as {@link Cookies} writes them. */
    static native byte[] cookies();

    /** Takes these for all of those cookies; null: there is no Cookie Manager any longer. */
    static native void setCookies(byte[] cookies);

    /** The verdict of an assertion. */
    static native void verdict(String name, boolean failure, boolean error, String message);

    /** The exception of a call, and the user's fate after it. */
    static native void thrown(int fate, String text);

    /** The user's next step after this sample, by the number of its TestLogicalAction. */
    static native void setAction(int action);

    /** The user ends after this sample. */
    static native void stopThread();

    /** The iteration of the thread group, from 1. */
    static native int iteration();

    /** Something of this run was not sent; the user is told so at the end. */
    static native void lost(String text);

    /** The run ends: at once, or after the samples at hand. */
    static native void stopTest(boolean now);

    static native String property(String name);

    /** Gives a property a value; null removes it. */
    static native void setProperty(String name, String value);

    /** Names and values of all properties, in turn. */
    static native String[] properties();

    static native void log(int level, String category, String message);

    /** The class and the name of the sampler before the one at hand; null if there was none. */
    static native String[] previousSampler();

    /** Users that run: of a thread group, by its number, or with -1 of all. */
    static native int runningThreads(int group);

    /** Users of the phase at hand: active (0), started (1), finished (2), and all that were to run (3). */
    static native int threadCount(int which);

    /** Of a thread group: users, ramp-up, whether users are created late, whether there is a schedule, its delay and its duration. */
    static native long[] groupSettings(int group);

    /** Stops a user after its sample (0), breaks the sample off (1), or a timer, too (2); false if none of that name runs. */
    static native boolean stopUser(String threadName, int how);

    /** Stops all users of a thread group in one of these ways. */
    static native void stopGroup(int group, int how);

    /**
     * Starts a user of a thread group of a class of its own; gives a number to wait for, or 0 if the group takes none any more.
     * The actions after a failed sample are numbered in {@link OwnGroup}; an end of 0 is none.
     */
    static native long startUser(int group, String threadName, int number, long endMillis, int onError, boolean isSameUser);

    /** Waits for the end of a user that was started here; false if it has not come after so many milliseconds. */
    static native boolean awaitUser(long user, int longestMillis);

    /** The children of the controller that is asked: the number of a sampler's step, or c for a controller, a space, its name. */
    static native String[] children();

    /** Asks the child controller at that place one of the questions of {@link Controllers}. */
    static native int askChild(int place, int question);

    /** The controller that is asked starts an iteration. */
    static native void tellChildren(int iteration, boolean isLoop);

    /**
     * Lets this thread, which runs no call, use the call of a user that another thread runs, until {@link #leave}; false if no
     * call of the user is running.
     */
    static native boolean join(long line);

    static native void leave();
}
