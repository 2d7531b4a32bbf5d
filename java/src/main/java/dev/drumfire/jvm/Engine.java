package dev.drumfire.jvm;

import org.apache.jmeter.engine.StandardJMeterEngine;

/** The engine that {@code ctx.getEngine()} gives. */
final class Engine extends StandardJMeterEngine {
    private static final long serialVersionUID = 1L;
    static final Engine INSTANCE = new Engine();

    private Engine() {
    }

    @Override
    public void stopTest() {
        Natives.stopTest(true);
    }

    @Override
    public void stopTest(boolean now) {
        Natives.stopTest(now);
    }

    @Override
    public void askThreadsToStop() {
        Natives.stopTest(false);
    }

    @Override
    public boolean isActive() {
        return true;
    }
}
