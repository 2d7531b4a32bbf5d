package io.drumfire.maven;

import java.io.File;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import org.apache.maven.plugin.logging.Log;

/** Names result files as jmeter-maven-plugin does: {@code 20240131-folder_plan.csv}. */
final class ResultFile {
    private final DateTimeFormatter time;
    private final boolean isAppended;
    private final String extension;

    /**
     * @param time the format of the time; null for names without it
     * @param isAppended whether the time follows the plan's name
     */
    ResultFile(DateTimeFormatter time, boolean isAppended, boolean isCsv) {
        this.time = time;
        this.isAppended = isAppended;
        this.extension = isCsv ? ".csv" : ".jtl";
    }

    /** The format for a pattern. If there is none or it is invalid, ISO dates without hyphens. */
    static DateTimeFormatter format(String pattern, Log log) {
        if (pattern == null || pattern.trim().isEmpty()) {
            return DateTimeFormatter.BASIC_ISO_DATE;
        }
        try {
            return DateTimeFormatter.ofPattern(pattern);
        } catch (IllegalArgumentException error) {
            log.error("resultsFileNameDateFormat `" + pattern + "` is not understood: " + error.getMessage() + "; yyyyMMdd is used");
            return DateTimeFormatter.BASIC_ISO_DATE;
        }
    }

    /** The result file of a plan, whose name is relative to the folder of the plans. */
    String name(String plan, LocalDateTime now) {
        String base = withoutExtension(plan).replace('\\', '/').replace('/', '_');
        if (time == null) {
            return base + extension;
        }
        return (isAppended ? base + "-" + now.format(time) : now.format(time) + "-" + base) + extension;
    }

    /** The plan's name without {@code .jmx}. */
    static String withoutExtension(String plan) {
        int dot = plan.lastIndexOf('.');
        return dot > plan.replace(File.separatorChar, '/').lastIndexOf('/') ? plan.substring(0, dot) : plan;
    }
}
