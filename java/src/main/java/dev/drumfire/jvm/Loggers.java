package dev.drumfire.jvm;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MarkerIgnoringBase;
import org.slf4j.helpers.MessageFormatter;

/** Loggers that write to the engine's log. */
public final class Loggers implements ILoggerFactory {
    static final int TRACE = 0;
    static final int DEBUG = 1;
    static final int INFO = 2;
    static final int WARN = 3;
    static final int ERROR = 4;

    /** The lowest level that is logged, by category; it also applies to the categories below. */
    private static volatile Map<String, Integer> levels = Map.of();
    private static final Map<String, Logger> LOGGERS = new ConcurrentHashMap<>();

    /** Takes alternating names and levels; the empty name is the root. */
    static void setLevels(String[] namesAndLevels) {
        Map<String, Integer> map = new TreeMap<>();
        for (int i = 0; i + 1 < namesAndLevels.length; i += 2) {
            map.put(namesAndLevels[i], number(namesAndLevels[i + 1]));
        }
        levels = map;
    }

    private static int number(String level) {
        return switch (level.trim().toUpperCase(java.util.Locale.ROOT)) {
            case "TRACE", "ALL" -> TRACE;
            case "DEBUG" -> DEBUG;
            case "WARN" -> WARN;
            case "ERROR" -> ERROR;
            case "FATAL", "OFF" -> ERROR + 1;
            default -> INFO;
        };
    }

    private static int levelOf(String name) {
        for (String part = name; ; part = part.substring(0, Math.max(part.lastIndexOf('.'), 0))) {
            Integer level = levels.get(part);
            if (level != null) {
                return level;
            }
            if (part.isEmpty()) {
                return INFO;
            }
        }
    }

    @Override
    public Logger getLogger(String name) {
        Logger logger = LOGGERS.get(name);
        return logger == null ? LOGGERS.computeIfAbsent(name, EngineLogger::new) : logger;
    }

    private static final class EngineLogger extends MarkerIgnoringBase {
        private static final long serialVersionUID = 1L;
        private final transient int least;

        EngineLogger(String name) {
            this.name = name;
            least = levelOf(name);
        }

        private void write(int level, String message, Throwable thrown) {
            if (level < least) {
                return;
            }
            String text = String.valueOf(message);
            if (thrown != null) {
                StringWriter trace = new StringWriter();
                thrown.printStackTrace(new PrintWriter(trace));
                text = text + "\n" + trace.toString().stripTrailing();
            }
            Natives.log(level, name, ShownNames.in(text));
        }

        private void write(int level, FormattingTuple tuple) {
            write(level, tuple.getMessage(), tuple.getThrowable());
        }

        private void format(int level, String format, Object one, Object two) {
            if (level >= least) {
                write(level, MessageFormatter.format(format, one, two));
            }
        }

        private void format(int level, String format, Object... all) {
            if (level >= least) {
                write(level, MessageFormatter.arrayFormat(format, all));
            }
        }

        @Override
        public boolean isTraceEnabled() {
            return TRACE >= least;
        }

        @Override
        public void trace(String message) {
            write(TRACE, message, null);
        }

        @Override
        public void trace(String format, Object one) {
            format(TRACE, format, one, null);
        }

        @Override
        public void trace(String format, Object one, Object two) {
            format(TRACE, format, one, two);
        }

        @Override
        public void trace(String format, Object... all) {
            format(TRACE, format, all);
        }

        @Override
        public void trace(String message, Throwable thrown) {
            write(TRACE, message, thrown);
        }

        @Override
        public boolean isDebugEnabled() {
            return DEBUG >= least;
        }

        @Override
        public void debug(String message) {
            write(DEBUG, message, null);
        }

        @Override
        public void debug(String format, Object one) {
            format(DEBUG, format, one, null);
        }

        @Override
        public void debug(String format, Object one, Object two) {
            format(DEBUG, format, one, two);
        }

        @Override
        public void debug(String format, Object... all) {
            format(DEBUG, format, all);
        }

        @Override
        public void debug(String message, Throwable thrown) {
            write(DEBUG, message, thrown);
        }

        @Override
        public boolean isInfoEnabled() {
            return INFO >= least;
        }

        @Override
        public void info(String message) {
            write(INFO, message, null);
        }

        @Override
        public void info(String format, Object one) {
            format(INFO, format, one, null);
        }

        @Override
        public void info(String format, Object one, Object two) {
            format(INFO, format, one, two);
        }

        @Override
        public void info(String format, Object... all) {
            format(INFO, format, all);
        }

        @Override
        public void info(String message, Throwable thrown) {
            write(INFO, message, thrown);
        }

        @Override
        public boolean isWarnEnabled() {
            return WARN >= least;
        }

        @Override
        public void warn(String message) {
            write(WARN, message, null);
        }

        @Override
        public void warn(String format, Object one) {
            format(WARN, format, one, null);
        }

        @Override
        public void warn(String format, Object one, Object two) {
            format(WARN, format, one, two);
        }

        @Override
        public void warn(String format, Object... all) {
            format(WARN, format, all);
        }

        @Override
        public void warn(String message, Throwable thrown) {
            write(WARN, message, thrown);
        }

        @Override
        public boolean isErrorEnabled() {
            return ERROR >= least;
        }

        @Override
        public void error(String message) {
            write(ERROR, message, null);
        }

        @Override
        public void error(String format, Object one) {
            format(ERROR, format, one, null);
        }

        @Override
        public void error(String format, Object one, Object two) {
            format(ERROR, format, one, two);
        }

        @Override
        public void error(String format, Object... all) {
            format(ERROR, format, all);
        }

        @Override
        public void error(String message, Throwable thrown) {
            write(ERROR, message, thrown);
        }
    }
}
