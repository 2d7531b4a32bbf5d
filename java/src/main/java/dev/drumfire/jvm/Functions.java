package dev.drumfire.jvm;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.jmeter.control.IfController;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.functions.BeanShell;
import org.apache.jmeter.functions.Function;
import org.apache.jmeter.functions.Groovy;
import org.apache.jmeter.functions.InvalidVariableException;
import org.apache.jmeter.functions.JavaScript;
import org.apache.jmeter.functions.Jexl2Function;
import org.apache.jmeter.functions.Jexl3Function;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;

/** JMeter's functions that run scripts. Each call in the plan has its own object, which all users share as in JMeter. */
final class Functions {
    private static final Map<Integer, Call> CALLS = new ConcurrentHashMap<>();

    private Functions() {
    }

    /** An argument, whose text the engine has evaluated. */
    private static final class Argument extends CompoundVariable {
        private final ThreadLocal<String[]> texts;
        private final int place;

        Argument(ThreadLocal<String[]> texts, int place) {
            this.texts = texts;
            this.place = place;
        }

        @Override
        public String execute() {
            return texts.get()[place];
        }
    }

    private record Call(Function function, ThreadLocal<String[]> texts) {
    }

    // Numbers among the languages: the If Controller's conditions, and functions of classes that the engine does not know.
    private static final int CONDITION = 5;
    private static final int FUNCTION = 6;

    /** Which of these functions are on the class path. */
    static boolean[] known(String[] names) {
        Threads.useClassLoader(Thread.currentThread()); // CompoundVariable looks there
        boolean[] known = new boolean[names.length];
        for (int i = 0; i < names.length; i++) {
            known[i] = CompoundVariable.getFunctionClass(names[i]) != null;
        }
        return known;
    }

    static String run(int language, int instance, String text) throws Exception {
        if (language == CONDITION) {
            return String.valueOf(evaluate(text));
        }
        String[] texts = language == FUNCTION ? parts(text) : new String[] {text, Vars.RESULT};
        Call call = CALLS.get(instance);
        if (call == null) {
            call = language == FUNCTION ? foreign(texts) : made(own(language), texts, 0);
            Call other = CALLS.putIfAbsent(instance, call);
            call = other == null ? call : other;
        }
        call.texts.set(texts);
        JMeterContext context = JMeterContextService.getContext();
        Sampler sampler = language == FUNCTION ? sampler(context) : named(text, context);
        String value = call.function.execute(context.getPreviousResult(), sampler);
        if (language == FUNCTION) {
            return String.valueOf(value);
        }
        if (context.getVariables() instanceof Vars vars && !vars.takeHasResult()) {
            throw new InvalidVariableException("the script failed"); // the function has logged why
        }
        return value;
    }

    /**
     * The current sampler, for a script that mentions it. Making it evaluates the sampler's texts, whose functions then count twice
     * for a script that is in one of these texts and does not use the sampler.
     */
    private static Sampler named(String text, JMeterContext context) {
        return text.contains("ampler") ? context.getCurrentSampler() : null;
    }

    /** A proxy that gets the current sampler only on use, since the call may be in one of the sampler's own texts. */
    private static Sampler sampler(JMeterContext context) {
        return (Sampler) Proxy.newProxyInstance(Functions.class.getClassLoader(), new Class<?>[] {Sampler.class}, (proxy, method, arguments) -> {
            try {
                return method.invoke(context.getCurrentSampler(), arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    /** Splits texts, each of which follows its length and a colon. */
    private static String[] parts(String text) {
        List<String> parts = new ArrayList<>();
        for (int at = 0; at < text.length();) {
            int colon = text.indexOf(':', at);
            int end = colon + 1 + Integer.parseInt(text.substring(at, colon));
            parts.add(text.substring(colon + 1, end));
            at = end;
        }
        return parts.toArray(String[]::new);
    }

    /** A function by its name, the first of the texts; the others are its arguments. */
    private static Call foreign(String[] texts) throws ReflectiveOperationException, InvalidVariableException {
        Class<? extends Function> type = CompoundVariable.getFunctionClass(texts[0]);
        return made(type.getDeclaredConstructor().newInstance(), texts, 1);
    }

    private static Call made(Function function, String[] texts, int first) throws InvalidVariableException {
        Call call = new Call(function, new ThreadLocal<>());
        call.texts.set(texts);
        List<CompoundVariable> arguments = new ArrayList<>();
        for (int place = first; place < texts.length; place++) {
            arguments.add(new Argument(call.texts, place));
        }
        function.setParameters(arguments);
        return call;
    }

    private static boolean evaluate(String condition) throws ReflectiveOperationException {
        Method evaluate = IfController.class.getDeclaredMethod("evaluateCondition", String.class);
        evaluate.setAccessible(true);
        return (boolean) evaluate.invoke(new IfController(), condition);
    }

    private static Function own(int language) {
        return switch (language) {
            case 0 -> new Groovy();
            case 1 -> new BeanShell();
            case 2 -> new JavaScript();
            case 3 -> new Jexl2Function();
            case 4 -> new Jexl3Function();
            default -> throw new IllegalArgumentException("language " + language);
        };
    }
}
