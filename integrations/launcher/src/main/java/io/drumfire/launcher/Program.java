package io.drumfire.launcher;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Locale;
import java.util.Optional;

/** The Drumfire program on this machine. */
public final class Program {
    /** The system property that names the program's file. */
    public static final String PROPERTY = "drumfire.binary";
    /** The environment variable that names the program's file. */
    public static final String VARIABLE = "DRUMFIRE_BINARY";
    /** How to get the program, for messages. */
    public static final String REMEDY =
            "install Drumfire so that `drumfire` is on the PATH, or name its file with -D" + PROPERTY + "=FILE or " + VARIABLE;

    private Program() {
    }

    /**
     * The program that the system property or the environment variable names.
     *
     * @throws IllegalArgumentException if the named file does not exist
     */
    public static Optional<Path> configured() {
        Optional<Path> named = named(PROPERTY, System.getProperty(PROPERTY));
        return named.isPresent() ? named : named(VARIABLE, System.getenv(VARIABLE));
    }

    /** The first program named {@code drumfire} in the folders of a search path such as the variable {@code PATH}. */
    public static Optional<Path> on(String searchPath) {
        if (searchPath == null) {
            return Optional.empty();
        }
        String name = isWindows() ? "drumfire.exe" : "drumfire";
        for (String folder : searchPath.split(File.pathSeparator)) {
            Path file = Paths.get(folder.isEmpty() ? "." : folder, name);
            if (Files.isRegularFile(file) && Files.isExecutable(file)) {
                return Optional.of(file.toAbsolutePath());
            }
        }
        return Optional.empty();
    }

    /**
     * The configured program, or else the one on the PATH.
     *
     * @throws IllegalStateException if there is none; the message says how to get it
     */
    public static Path find() {
        Optional<Path> configured = configured();
        if (configured.isPresent()) {
            return configured.get();
        }
        return on(System.getenv("PATH")).orElseThrow(() -> new IllegalStateException("Drumfire is not installed on this machine; " + REMEDY));
    }

    /** The classifier of this machine's program among the Maven artifacts, such as {@code linux-x86_64}. */
    public static String classifier() {
        return classifier(System.getProperty("os.name"), System.getProperty("os.arch"));
    }

    static String classifier(String system, String cpu) {
        String lower = system.toLowerCase(Locale.ROOT);
        String os = lower.contains("win") ? "windows" : lower.contains("mac") ? "macos" : "linux";
        return os + "-" + ("amd64".equals(cpu) ? "x86_64" : "arm64".equals(cpu) ? "aarch64" : cpu);
    }

    private static boolean isWindows() {
        return System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("win");
    }

    private static Optional<Path> named(String by, String file) {
        if (file == null || file.isEmpty()) {
            return Optional.empty();
        }
        Path path = Paths.get(file).toAbsolutePath();
        if (!Files.isRegularFile(path)) {
            throw new IllegalArgumentException(by + " names `" + file + "`, which is not a file; correct it");
        }
        return Optional.of(path);
    }
}
