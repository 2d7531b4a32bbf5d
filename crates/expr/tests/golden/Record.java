import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.threads.*;
import org.apache.jmeter.util.JMeterUtils;

/**
 * Records what JMeter makes of the texts in the first column of the files given as arguments.
 * Run it with JMeter's lib and lib/ext on the class path and -Djmeter.home set; it rewrites the files.
 */
public class Record {
    public static void main(String[] args) throws Exception {
        String home = System.getProperty("jmeter.home");
        JMeterUtils.setJMeterHome(home);
        JMeterUtils.loadJMeterProperties(home + "/bin/jmeter.properties");
        JMeterUtils.setLocale(Locale.ENGLISH);
        JMeterUtils.setProperty("greeting", " hello ");
        JMeterUtils.setProperty("number", "42");
        for (String file : args) {
            List<String> out = new ArrayList<>();
            for (String line : Files.readAllLines(Paths.get(file), StandardCharsets.UTF_8)) {
                out.add(line.isEmpty() || line.startsWith("//") ? line : record(line.split("\t")[0]));
            }
            Files.write(Paths.get(file), out, StandardCharsets.UTF_8);
        }
    }

    private static String record(String shown) {
        JMeterVariables vars = new JMeterVariables();
        vars.put("a", "1");
        vars.put("b", "two");
        vars.put("name", "a");
        vars.put("empty", "");
        vars.put("a b", "spaced");
        vars.put("text", "${a}-\\,-${b}");
        vars.put("html", "<p class=\"x\">caf\u00e9 & 'co'</p>");
        vars.put("list_1", "one");
        vars.put("list_2", "two");
        vars.put("page", "<a href='x1'>1</a><a href='y22'>2</a><b>3</b>");
        JMeterContextService.getContext().setVariables(vars);
        Thread.currentThread().setName("Thread Group 1-7");
        String text = shown.replace('\u2424', '\n').replace('\u2409', '\t');
        String result;
        CompoundVariable compiled = new CompoundVariable();
        try {
            compiled.setParameters(text);
            result = compiled.hasFunction() ? compiled.execute() : "= " + text;
        } catch (org.apache.jmeter.functions.InvalidVariableException e) {
            result = "!invalid " + e.getMessage();
        } catch (RuntimeException e) {
            result = "!exception " + e.getClass().getName();
        }
        StringBuilder set = new StringBuilder();
        SortedMap<String, Object> sorted = new TreeMap<>();
        for (Map.Entry<String, Object> entry : vars.entrySet()) {
            if (entry.getKey().startsWith("v") && entry.getValue() != null) {
                sorted.put(entry.getKey(), entry.getValue());
            }
        }
        sorted.forEach((key, value) -> set.append('\t').append(key).append('=').append(escape(value.toString())));
        return shown + "\t" + escape(result) + set;
    }

    private static String escape(String text) {
        return text.replace('\n', '\u2424').replace('\t', '\u2409');
    }
}
