package io.drumfire.maven;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;

/**
 * The files that a build leaves in {@code target}, described in lines that are equal for both plugins.
 */
final class Leftovers {
    private static final Pattern SAMPLE = Pattern.compile("<(?:httpSample|sample) [^>]*? s=\"(\\w+)\"[^>]*? lb=\"([^\"]*)\" rc=\"([^\"]*)\"");

    private final Path target;

    Leftovers(Path target) {
        this.target = target;
    }

    String describe() throws IOException {
        List<String> lines = new ArrayList<>();
        if (Files.isDirectory(target)) {
            try (Stream<Path> files = Files.walk(target)) {
                for (Path file : files.filter(Files::isRegularFile).sorted().collect(Collectors.toList())) {
                    describe(file, lines);
                }
            }
            describeConfigurations(lines);
        }
        return String.join("\n", lines) + "\n";
    }

    private void describe(Path file, List<String> lines) throws IOException {
        String name = target.relativize(file).toString();
        // The JMeter folder has a random name, and the two reports consist of different files.
        boolean isJMeter = name.matches("[0-9a-f]{8}-.*");
        boolean isPartOfReport = name.contains("reports/") && !name.endsWith("/index.html") && !name.endsWith("/statistics.json");
        if (isJMeter || isPartOfReport || name.equals("config.json")) {
            return;
        }
        lines.add(undated(name));
        boolean isResult = !name.contains("testFiles/");
        if (isResult && name.endsWith(".csv")) {
            describeCsv(file, lines);
        } else if (name.endsWith(".jtl")) {
            describeXml(file, lines);
        }
    }

    private static void describeCsv(Path file, List<String> lines) throws IOException {
        List<String> all = ProjectsTest.lines(file);
        char delimiter = all.get(0).contains(";") ? ';' : ',';
        lines.add("    " + all.get(0));
        CSVFormat format = CSVFormat.DEFAULT.builder().setDelimiter(delimiter).setHeader().setSkipHeaderRecord(true).build();
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            for (CSVRecord row : format.parse(reader)) {
                lines.add("    " + String.join(" | ", row.get("label"), row.get("success"), row.get("responseCode"), row.get("failureMessage")));
            }
        }
    }

    private static void describeXml(Path file, List<String> lines) throws IOException {
        Matcher samples = SAMPLE.matcher(String.join("\n", ProjectsTest.lines(file)));
        while (samples.find()) {
            lines.add("    " + String.join(" | ", samples.group(2), samples.group(1), samples.group(3)));
        }
    }

    /** Describes the files through which the goals pass their results to each other. */
    private void describeConfigurations(List<String> lines) throws IOException {
        Path config = target.resolve("config.json");
        if (!Files.exists(config)) {
            return;
        }
        try (Reader reader = Files.newBufferedReader(config, StandardCharsets.UTF_8)) {
            for (JsonElement element : JsonParser.parseReader(reader).getAsJsonObject().getAsJsonArray("configurations")) {
                JsonObject one = element.getAsJsonObject();
                lines.add("configuration " + one.get("executionID").getAsString() + ": csv " + one.get("resultsOutputIsCSVFormat")
                        + ", reports " + one.get("generateReports") + ", properties " + String.join(" ", one.getAsJsonObject("propertiesMap").keySet()));
                List<String> results = new ArrayList<>();
                one.getAsJsonArray("resultFilesLocations").forEach(file -> results.add("    " + undated(Paths.get(file.getAsString()).getFileName().toString())));
                results.sort(null);
                lines.addAll(results);
            }
        }
    }

    private static String undated(String name) {
        return name.replaceAll("\\b20\\d{6}\\b", "DATE").replaceAll("\\b20\\d\\d-\\d\\d\\b", "MONTH");
    }
}
