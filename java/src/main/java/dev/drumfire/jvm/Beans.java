package dev.drumfire.jvm;

import org.apache.jmeter.testbeans.TestBean;
import org.apache.jmeter.testbeans.TestBeanHelper;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.util.BeanShellTestElement;
import org.apache.jmeter.util.JSR223TestElement;

/**
 * Gives elements their properties before a call, as TestBeanHelper#prepare does, and in its order. The helper reads the elements'
 * BeanInfo, which for scripts loads JMeter's texts, its editors, and all script engines; scripts do without it here.
 */
final class Beans {
    private Beans() {
    }

    static void prepare(TestElement element) {
        if (element instanceof Scripts.Own && element instanceof JSR223TestElement script) {
            script.setCacheKey(text(script, "cacheKey"));
            script.setFilename(text(script, "filename"));
            script.setParameters(text(script, "parameters"));
            script.setScript(text(script, "script"));
            script.setScriptLanguage(text(script, "scriptLanguage"));
        } else if (element instanceof BeanShellTestElement script && element instanceof TestBean && isOfJMeter(element)) {
            script.setFilename(text(script, "filename"));
            script.setParameters(text(script, "parameters"));
            script.setResetInterpreter(Boolean.parseBoolean(text(script, "resetInterpreter")));
            script.setScript(text(script, "script"));
        } else {
            TestBeanHelper.prepare(element);
        }
    }

    private static boolean isOfJMeter(TestElement element) {
        return element.getClass().getName().startsWith("org.apache.jmeter.");
    }

    private static String text(TestElement element, String property) {
        return element.getProperty(property).getStringValue();
    }
}
