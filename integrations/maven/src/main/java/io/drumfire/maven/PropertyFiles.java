package io.drumfire.maven;

import io.drumfire.maven.Configurations.PropertiesMapping;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.jar.JarFile;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.logging.Log;

/**
 * Writes JMeter's property files for a build: JMeter's own, modified by the project's files and by the POM.
 */
final class PropertyFiles {
    /** Properties that only the plugin sets. */
    private static final List<String> RESERVED = Arrays.asList(
            "java.class.path", "user.dir", "jmeterengine.remote.system.exit", "jmeterengine.stopfail.system.exit");

    private final File jmeterConfig;
    private final File folder;
    private final boolean replaces;
    private final Log log;

    /**
     * @param jmeterConfig JMeter's jar with the property files
     * @param folder the folder of the project's own property files
     * @param replaces whether a file of the project replaces JMeter's, instead of being added to it
     */
    PropertyFiles(File jmeterConfig, File folder, boolean replaces, Log log) {
        this.jmeterConfig = jmeterConfig;
        this.folder = folder;
        this.replaces = replaces;
        this.log = log;
    }

    /** Writes the file {@code name} to {@code bin} unless it would be empty, and returns its properties. */
    PropertiesMapping write(String name, Map<String, String> added, File bin) throws MojoExecutionException {
        PropertiesMapping mapping = new PropertiesMapping();
        Properties properties = mapping.propertiesFile.properties;
        try {
            File own = new File(folder, name);
            if (!own.exists() || !replaces) {
                loadDefaults(properties, name);
            }
            if (own.exists()) {
                load(properties, own);
            }
            added.forEach((key, value) -> add(mapping, key, value));
            dropReserved(properties);
            if (!properties.isEmpty()) {
                store(properties, new File(bin, name));
            }
        } catch (IOException error) {
            throw new MojoExecutionException("The property file " + name + " cannot be created: " + error.getMessage(), error);
        }
        return mapping;
    }

    private void loadDefaults(Properties properties, String name) throws IOException {
        try (JarFile jar = new JarFile(jmeterConfig)) {
            if (jar.getEntry("bin/" + name) == null) {
                return;
            }
            try (InputStream stream = jar.getInputStream(jar.getEntry("bin/" + name))) {
                properties.load(stream);
            }
        }
    }

    private static void load(Properties properties, File file) throws IOException {
        try (InputStream stream = Files.newInputStream(file.toPath())) {
            properties.load(stream);
        }
    }

    private static void store(Properties properties, File file) throws IOException {
        try (OutputStream stream = Files.newOutputStream(file.toPath())) {
            properties.store(stream, null);
        }
    }

    /**
     * Adds a property from the POM. One without a value, such as an undefined Maven property, has no effect.
     */
    private void add(PropertiesMapping mapping, String key, String value) {
        if (value == null || value.trim().isEmpty()) {
            return;
        }
        Properties properties = mapping.propertiesFile.properties;
        for (String known : properties.stringPropertyNames()) {
            if (!known.equals(key) && known.equalsIgnoreCase(key)) {
                log.warn("The property `" + key + "` differs from `" + known + "` only in case; set the one that the plan reads");
            }
        }
        mapping.additionalProperties.put(key, value);
        properties.setProperty(key, value);
    }

    private void dropReserved(Properties properties) {
        for (String name : RESERVED) {
            if (properties.remove(name) != null) {
                log.warn("The property `" + name + "` is reserved and not set; remove it from the configuration");
            }
        }
    }
}
