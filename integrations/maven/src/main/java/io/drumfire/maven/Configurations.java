package io.drumfire.maven;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.maven.plugin.MojoExecutionException;

/**
 * {@code target/config.json}, through which the goals pass their results to each other. It has the fields of
 * jmeter-maven-plugin 3.x, so that {@code results} of either plugin can read the output of the other's {@code
 * jmeter}.
 */
final class Configurations {
    private static final Gson GSON = new Gson();

    private List<Configuration> configurations = new ArrayList<>();

    /** The configuration of one execution of {@code configure}. */
    static final class Configuration {
        String executionID;
        String jmeterDirectoryPath;
        String runtimeJarName;
        boolean resultsOutputIsCSVFormat;
        boolean generateReports;
        List<String> resultFilesLocations = new ArrayList<>();
        Map<String, PropertiesMapping> propertiesMap = new LinkedHashMap<>();
        /** Describes runs that failed by their own rules; {@code results} fails the build with these sentences. */
        List<String> failures = new ArrayList<>();

        File home() {
            return new File(jmeterDirectoryPath);
        }

        /**
         * Sets the environment of a run so that it uses JMeter's classes from this configuration, if it has them.
         */
        void into(Map<String, String> environment) {
            if (runtimeJarName != null) {
                environment.put("JMETER_HOME", jmeterDirectoryPath);
            }
        }

        File bin() {
            return new File(jmeterDirectoryPath, "bin");
        }
    }

    /** The properties of one file: those in the POM, and all properties in the file. */
    static final class PropertiesMapping {
        Map<String, String> additionalProperties = new LinkedHashMap<>();
        PropertiesHolder propertiesFile = new PropertiesHolder();
    }

    /** The nesting level in which jmeter-maven-plugin stores the properties of a file. */
    static final class PropertiesHolder {
        Properties properties = new Properties();
    }

    /** Reads the file. If it does not exist, there are no configurations. */
    static Configurations read(File file) throws MojoExecutionException {
        if (!file.exists()) {
            return new Configurations();
        }
        try {
            Configurations read = GSON.fromJson(new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8), Configurations.class);
            return read == null ? new Configurations() : read;
        } catch (IOException | JsonParseException error) {
            throw new MojoExecutionException(file + " cannot be read: " + error.getMessage() + "; remove it", error);
        }
    }

    /** The configuration with this name. */
    Optional<Configuration> find(String executionId) {
        return configurations.stream().filter(one -> executionId.equals(one.executionID)).findFirst();
    }

    /** Replaces the configuration with the same name and writes the file. */
    void write(Configuration configuration, File file) throws MojoExecutionException {
        configurations.removeIf(one -> configuration.executionID.equals(one.executionID));
        configurations.add(configuration);
        try {
            Files.createDirectories(file.getAbsoluteFile().toPath().getParent());
            Files.write(file.toPath(), GSON.toJson(this).getBytes(StandardCharsets.UTF_8));
        } catch (IOException error) {
            throw new MojoExecutionException(file + " cannot be written: " + error.getMessage(), error);
        }
    }
}
