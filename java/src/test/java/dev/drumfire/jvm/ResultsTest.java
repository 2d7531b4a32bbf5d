package dev.drumfire.jvm;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;

import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.protocol.http.sampler.HTTPSampleResult;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.threads.JMeterContext.TestLogicalAction;
import org.junit.Before;
import org.junit.Test;

/** Results come back from Java as they were, and changes that a script makes in them are noticed. */
public class ResultsTest {
    private User user;

    @Before
    public void start() throws Exception {
        user = Natives.user();
    }

    private static SampleResult sample() {
        HTTPSampleResult result = new HTTPSampleResult();
        result.setSampleLabel("Home");
        result.setThreadName("Users 1-1");
        result.setResponseCode("404");
        result.setResponseMessage("Nicht da: ü");
        result.setDataType(SampleResult.TEXT);
        result.setContentType("text/html; charset=utf-8");
        result.setDataEncoding("ISO-8859-2");
        result.setRequestHeaders("A: b\n");
        result.setResponseHeaders("HTTP/1.1 404\n");
        result.setHTTPMethod("POST");
        result.setQueryString("a=b");
        result.setCookies("c=d");
        result.setLatency(7);
        result.setSentBytes(1L << 40);
        result.setSampleCount(2);
        try {
            result.setURL(new URL("http://127.0.0.1:1/p?q=1"));
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
        AssertionResult assertion = new AssertionResult("Status");
        assertion.setFailure(true);
        assertion.setFailureMessage("404");
        result.addAssertionResult(assertion);
        SampleResult child = new SampleResult();
        child.setSampleLabel("Part");
        child.setResponseData(new byte[] {1, 2});
        result.storeSubResult(child, false);
        return result;
    }

    private static byte[] body() {
        return "body".getBytes(StandardCharsets.UTF_8);
    }

    @Test
    public void allOfAResultComesBack() {
        SampleResult there = Results.read(Results.write(sample()), body());
        assertArrayEquals(Results.write(sample()), Results.write(there));
        assertEquals("http://127.0.0.1:1/p?q=1", there.getUrlAsString());
        assertEquals("POST", ((HTTPSampleResult) there).getHTTPMethod());
        assertEquals("ISO-8859-2", there.getDataEncodingWithDefault());
        assertEquals("body", there.getResponseDataAsString());
        assertEquals("404", there.getAssertionResults()[0].getFailureMessage());
        assertArrayEquals(new byte[] {1, 2}, there.getSubResults()[0].getResponseData());
        assertEquals(1L << 40, there.getSentBytes());
    }

    @Test
    public void everyChangeIsSeen() {
        List<Consumer<SampleResult>> changes = List.of(
            result -> result.setSampleLabel("other"),
            result -> result.setSuccessful(true),
            result -> result.setResponseCode("200"),
            result -> result.setResponseMessage("OK"),
            result -> result.setIgnore(),
            result -> result.setStopTest(true),
            result -> result.setLatency(8),
            result -> result.setEndTime(result.getEndTime() + 1),
            result -> result.setTestLogicalAction(TestLogicalAction.BREAK_CURRENT_LOOP),
            result -> result.setRequestHeaders(""),
            result -> result.setSamplerData("x"),
            result -> ((HTTPSampleResult) result).setCookies("none"),
            result -> result.getAssertionResults()[0].setFailure(false),
            result -> result.addAssertionResult(new AssertionResult("more")),
            result -> result.getSubResults()[0].setResponseCode("500"),
            result -> result.getSubResults()[0].setResponseData(new byte[1]),
            result -> result.storeSubResult(new SampleResult(), false));
        for (int i = 0; i < changes.size(); i++) {
            SampleResult result = Results.read(Results.write(sample()), body());
            Results.Before before = new Results.Before(result);
            assertTrue(before.is(result));
            changes.get(i).accept(result);
            assertFalse("change " + i, before.is(result));
        }
    }

    private void call(Consumer<SampleResult> script) {
        Natives.newResult = null;
        Natives.newBody = null;
        user.begin(true);
        script.accept(user.context.getPreviousResult());
        user.end();
    }

    @Test
    public void onlyWhatWasChangedGoesToTheEngine() {
        Natives.result = Results.write(sample());
        Natives.body = body();
        call(SampleResult::getResponseDataAsString);
        assertNull(Natives.newResult);
        call(result -> result.setResponseMessage("changed"));
        assertNotNull(Natives.newResult);
        assertNull("the body is the engine's still", Natives.newBody);
        assertEquals("changed", Results.read(Natives.newResult, null).getResponseMessage());
        call(result -> result.setResponseData("new", "UTF-8"));
        assertArrayEquals("new".getBytes(StandardCharsets.UTF_8), Natives.newBody);
    }

    @Test
    public void aResultIsMadeOnceAndOnlyIfItIsAskedFor() {
        Natives.result = Results.write(sample());
        user.begin(true);
        user.end();
        assertEquals(0, Natives.resultReads);
        call(result -> assertEquals(result, user.context.getPreviousResult()));
        assertEquals(1, Natives.resultReads);
    }
}
