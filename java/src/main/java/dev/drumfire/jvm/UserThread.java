package dev.drumfire.jvm;

import org.apache.jmeter.control.LoopController;
import org.apache.jmeter.threads.AbstractThreadGroup;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jorphan.collections.ListedHashTree;

/** What {@code ctx.getThread()} gives: the engine runs the user, this tells it to stop. */
final class UserThread extends JMeterThread {
    private static final ListedHashTree NO_PLAN = new ListedHashTree(new LoopController());

    UserThread(String name, int number, AbstractThreadGroup group) {
        super(NO_PLAN, null, null);
        setThreadName(name);
        setThreadNum(number);
        setThreadGroup(group);
    }

    @Override
    public void stop() {
        Natives.stopThread();
    }
}
