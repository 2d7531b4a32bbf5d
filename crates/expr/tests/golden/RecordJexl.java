import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.functions.*;
import org.apache.jmeter.threads.*;
import org.apache.jmeter.util.JMeterUtils;

/** Records what __jexl2 and __jexl3 make of the expressions in the first column of the file given as argument. */
public class RecordJexl {
    public static void main(String[] args) throws Exception {
        String home = System.getProperty("jmeter.home");
        JMeterUtils.setJMeterHome(home);
        JMeterUtils.loadJMeterProperties(home + "/bin/jmeter.properties");
        JMeterUtils.setLocale(Locale.ENGLISH);
        List<String> out = new ArrayList<>();
        Path file = Paths.get(args[0]);
        for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
            String text = line.split("\t")[0];
            if (!line.isEmpty() && !line.startsWith("//")) {
                line = text + "\t" + eval(new Jexl3Function(), text) + "\t" + eval(new Jexl2Function(), text);
            }
            out.add(line);
        }
        Files.write(file, out, StandardCharsets.UTF_8);
    }

    private static String eval(Function function, String text) throws Exception {
        JMeterVariables vars = new JMeterVariables();
        vars.put("a", "1");
        vars.put("b", "two");
        JMeterUtils.setProperty("number", "42");
        JMeterUtils.getJMeterProperties().remove("new");
        JMeterContextService.getContext().setVariables(vars);
        Thread.currentThread().setName("Thread Group 1-7");
        String escaped = text.replace("\\", "\\\\").replace(",", "\\,").replace("$", "\\$");
        CompoundVariable expression = new CompoundVariable(escaped);
        CompoundVariable variable = new CompoundVariable("v");
        function.setParameters(Arrays.asList(expression, variable));
        String result = function.execute(null, null);
        return vars.get("v") == null ? "!" : result;
    }
}
