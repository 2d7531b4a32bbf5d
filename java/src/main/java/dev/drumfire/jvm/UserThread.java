package dev.drumfire.jvm;

import org.apache.jmeter.control.LoopController;
import org.apache.jmeter.threads.AbstractThreadGroup;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.ListenerNotifier;
import org.apache.jorphan.collections.ListedHashTree;

/** The thread that {@code ctx.getThread()} gives: the engine runs the user, this tells it to stop. */
final class UserThread extends JMeterThread {
    private static final ListedHashTree NO_PLAN = new ListedHashTree(new LoopController());

    private static final ListenerNotifier NOBODY = new ListenerNotifier();

    private final User user;

    UserThread(User user, String name, int number, AbstractThreadGroup group, long endMillis) {
        super(NO_PLAN, null, NOBODY);
        this.user = user;
        setThreadName(name);
        setThreadNum(number);
        setThreadGroup(group);
        setEngine(Engine.INSTANCE);
        setEndTime(endMillis);
        setScheduled(endMillis != 0);
    }

    @Override
    public void stop() {
        if (user.isHere()) {
            Natives.stopThread();
        } else {
            Natives.stopUser(getThreadName(), Group.FINISH);
        }
    }
}
