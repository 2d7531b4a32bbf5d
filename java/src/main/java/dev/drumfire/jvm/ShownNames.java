package dev.drumfire.jvm;

import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Class names in messages about scripts. Scripts get objects of subclasses of JMeter's classes; a message names the class for which
 * such a subclass stands, as in JMeter.
 */
final class ShownNames {
    private static final String OWN = "dev.drumfire.jvm.";
    private static final String CONTEXT = "org.apache.jmeter.threads.UserContext";
    private static final String LOGGER = "org.slf4j.helpers.MarkerIgnoringBase";
    private static final String JMETERS_LOGGER = "org.apache.logging.slf4j.Log4jLogger";
    /** Not in the frames of a stack trace, which tell where the code is. */
    private static final Pattern NAMES = Pattern.compile("(?<!\\tat )\\b(?:dev\\.drumfire\\.jvm\\.[\\w$]+|org\\.apache\\.jmeter\\.threads\\.UserContext|org\\.slf4j\\.helpers\\.MarkerIgnoringBase)\\b");

    private ShownNames() {
    }

    /** The text with JMeter's names; null if it is null. */
    static String in(String text) {
        if (text == null || !text.contains(OWN) && !text.contains(CONTEXT) && !text.contains(LOGGER)) {
            return text;
        }
        return NAMES.matcher(text).replaceAll(name -> Matcher.quoteReplacement(shown(name)));
    }

    /** The class for which a class stands: itself, or JMeter's. */
    static Class<?> of(Class<?> type) {
        boolean isOwn = type.getName().startsWith(OWN) || type.getName().equals(CONTEXT);
        Class<?> above = type.getSuperclass();
        return isOwn && above != null && above != Object.class ? above : type;
    }

    private static String shown(MatchResult name) {
        if (LOGGER.equals(name.group())) {
            return JMETERS_LOGGER;
        }
        try {
            return of(Class.forName(name.group())).getName();
        } catch (ClassNotFoundException | LinkageError e) {
            return name.group();
        }
    }
}
