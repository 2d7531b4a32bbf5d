package dev.drumfire.jvm;

import java.lang.reflect.Field;
import java.net.MalformedURLException;
import java.net.URL;
import java.util.Objects;

import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.protocol.http.sampler.HTTPSampleResult;
import org.apache.jmeter.samplers.SampleResult;

/** Sample results on their way between the engine and Java. The engine's side of it is {@code result.rs}. */
final class Results {
    private static final byte[] NOTHING = new byte[0];

    // SampleResult lets its times be set only once, and by a clock.
    private static final Field TIME_STAMP = field(SampleResult.class, "timeStamp");
    private static final Field START_TIME = field(SampleResult.class, "startTime");
    private static final Field END_TIME = field(SampleResult.class, "endTime");
    private static final Field IDLE_TIME = field(SampleResult.class, "idleTime");
    private static final Field ELAPSED_TIME = field(SampleResult.class, "elapsedTime");
    private static final Field BODY_SIZE = field(SampleResult.class, "bodySize");
    private static final Field BYTES = field(SampleResult.class, "bytes");
    private static final Field SAMPLER_DATA = field(SampleResult.class, "samplerData");
    private static final Field SUB_RESULT_INDEX = field(SampleResult.class, "subResultIndex");

    private Results() {
    }

    private static Field field(Class<?> owner, String name) {
        try {
            Field field = owner.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException("this JMeter has no " + owner.getSimpleName() + '.' + name, e);
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
        try {
            long start = in.large();
            START_TIME.setLong(result, start);
            TIME_STAMP.setLong(result, start);
            END_TIME.setLong(result, in.large());
            ELAPSED_TIME.setLong(result, in.large());
            IDLE_TIME.setLong(result, in.large());
            result.setLatency(in.large());
            result.setConnectTime(in.large());
            BYTES.setLong(result, in.large());
            result.setSentBytes(in.large());
            result.setHeadersSize((int) in.large());
            result.setBodySize(in.large());
            result.setGroupThreads(in.number());
            result.setAllThreads(in.number());
            result.setSampleCount(in.number());
            SUB_RESULT_INDEX.setInt(result, in.number());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static URL url(String text) {
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
        out.text(result.getResponseCode()).text(result.getResponseMessage());
        out.flag(result.isSuccessful());
        out.text(result.getDataType()).text(emptyAsNull(result.getContentType())).text(result.getDataEncodingNoDefault());
        writeNumbers(result, out);
        URL url = result.getURL();
        out.text(url == null ? null : url.toString());
        out.text(emptyAsNull(result.getRequestHeaders())).text(emptyAsNull(result.getResponseHeaders()));
        try {
            out.text((String) SAMPLER_DATA.get(result));
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        out.text(http == null ? null : http.getHTTPMethod());
        out.text(http == null ? null : emptyAsNull(http.getQueryString()));
        out.text(http == null ? null : emptyAsNull(http.getCookies()));
        out.text(http == null ? null : http.getRedirectLocation());
        out.text(emptyAsNull(result.getResultFileName()));
        AssertionResult[] assertions = result.getAssertionResults();
        out.number(assertions.length);
        for (AssertionResult assertion : assertions) {
            out.text(assertion.getName()).flag(assertion.isFailure()).flag(assertion.isError()).text(assertion.getFailureMessage());
        }
        SampleResult[] children = result.getSubResults();
        out.number(children.length);
        for (SampleResult child : children) {
            write(child, out);
            out.bytes(child.getResponseData());
        }
    }

    private static void writeNumbers(SampleResult result, Wire.Writer out) {
        try {
            out.large(result.getStartTime()).large(result.getEndTime());
            out.large(result.getTime()).large(result.getIdleTime());
            out.large(result.getLatency()).large(result.getConnectTime());
            out.large(BYTES.getLong(result)).large(result.getSentBytes());
            out.large(result.getHeadersSize()).large(BODY_SIZE.getLong(result));
            out.number(result.getGroupThreads()).number(result.getAllThreads());
            out.number(result.getSampleCount()).number(SUB_RESULT_INDEX.getInt(result));
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String emptyAsNull(String text) {
        return text == null || text.isEmpty() ? null : text;
    }
}
