package dev.drumfire.jvm;

import org.apache.jmeter.control.LoopController;
import org.apache.jmeter.threads.AbstractThreadGroup;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.ListenerNotifier;
import org.apache.jmeter.threads.ThreadGroup;
import org.apache.jorphan.collections.ListedHashTree;

/** The thread that {@code ctx.getThread()} returns: the engine runs the user, and this object tells it to stop. */
final class UserThread extends JMeterThread {
    private static final ListedHashTree NO_PLAN = new ListedHashTree(new LoopController());

    private static final int MILLIS_PER_SECOND = 1000;
    private static final ListenerNotifier NOBODY = new ListenerNotifier();

    private final User user;
    private final AbstractThreadGroup group;
    /** Whether nothing has set the start. */
    private boolean isStartOfGroup = true;

    UserThread(User user, String name, int number, AbstractThreadGroup group, long endMillis) {
        super(NO_PLAN, null, NOBODY);
        this.user = user;
        this.group = group;
        setThreadName(name);
        setThreadNum(number);
        setThreadGroup(group);
        setEngine(Engine.INSTANCE);
        setEndTime(endMillis);
        setScheduled(endMillis != 0);
    }

    /** Groovy scripts read the private field of that name. */
    public AbstractThreadGroup getThreadGroup() {
        return group;
    }

    /** The start of the schedule; 0 without one, or if users are created late (ThreadGroup#scheduleThread). */
    @Override
    public long getStartTime() {
        boolean isScheduled = isStartOfGroup && group instanceof ThreadGroup scheduled && scheduled.getScheduler()
            && !scheduled.getPropertyAsBoolean(ThreadGroup.DELAYED_START);
        return isScheduled ? getEndTime() - MILLIS_PER_SECOND * ((ThreadGroup) group).getDuration() : super.getStartTime();
    }

    @Override
    public void setStartTime(long startMillis) {
        isStartOfGroup = false;
        super.setStartTime(startMillis);
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
