import java.nio.charset.StandardCharsets;
import java.text.DateFormatSymbols;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.TemporalQueries;
import java.time.zone.ZoneRulesProvider;
import java.util.*;

/**
 * Records the names of time zones that JDK 17 prints and reads, in the languages that Drumfire has names of months of:
 * java Zones.java | gzip -9n > ../../src/date/zones.txt.gz
 *
 * `@locale` begins a section; one with a region holds what differs from the section of its language. A row with six names (full and short,
 * of standard time, daylight saving time and any time) ends with the ids of the zones that have them. A row `1`, name, id says which zone
 * a full name stands for in a text; `2` says it of a short name. The id `-` stands for none.
 */
public class Zones {
    static final String[] LOCALES = {"en", "de", "es", "fr", "it", "nl", "pt", "en-GB", "en-AU", "en-CA", "en-IN", "en-IE", "en-NZ", "en-ZA", "de-DE", "de-AT", "de-CH", "es-ES", "es-MX", "fr-FR", "fr-BE", "fr-CA", "fr-CH", "it-IT", "nl-NL", "nl-BE", "pt-BR", "pt-PT"};

    public static void main(String[] args) throws Exception {
        Map<String, Map<String, String>> names = new HashMap<>();
        Map<String, Map<String, String>> readings = new HashMap<>();
        StringBuilder out = new StringBuilder();
        Set<String> known = ZoneRulesProvider.getAvailableZoneIds();
        for (String tag : LOCALES) {
            Locale locale = Locale.forLanguageTag(tag);
            Map<String, String> own = new TreeMap<>();
            Set<String> texts = new TreeSet<>();
            for (String[] row : DateFormatSymbols.getInstance(locale).getZoneStrings()) {
                own.put(row[0], String.join("\t", Arrays.copyOfRange(row, 1, 7)));
                for (int i = 1; i < 7; i++) {
                    texts.add((i % 2 == 1 ? "1\t" : "2\t") + row[i]);
                }
            }
            own.keySet().retainAll(known);
            Map<String, String> read = new TreeMap<>();
            DateTimeFormatter full = DateTimeFormatter.ofPattern("zzzz", locale);
            DateTimeFormatter brief = DateTimeFormatter.ofPattern("z", locale);
            for (String text : texts) {
                String name = text.substring(2);
                String id = "-";
                try {
                    id = (text.startsWith("1") ? full : brief).parse(name).query(TemporalQueries.zone()).getId();
                } catch (DateTimeParseException e) {
                    // It is not read, or only its beginning.
                }
                if (!id.equals(name)) {
                    read.put(text, id);
                }
            }
            names.put(tag, own);
            readings.put(tag, read);
            out.append('@').append(tag).append('\n');
            String language = tag.split("-")[0];
            Map<String, List<String>> byNames = new TreeMap<>();
            own.forEach((id, text) -> {
                if (tag.equals(language) || !text.equals(names.get(language).get(id))) {
                    byNames.computeIfAbsent(text, k -> new ArrayList<>()).add(id);
                }
            });
            byNames.forEach((text, ids) -> out.append(text).append('\t').append(String.join(" ", ids)).append('\n'));
            read.forEach((text, id) -> {
                if (tag.equals(language) ? !id.equals("-") : !id.equals(readings.get(language).getOrDefault(text, "-"))) {
                    out.append(text).append('\t').append(id).append('\n');
                }
            });
            if (!tag.equals(language)) {
                readings.get(language).forEach((text, id) -> {
                    if (!id.equals("-") && !read.containsKey(text)) {
                        out.append(text).append("\t-\n");
                    }
                });
            }
        }
        System.out.write(out.toString().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }
}
