package dev.drumfire.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.MalformedURLException;
import java.net.URL;
import java.util.Arrays;
import java.util.Objects;

import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.protocol.http.sampler.HTTPSampleResult;
import org.apache.jmeter.samplers.SampleResult;

/** Converts sample results between the engine and Java. The engine's side of it is {@code result.rs}. */
final class Results {
    private static final byte[] NOTHING = new byte[0];
    private static final Before[] NONE = {};
    // Indexes among the recorded objects of a result.
    private static final int BODY = 0;
    private static final int OBJECTS = 18;

    // SampleResult lets its times be set only once, and by a clock.
    private static final VarHandle TIME_STAMP = field("timeStamp", long.class);
    private static final VarHandle START_TIME = field("startTime", long.class);
    private static final VarHandle END_TIME = field("endTime", long.class);
    private static final VarHandle IDLE_TIME = field("idleTime", long.class);
    private static final VarHandle ELAPSED_TIME = field("elapsedTime", long.class);
    private static final VarHandle BODY_SIZE = field("bodySize", long.class);
    private static final VarHandle BYTES = field("bytes", long.class);
    private static final VarHandle SAMPLER_DATA = field("samplerData", String.class);
    private static final VarHandle SUB_RESULT_INDEX = field("subResultIndex", int.class);

    /** The address that was read last: successive samples often have the same one, and parsing it costs more than the rest. */
    private static volatile Address lastAddress = new Address("", null);

    private record Address(String text, URL url) {
    }

    private Results() {
    }

    private static VarHandle field(String name, Class<?> type) {
        try {
            return MethodHandles.privateLookupIn(SampleResult.class, MethodHandles.lookup()).findVarHandle(SampleResult.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this JMeter has no SampleResult." + name, e);
        }
    }

    static SampleResult read(byte[] bytes, byte[] body) {
        SampleResult result = read(new Wire.Reader(bytes));
        result.setResponseData(body == null ? NOTHING : body);
        return result;
    }

    private static SampleResult read(Wire.Reader in) {
        boolean isHttp = in.flag();
        SampleResult result = isHttp ? new HTTPSampleResult() : new SampleResult();
        result.setSampleLabel(in.text());
        result.setThreadName(in.text());
        result.setResponseCode(in.text());
        result.setResponseMessage(in.text());
        result.setSuccessful(in.flag());
        result.setDataType(in.text());
        result.setContentType(Objects.requireNonNullElse(in.text(), ""));
        String encoding = in.text();
        if (encoding != null) {
            result.setDataEncoding(encoding);
        }
        readNumbers(result, in);
        String url = in.text();
        if (url != null) {
            result.setURL(url(url));
        }
        result.setRequestHeaders(Objects.requireNonNullElse(in.text(), ""));
        result.setResponseHeaders(Objects.requireNonNullElse(in.text(), ""));
        String samplerData = in.text();
        String method = in.text();
        String query = in.text();
        String cookies = in.text();
        String location = in.text();
        if (result instanceof HTTPSampleResult http) {
            http.setHTTPMethod(method);
            http.setQueryString(query);
            http.setCookies(cookies);
            http.setRedirectLocation(location);
        }
        if (samplerData != null) {
            result.setSamplerData(samplerData);
        }
        result.setResultFileName(Objects.requireNonNullElse(in.text(), ""));
        for (int left = in.number(); left > 0; left--) {
            result.addAssertionResult(readAssertion(in));
        }
        for (int left = in.number(); left > 0; left--) {
            SampleResult child = read(in);
            child.setResponseData(Objects.requireNonNullElse(in.bytes(), NOTHING));
            result.storeSubResult(child, false);
        }
        return result;
    }

    private static void readNumbers(SampleResult result, Wire.Reader in) {
        long start = in.large();
        START_TIME.set(result, start);
        TIME_STAMP.set(result, start);
        END_TIME.set(result, in.large());
        ELAPSED_TIME.set(result, in.large());
        IDLE_TIME.set(result, in.large());
        result.setLatency(in.large());
        result.setConnectTime(in.large());
        BYTES.set(result, in.large());
        result.setSentBytes(in.large());
        result.setHeadersSize((int) in.large());
        result.setBodySize(in.large());
        result.setGroupThreads(in.number());
        result.setAllThreads(in.number());
        result.setSampleCount(in.number());
        SUB_RESULT_INDEX.set(result, in.number());
    }

    private static URL url(String text) {
        Address last = lastAddress;
        if (!last.text.equals(text)) {
            last = new Address(text, parsed(text));
            lastAddress = last;
        }
        return last.url;
    }

    private static URL parsed(String text) {
        try {
            return new URL(text);
        } catch (MalformedURLException e) {
            return null;
        }
    }

    private static AssertionResult readAssertion(Wire.Reader in) {
        AssertionResult assertion = new AssertionResult(in.text());
        assertion.setFailure(in.flag());
        assertion.setError(in.flag());
        String message = in.text();
        if (message != null) {
            assertion.setFailureMessage(message);
        }
        return assertion;
    }

    /** Everything but the response body of the result itself. */
    static byte[] write(SampleResult result) {
        Wire.Writer out = new Wire.Writer();
        write(result, out);
        out.flag(result.isIgnore());
        out.flag(result.isStopThread()).flag(result.isStopTest()).flag(result.isStopTestNow());
        out.number(result.getTestLogicalAction().ordinal());
        return out.done();
    }

    private static void write(SampleResult result, Wire.Writer out) {
        HTTPSampleResult http = result instanceof HTTPSampleResult known ? known : null;
        out.flag(http != null);
        out.text(String.valueOf(result.getSampleLabel())).text(result.getThreadName());
        out.text(result.getResponseCode()).text(ShownNames.in(result.getResponseMessage()));
        out.flag(result.isSuccessful());
        out.text(result.getDataType()).text(emptyAsNull(result.getContentType())).text(result.getDataEncodingNoDefault());
        writeNumbers(result, out);
        URL url = result.getURL();
        out.text(url == null ? null : url.toString());
        out.text(emptyAsNull(result.getRequestHeaders())).text(emptyAsNull(result.getResponseHeaders()));
        out.text((String) SAMPLER_DATA.get(result));
        out.text(http == null ? null : http.getHTTPMethod());
        out.text(http == null ? null : emptyAsNull(http.getQueryString()));
        out.text(http == null ? null : emptyAsNull(http.getCookies()));
        out.text(http == null ? null : http.getRedirectLocation());
        out.text(emptyAsNull(result.getResultFileName()));
        AssertionResult[] assertions = result.getAssertionResults();
        out.number(assertions.length);
        for (AssertionResult assertion : assertions) {
            out.text(assertion.getName()).flag(assertion.isFailure()).flag(assertion.isError()).text(ShownNames.in(assertion.getFailureMessage()));
        }
        SampleResult[] children = result.getSubResults();
        out.number(children.length);
        for (SampleResult child : children) {
            write(child, out);
            out.bytes(child.getResponseData());
        }
    }

    private static void writeNumbers(SampleResult result, Wire.Writer out) {
        out.large(result.getStartTime()).large(result.getEndTime());
        out.large(result.getTime()).large(result.getIdleTime());
        out.large(result.getLatency()).large(result.getConnectTime());
        out.large((long) BYTES.get(result)).large(result.getSentBytes());
        out.large(result.getHeadersSize()).large((long) BODY_SIZE.get(result));
        out.number(result.getGroupThreads()).number(result.getAllThreads());
        out.number(result.getSampleCount()).number((int) SUB_RESULT_INDEX.get(result));
    }

    private static String emptyAsNull(String text) {
        return text == null || text.isEmpty() ? null : text;
    }

    /** A snapshot of a result, to detect changes: a replaced object counts as a change, new contents of an object do not. */
    static final class Before {
        private final Object[] objects;
        private final long[] numbers;
        private final Before[] children;
        private final boolean[] verdicts;

        Before(SampleResult result) {
            objects = objects(result);
            numbers = numbers(result);
            AssertionResult[] assertions = result.getAssertionResults();
            verdicts = verdicts(assertions);
            SampleResult[] subResults = result.getSubResults();
            children = subResults.length == 0 ? NONE : new Before[subResults.length];
            for (int i = 0; i < children.length; i++) {
                children[i] = new Before(subResults[i]);
            }
        }

        /** Whether the result is unchanged, except for the body of its response. */
        boolean is(SampleResult result) {
            SampleResult[] subResults = result.getSubResults();
            if (subResults.length != children.length || !Arrays.equals(numbers, numbers(result)) || !areSame(objects, objects(result))
                || !Arrays.equals(verdicts, verdicts(result.getAssertionResults()))) {
                return false;
            }
            for (int i = 0; i < children.length; i++) {
                if (!children[i].is(subResults[i]) || children[i].objects[BODY] != subResults[i].getResponseData()) {
                    return false;
                }
            }
            return true;
        }

        /** The body of the response. */
        Object body() {
            return objects[BODY];
        }

        private static boolean areSame(Object[] ones, Object[] others) {
            if (ones.length != others.length) {
                return false;
            }
            for (int i = BODY + 1; i < ones.length; i++) {
                if (ones[i] != others[i]) {
                    return false;
                }
            }
            return true;
        }

        private static Object[] objects(SampleResult result) {
            AssertionResult[] assertions = result.getAssertionResults();
            Object[] all = new Object[OBJECTS + 2 * assertions.length];
            all[BODY] = result.getResponseData();
            int next = BODY;
            all[++next] = result.getSampleLabel();
            all[++next] = result.getThreadName();
            all[++next] = result.getResponseCode();
            all[++next] = result.getResponseMessage();
            all[++next] = result.getDataType();
            all[++next] = result.getContentType();
            all[++next] = result.getDataEncodingNoDefault();
            all[++next] = result.getURL();
            all[++next] = result.getRequestHeaders();
            all[++next] = result.getResponseHeaders();
            all[++next] = SAMPLER_DATA.get(result);
            all[++next] = result.getResultFileName();
            all[++next] = result.getTestLogicalAction();
            if (result instanceof HTTPSampleResult http) {
                all[++next] = http.getHTTPMethod();
                all[++next] = http.getQueryString();
                all[++next] = http.getCookies();
                all[++next] = http.getRedirectLocation();
            }
            next = OBJECTS;
            for (AssertionResult assertion : assertions) {
                all[next++] = assertion.getName();
                all[next++] = assertion.getFailureMessage();
            }
            return all;
        }

        private static long[] numbers(SampleResult result) {
            long flags = (result.isSuccessful() ? 1 : 0) + (result.isIgnore() ? 2 : 0) + (result.isStopThread() ? 4 : 0)
                + (result.isStopTest() ? 8 : 0) + (result.isStopTestNow() ? 16 : 0);
            return new long[] {
                flags, result.getStartTime(), result.getEndTime(), result.getTime(), result.getIdleTime(), result.getLatency(),
                result.getConnectTime(), (long) BYTES.get(result), result.getSentBytes(), result.getHeadersSize(),
                (long) BODY_SIZE.get(result), result.getGroupThreads(), result.getAllThreads(), result.getSampleCount(),
                (int) SUB_RESULT_INDEX.get(result),
            };
        }

        private static boolean[] verdicts(AssertionResult[] assertions) {
            boolean[] all = new boolean[2 * assertions.length];
            for (int i = 0; i < assertions.length; i++) {
                all[2 * i] = assertions[i].isFailure();
                all[2 * i + 1] = assertions[i].isError();
            }
            return all;
        }
    }
}
