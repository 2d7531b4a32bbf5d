package io.drumfire.jmeterdsl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static us.abstracta.jmeter.javadsl.JmeterDsl.csvDataSet;
import static us.abstracta.jmeter.javadsl.JmeterDsl.forLoopController;
import static us.abstracta.jmeter.javadsl.JmeterDsl.httpDefaults;
import static us.abstracta.jmeter.javadsl.JmeterDsl.httpSampler;
import static us.abstracta.jmeter.javadsl.JmeterDsl.jsonExtractor;
import static us.abstracta.jmeter.javadsl.JmeterDsl.jsr223PostProcessor;
import static us.abstracta.jmeter.javadsl.JmeterDsl.jtlWriter;
import static us.abstracta.jmeter.javadsl.JmeterDsl.responseAssertion;
import static us.abstracta.jmeter.javadsl.JmeterDsl.testPlan;
import static us.abstracta.jmeter.javadsl.JmeterDsl.threadGroup;
import static us.abstracta.jmeter.javadsl.JmeterDsl.transaction;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.jmeter.protocol.http.util.HTTPConstants;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import us.abstracta.jmeter.javadsl.core.TestPlanStats;

class DrumfireEngineTest {
    private final Set<String> asked = ConcurrentHashMap.newKeySet();
    private HttpServer server;
    private String url;

    @TempDir
    Path folder;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            String body = new String(readAll(exchange.getRequestBody()), StandardCharsets.UTF_8);
            asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + (body.isEmpty() ? "" : " " + body));
            byte[] answer = "{\"id\": 7}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/gone") ? 404 : 200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        url = "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void aThreadGroupGivesItsStatistics() throws Exception {
        TestPlanStats stats = testPlan(threadGroup(2, 10, httpSampler(url))).runIn(new DrumfireEngine());
        assertEquals(20, stats.overall().samplesCount());
        assertEquals(0, stats.overall().errorsCount());
        assertTrue(stats.overall().sampleTimePercentile99().compareTo(Duration.ofSeconds(5)) < 0);
        assertTrue(stats.overall().sampleTime().min().compareTo(stats.overall().sampleTime().median()) <= 0);
        assertTrue(stats.overall().samples().perSecond() > 0);
        assertTrue(stats.overall().receivedBytes().total() > 20 * 9);
        assertTrue(stats.duration().toMillis() > 0);
    }

    @Test
    void labelsFailuresAndTransactionsHaveNumbersOfTheirOwn() throws Exception {
        DrumfireStats stats = (DrumfireStats) testPlan(
                threadGroup(1, 3,
                        transaction("Visit",
                                httpSampler("Home", url),
                                httpSampler("Gone", url + "/gone")))).runIn(new DrumfireEngine().failOn("errors > 1"));
        assertEquals(3, stats.byLabel("Home").samplesCount());
        assertEquals(0, stats.byLabel("Home").errorsCount());
        assertEquals(3, stats.byLabel("Gone").errorsCount());
        assertEquals(3, stats.byLabel("Visit").samplesCount());
        assertEquals(6, stats.overall().samplesCount());
        assertEquals(1, stats.failures().size(), stats.failures().toString());
    }

    @Test
    void bodiesExtractorsAssertionsAndWritersRun() throws Exception {
        testPlan(
                httpDefaults().url(url),
                threadGroup(1, 1,
                        httpSampler("Order", "/orders")
                                .method(HTTPConstants.POST)
                                .body("{\"size\": 1}")
                                .children(jsonExtractor("ORDER", "id"), responseAssertion().containsSubstrings("7")),
                        forLoopController(2, httpSampler("Look", "/orders/${ORDER}")),
                        jtlWriter(folder.toString(), "results.jtl"))).runIn(new DrumfireEngine());
        assertTrue(asked.contains("POST /orders {\"size\": 1}"), asked.toString());
        assertTrue(asked.contains("GET /orders/7"), asked.toString());
        List<String> rows = Files.readAllLines(folder.resolve("results.jtl"));
        assertEquals(3, rows.stream().filter(row -> row.contains("Order") || row.contains("Look")).count(), rows.toString());
    }

    @Test
    void filesAndPropertiesReachThePlan() throws Exception {
        Path users = Files.write(folder.resolve("users.csv"), "name\nada\n".getBytes(StandardCharsets.UTF_8));
        Path properties = Files.write(folder.resolve("stage.properties"), "stage=night\n".getBytes(StandardCharsets.UTF_8));
        testPlan(
                csvDataSet(users.toString()),
                threadGroup(1, 1, httpSampler(url + "/${name}/${__P(stage)}/${__P(size)}")))
                .runIn(new DrumfireEngine().propertiesFile(properties.toString()).prop("size", 3));
        assertTrue(asked.contains("GET /ada/night/3"), asked.toString());
    }

    @Test
    void groovyRunsWithTheJarsOfTheClassPath() throws Exception {
        testPlan(
                threadGroup(1, 1,
                        httpSampler("Home", url)
                                .children(jsr223PostProcessor("vars.put('seen', prev.responseCode + new io.drumfire.jmeterdsl.Suffix())")),
                        httpSampler(url + "/${seen}"))).runIn(new DrumfireEngine());
        assertTrue(asked.contains("GET /200-ok"), asked.toString());
    }

    @Test
    void aLambdaIsRefusedBeforeAnythingIsSent() {
        DrumfireException error = assertThrows(DrumfireException.class, () -> testPlan(
                threadGroup(1, 1,
                        httpSampler(url).children(jsr223PostProcessor(s -> s.vars.put("a", "b"))))).runIn(new DrumfireEngine()));
        assertTrue(error.getMessage().contains("Groovy"), error.getMessage());
        assertEquals(0, asked.size());
    }

    @Test
    void nothingIsLeftInTheCurrentFolder() throws Exception {
        testPlan(threadGroup(1, 1, httpSampler(url))).runIn(new DrumfireEngine().report(folder.resolve("report.html").toString()));
        try (Stream<Path> files = Files.list(java.nio.file.Paths.get(""))) {
            List<String> names = files.map(Path::toString).sorted().collect(Collectors.toList());
            names.remove("target");
            assertEquals(java.util.Arrays.asList("pom.xml", "src"), names);
        }
        assertTrue(Files.size(folder.resolve("report.html")) > 10_000);
    }

    private static byte[] readAll(java.io.InputStream stream) throws IOException {
        java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
        for (int read = stream.read(); read >= 0; read = stream.read()) {
            bytes.write(read);
        }
        return bytes.toByteArray();
    }
}
