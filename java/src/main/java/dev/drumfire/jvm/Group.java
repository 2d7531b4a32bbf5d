package dev.drumfire.jvm;

import org.apache.jmeter.threads.ThreadGroup;

/** A thread group as scripts see it. */
final class Group {
    private final ThreadGroup threadGroup;

    Group(String name, int users) {
        threadGroup = new ThreadGroup() {
            private static final long serialVersionUID = 1L;

            @Override
            public int getNumberOfThreads() {
                return Natives.runningThreads(false);
            }
        };
        threadGroup.setName(name);
        threadGroup.setNumThreads(users);
    }

    ThreadGroup threadGroup() {
        return threadGroup;
    }
}
