package dev.drumfire.jvm;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.jmeter.control.IfController;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.functions.AbstractFunction;
import org.apache.jmeter.functions.BeanShell;
import org.apache.jmeter.functions.Groovy;
import org.apache.jmeter.functions.InvalidVariableException;
import org.apache.jmeter.functions.JavaScript;
import org.apache.jmeter.functions.Jexl2Function;
import org.apache.jmeter.functions.Jexl3Function;

/** JMeter's functions that run scripts. Each call in the plan has its own, which all users share as in JMeter. */
final class Functions {
    private static final Map<Integer, Call> CALLS = new ConcurrentHashMap<>();

    private Functions() {
    }

    /** The script argument, whose text the engine has evaluated. */
    private static final class Script extends CompoundVariable {
        private final ThreadLocal<String> text = new ThreadLocal<>();

        @Override
        public String execute() {
            return text.get();
        }
    }

    private record Call(AbstractFunction function, Script script) {
    }

    /** The number of the If Controller's conditions among the languages. */
    private static final int CONDITION = 5;

    static String run(int language, int instance, String text) throws Exception {
        if (language == CONDITION) {
            return String.valueOf(evaluate(text));
        }
        Call call = CALLS.computeIfAbsent(instance, number -> make(language));
        call.script.text.set(text);
        return call.function.execute();
    }

    private static boolean evaluate(String condition) throws ReflectiveOperationException {
        Method evaluate = IfController.class.getDeclaredMethod("evaluateCondition", String.class);
        evaluate.setAccessible(true);
        return (boolean) evaluate.invoke(new IfController(), condition);
    }

    private static Call make(int language) {
        AbstractFunction function = switch (language) {
            case 0 -> new Groovy();
            case 1 -> new BeanShell();
            case 2 -> new JavaScript();
            case 3 -> new Jexl2Function();
            case 4 -> new Jexl3Function();
            default -> throw new IllegalArgumentException("language " + language);
        };
        Script script = new Script();
        try {
            function.setParameters(List.of(script));
        } catch (InvalidVariableException e) {
            throw new IllegalStateException(e);
        }
        return new Call(function, script);
    }
}
