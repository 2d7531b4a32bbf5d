package io.drumfire.jmeterdsl;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A folder in the layout of a JMeter, with links to the jars on this virtual machine's class path. Closing removes it.
 */
final class ClassPathHome implements AutoCloseable {
    private final Path folder;
    private final List<String> classFolders = new ArrayList<>();

    ClassPathHome() throws IOException {
        folder = Files.createTempDirectory("drumfire-jmeter");
        Path lib = folder.resolve("lib");
        Path ext = Files.createDirectories(lib.resolve("ext"));
        for (String entry : classPath().split(File.pathSeparator)) {
            Path file = Paths.get(entry).toAbsolutePath();
            if (Files.isDirectory(file)) {
                classFolders.add(file.toString());
            } else if (Files.isRegularFile(file) && entry.endsWith(".jar")) {
                link(file, (file.getFileName().toString().startsWith("ApacheJMeter_") ? ext : lib).resolve(file.getFileName()));
            }
        }
    }

    Path folder() {
        return folder;
    }

    /** The folders on the class path, as JMeter's {@code user.classpath} takes them. */
    Optional<String> classFolders() {
        return classFolders.isEmpty() ? Optional.empty() : Optional.of(String.join(File.pathSeparator, classFolders));
    }

    /** The class path. Surefire moves it into a jar and stores the original in a property. */
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    private static void link(Path jar, Path link) throws IOException {
        if (Files.exists(link)) {
            return;
        }
        try {
            Files.createSymbolicLink(link, jar);
        } catch (UnsupportedOperationException | IOException unprivileged) {
            Files.copy(jar, link);
        }
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            // Deletes children before their folders.
            List<Path> files = all.collect(Collectors.toList());
            for (int index = files.size() - 1; index >= 0; index--) {
                Files.deleteIfExists(files.get(index));
            }
        }
    }
}
