package io.drumfire.maven;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.apache.maven.plugin.MojoExecutionException;

/** Counts the samples of result files. */
final class Counts {
    private final List<String> messages;
    private long successes;
    private long failures;
    private long matching;

    /** @param messages failure messages that are counted separately; case does not matter */
    Counts(List<String> messages) {
        this.messages = messages;
    }

    long successes() {
        return successes;
    }

    long failures() {
        return failures;
    }

    /** Failed samples with one of the messages. */
    long matching() {
        return matching;
    }

    /** Adds the samples of a file. */
    void add(File file, boolean isCsv) throws MojoExecutionException {
        if (!file.isFile()) {
            throw new MojoExecutionException("Unable to find " + file.getAbsolutePath());
        }
        try {
            if (isCsv) {
                addCsv(file);
            } else {
                addXml(file);
            }
        } catch (IOException | XMLStreamException | IllegalArgumentException error) {
            throw new MojoExecutionException(file + " cannot be read: " + error.getMessage(), error);
        }
    }

    private void add(boolean success, String message) {
        if (success) {
            successes++;
            return;
        }
        failures++;
        if (messages.stream().anyMatch(one -> one.equalsIgnoreCase(message))) {
            matching++;
        }
    }

    private void addCsv(File file) throws IOException {
        char delimiter = delimiter(file);
        CSVFormat format = CSVFormat.DEFAULT.builder().setDelimiter(delimiter).setHeader().setSkipHeaderRecord(true).build();
        try (Reader reader = Files.newBufferedReader(file.toPath(), StandardCharsets.UTF_8); CSVParser rows = CSVParser.parse(reader, format)) {
            for (CSVRecord row : rows) {
                String message = row.isSet("failureMessage") ? row.get("failureMessage") : "";
                add(row.isSet("success") && Boolean.parseBoolean(row.get("success")), message);
            }
        }
    }

    /**
     * The delimiter: the header's first character that is not a letter ({@code
     * jmeter.save.saveservice.default_delimiter}).
     */
    private static char delimiter(File file) throws IOException {
        try (Reader reader = Files.newBufferedReader(file.toPath(), StandardCharsets.UTF_8)) {
            int read = reader.read();
            while (read >= 0 && Character.isLetter(read)) {
                read = reader.read();
            }
            if (read < 0) {
                throw new IOException("it has no header; leave jmeter.save.saveservice.print_field_names on");
            }
            return (char) read;
        }
    }

    /** Counts samples and their sub-samples; each of them has the attribute {@code s}. */
    private void addXml(File file) throws IOException, XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newInstance();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        try (InputStream stream = Files.newInputStream(file.toPath())) {
            XMLStreamReader reader = factory.createXMLStreamReader(stream);
            Deque<Sample> open = new ArrayDeque<>();
            while (reader.hasNext()) {
                int event = reader.next();
                if (event == XMLStreamConstants.START_ELEMENT) {
                    start(reader, open);
                } else if (event == XMLStreamConstants.END_ELEMENT && !open.isEmpty() && open.peek().element.equals(reader.getLocalName())) {
                    close(open);
                }
            }
            reader.close();
        }
    }

    /** A sample whose element is being read. */
    private static final class Sample {
        private final String element;
        private final boolean success;
        private String message = "";

        private Sample(String element, boolean success) {
            this.element = element;
            this.success = success;
        }
    }

    private static void start(XMLStreamReader reader, Deque<Sample> open) throws XMLStreamException {
        String success = reader.getAttributeValue(null, "s");
        if (success != null) {
            open.push(new Sample(reader.getLocalName(), Boolean.parseBoolean(success)));
        } else if (reader.getLocalName().equals("failureMessage") && !open.isEmpty() && open.peek().message.isEmpty()) {
            open.peek().message = reader.getElementText();
        }
    }

    private void close(Deque<Sample> open) {
        Sample sample = open.pop();
        add(sample.success, sample.message);
    }
}
