import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalQueries;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Records what the library of JDK 17 makes of the inputs in the first columns of the files beside it: java Record.java [FILE…]
 *
 * Inputs stay as they are, results are written anew. A tab, a line feed, a carriage return or a backslash in a text is `\t`, `\n`, `\r` or
 * `\\`. `!` begins an exception.
 */
public class Record {
    interface Rule {
        String result(String[] inputs) throws Exception;
    }

    public static void main(String[] files) throws Exception {
        record("url.tsv", 2, Record::url);
        record("uri.tsv", 1, Record::uri);
        record("number.tsv", 2, Record::number);
        record("text.tsv", 1, Record::text);
        record("zones.tsv", 3, Record::zone);
        record("zone_texts.tsv", 4, Record::zoneText);
    }

    static void record(String file, int inputs, Rule rule) throws Exception {
        Path path = Path.of(file);
        if (!Files.exists(path)) {
            return;
        }
        List<String> out = new ArrayList<>();
        for (String line : Files.readAllLines(path, StandardCharsets.UTF_8)) {
            String[] columns = line.split("\t", -1);
            String[] given = new String[inputs];
            StringBuilder row = new StringBuilder();
            for (int i = 0; i < inputs; i++) {
                String column = i < columns.length ? columns[i] : "";
                given[i] = unescape(column);
                row.append(column).append('\t');
            }
            out.add(row + rule.result(given));
        }
        Files.write(path, out, StandardCharsets.UTF_8);
    }

    /** `new URL(context, spec)`; the text, then the parts. */
    static String url(String[] given) {
        URL url;
        try {
            URL context = given[0].isEmpty() ? null : new URL(given[0]);
            url = new URL(context, given[1]);
        } catch (MalformedURLException e) {
            return exception(e);
        }
        return row(url, url.getProtocol(), url.getAuthority(), url.getUserInfo(), url.getHost(), url.getPort(), url.getPath(), url.getQuery(), url.getRef());
    }

    /** `new URI(text)`; the parts, then the normalized and the ASCII form. */
    static String uri(String[] given) {
        URI uri;
        try {
            uri = new URI(given[0]);
        } catch (URISyntaxException e) {
            return exception(e);
        }
        return row(uri.getScheme(), uri.isOpaque(), uri.getRawAuthority(), uri.getRawUserInfo(), uri.getHost(), uri.getPort(), uri.getRawPath(), uri.getRawQuery(), uri.getRawFragment(), uri.normalize(), uri.toASCIIString());
    }

    /** The first column names the method. */
    static String number(String[] given) {
        String text = given[1];
        try {
            switch (given[0]) {
                case "parseInt": return "" + Integer.parseInt(text);
                case "parseLong": return "" + Long.parseLong(text);
                case "parseDouble": return "" + Double.doubleToLongBits(Double.parseDouble(text));
                case "parseFloat": return "" + Float.floatToIntBits(Float.parseFloat(text));
                case "decodeLong": return "" + Long.decode(text);
                case "toString": return Double.toString(Double.longBitsToDouble(Long.parseLong(text)));
                default: throw new IllegalStateException(given[0]);
            }
        } catch (NumberFormatException e) {
            return exception(e);
        }
    }

    /** `String.trim`, `String.isBlank`; then which characters of the text are white space and space characters. */
    static String text(String[] given) {
        StringBuilder whitespace = new StringBuilder();
        StringBuilder space = new StringBuilder();
        given[0].codePoints().forEach(c -> {
            whitespace.append(Character.isWhitespace(c) ? 1 : 0);
            space.append(Character.isSpaceChar(c) ? 1 : 0);
        });
        return row(given[0].trim(), given[0].isBlank(), whitespace, space);
    }

    /** An instant in a zone, as a pattern prints it. */
    static String zone(String[] given) {
        DateTimeFormatter formatter = DateTimeFormatter.ofPattern(given[2], Locale.ENGLISH);
        return escape(formatter.format(Instant.ofEpochMilli(Long.parseLong(given[1])).atZone(ZoneId.of(given[0]))));
    }

    /** What a pattern reads in a text, in a locale: the instant and the zone. The fourth column says which zone is the default. */
    static String zoneText(String[] given) {
        try {
            TemporalAccessor read = DateTimeFormatter.ofPattern(given[1], Locale.forLanguageTag(given[0])).withZone(ZoneId.of(given[3])).parse(given[2]);
            String millis = read.isSupported(ChronoField.INSTANT_SECONDS) ? Long.toString(Instant.from(read).toEpochMilli()) : "null";
            return row(millis, read.query(TemporalQueries.zoneId()));
        } catch (DateTimeException e) {
            return "!";
        }
    }

    static String exception(Exception e) {
        String text = "!" + e.getClass().getName() + ": " + e.getMessage();
        if (e.getCause() != null) {
            text += "\n" + e.getCause().getClass().getName() + ": " + e.getCause().getMessage();
        }
        return escape(text);
    }

    static String row(Object... columns) {
        List<String> row = new ArrayList<>();
        for (Object column : columns) {
            row.add(column == null ? "null" : escape(column.toString()));
        }
        return String.join("\t", row);
    }

    static String escape(String text) {
        return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }

    static String unescape(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && i + 1 < text.length()) {
                c = text.charAt(++i);
                c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
            }
            out.append(c);
        }
        return out.toString();
    }
}
