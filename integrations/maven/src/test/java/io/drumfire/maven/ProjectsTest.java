package io.drumfire.maven;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.shared.invoker.DefaultInvocationRequest;
import org.apache.maven.shared.invoker.DefaultInvoker;
import org.apache.maven.shared.invoker.InvocationRequest;
import org.apache.maven.shared.invoker.MavenInvocationException;
import org.codehaus.plexus.util.FileUtils;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Builds every project of {@code src/it}. A build must leave the same files as one with jmeter-maven-plugin, which are
 * recorded in {@code expected.txt}. {@code -Ddrumfire.compare=true} also builds with that plugin, and {@code
 * -Ddrumfire.compare=record} records its files again. Projects named {@code own-…} use features that only this plugin has.
 */
class ProjectsTest {
    private static final Path PROJECTS = Paths.get("src/it");
    private static final Path WORK = Paths.get("target/it");
    private static final String COMPARE = System.getProperty("drumfire.compare", "");
    private static final String[] OURS = {"io.drumfire", "drumfire-maven-plugin", System.getProperty("drumfire.plugin.version")};
    private static final String[] ORIGINAL = {"com.lazerycode.jmeter", "jmeter-maven-plugin", "3.8.0"};

    private static HttpServer server;

    @BeforeAll
    static void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = "hello".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/gone") ? 404 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterAll
    static void stop() {
        server.stop(0);
    }

    @TestFactory
    Stream<DynamicTest> projects() throws IOException {
        String only = System.getProperty("project", "");
        try (Stream<Path> folders = Files.list(PROJECTS)) {
            List<Path> projects = folders.filter(folder -> folder.getFileName().toString().startsWith(only)).sorted().collect(Collectors.toList());
            return projects.stream().map(project -> DynamicTest.dynamicTest(project.getFileName().toString(), () -> check(project)));
        }
    }

    private static void check(Path project) throws Exception {
        Path expected = project.resolve("expected.txt");
        boolean isOwn = project.getFileName().toString().startsWith("own-");
        if (!isOwn && !COMPARE.isEmpty()) {
            String recorded = build(project, "original", ORIGINAL);
            if (COMPARE.equals("record")) {
                Files.write(expected, recorded.getBytes(StandardCharsets.UTF_8));
            }
            assertEquals(text(expected), recorded, "jmeter-maven-plugin");
        }
        String ours = build(project, "ours", OURS);
        if (isOwn && COMPARE.equals("record")) {
            Files.write(expected, ours.getBytes(StandardCharsets.UTF_8));
        }
        assertEquals(text(expected), ours, "drumfire-maven-plugin");
    }

    /** Builds a copy of the project with the plugin, and describes how the build ended and which files it left. */
    private static String build(Path project, String kind, String[] plugin) throws IOException, MavenInvocationException {
        Path place = WORK.resolve(kind).resolve(project.getFileName()).toAbsolutePath();
        FileUtils.deleteDirectory(place.toFile());
        FileUtils.copyDirectoryStructure(project.toFile(), place.toFile());
        Path pom = place.resolve("pom.xml");
        String changed = text(pom).replace("@groupId@", plugin[0]).replace("@artifactId@", plugin[1]).replace("@version@", plugin[2]);
        Files.write(pom, changed.getBytes(StandardCharsets.UTF_8));
        InvocationRequest request = new DefaultInvocationRequest();
        request.setPomFile(pom.toFile());
        request.addArg("verify");
        request.setBatchMode(true);
        request.setLocalRepositoryDirectory(new File(System.getProperty("maven.repo.local")));
        Properties properties = new Properties();
        properties.setProperty("port", String.valueOf(server.getAddress().getPort()));
        properties.setProperty("jmeter.version", "5.6.3");
        properties.setProperty("drumfire.binary", System.getProperty("drumfire.binary", ""));
        request.setProperties(properties);
        StringBuilder log = new StringBuilder();
        request.setOutputHandler(line -> log.append(line).append('\n'));
        DefaultInvoker invoker = new DefaultInvoker();
        invoker.setMavenHome(new File(System.getProperty("maven.home")));
        int code = invoker.execute(request).getExitCode();
        Files.write(place.resolve("build.log"), log.toString().getBytes(StandardCharsets.UTF_8));
        return "build: " + (code == 0 ? "SUCCESS" : "FAILURE") + "\n" + new Leftovers(place.resolve("target")).describe();
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    static List<String> lines(Path file) throws IOException {
        return new ArrayList<>(Files.readAllLines(file, StandardCharsets.UTF_8));
    }
}
