package org.slf4j.impl;

import dev.drumfire.jvm.Loggers;
import org.slf4j.ILoggerFactory;
import org.slf4j.spi.LoggerFactoryBinder;

/** How SLF4J 1.7 finds {@link Loggers}: by the name of this class. */
public final class StaticLoggerBinder implements LoggerFactoryBinder {
    /** The SLF4J version this was compiled for; must not be final. */
    public static String REQUESTED_API_VERSION = "1.7.36";
    private static final StaticLoggerBinder SINGLETON = new StaticLoggerBinder();

    private final Loggers loggers = new Loggers();

    private StaticLoggerBinder() {
    }

    public static StaticLoggerBinder getSingleton() {
        return SINGLETON;
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return loggers;
    }

    @Override
    public String getLoggerFactoryClassStr() {
        return Loggers.class.getName();
    }
}
