package io.drumfire.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.maven.plugin.MojoExecutionException;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.graph.Exclusion;

/**
 * Copies JMeter, plugins and libraries into the folders of a JMeter: {@code bin}, {@code lib}, {@code lib/ext}, {@code
 * lib/junit}.
 */
final class JMeterJars {
    static final String GROUP = "org.apache.jmeter";
    static final String CONFIG = "ApacheJMeter_config";
    private static final String STARTER = "ApacheJMeter";
    private static final List<String> MODULES = Arrays.asList(
            STARTER, "ApacheJMeter_bolt", "ApacheJMeter_components", CONFIG, "ApacheJMeter_core", "ApacheJMeter_ftp",
            "ApacheJMeter_functions", "ApacheJMeter_http", "ApacheJMeter_java", "ApacheJMeter_jdbc", "ApacheJMeter_jms",
            "ApacheJMeter_junit", "ApacheJMeter_ldap", "ApacheJMeter_mail", "ApacheJMeter_mongodb", "ApacheJMeter_native",
            "ApacheJMeter_tcp", "jorphan");
    /** Artifacts in POMs of old libraries that do not exist, or that clash with JMeter's. */
    private static final List<String> NEVER = Arrays.asList(
            "d-haven-managed-pool:d-haven-managed-pool", "event:event", "commons-pool2:commons-pool2",
            "commons-math3:commons-math3", "logkit:logkit", "avalon-logkit:avalon-logkit");
    private static final List<String> LIBRARIES = Arrays.asList("jar", "war", "zip", "ear");

    private final Repositories repositories;
    private final List<Exclusion> excluded = new ArrayList<>();
    private final List<String> ignoredFiles = new ArrayList<>();
    private final boolean optional;
    private final Path home;
    /** The file and version of each copied {@code group:artifact:extension:classifier}. */
    private final Map<String, Copied> copied = new HashMap<>();

    private static final class Copied {
        private final Artifact artifact;
        private final Path file;

        private Copied(Artifact artifact, Path file) {
            this.artifact = artifact;
            this.file = file;
        }
    }

    JMeterJars(Repositories repositories, List<String> excluded, List<String> ignored, boolean optional, Path home) throws MojoExecutionException {
        this.repositories = repositories;
        this.optional = optional;
        this.home = home;
        for (String coordinates : excluded) {
            this.excluded.add(Repositories.exclusion(coordinates));
        }
        for (String coordinates : NEVER) {
            this.excluded.add(Repositories.exclusion(coordinates));
        }
        for (String coordinates : ignored) {
            ignoredFiles.add(repositories.resolve(repositories.versioned(coordinates)).getFile().getName());
        }
    }

    /** The coordinates of the modules of a JMeter version. */
    static List<String> modules(String version) {
        List<String> coordinates = new ArrayList<>();
        MODULES.forEach(module -> coordinates.add(GROUP + ":" + module + ":" + version));
        return coordinates;
    }

    /** Copies JMeter itself and returns the name of the jar that starts it. */
    String copyJMeter(List<String> coordinates, boolean withDependencies) throws MojoExecutionException {
        List<Artifact> modules = new ArrayList<>();
        String starter = null;
        for (String one : coordinates) {
            Artifact artifact = repositories.resolve(repositories.versioned(one));
            if (CONFIG.equals(artifact.getArtifactId())) {
                continue;
            }
            modules.add(artifact);
            if (STARTER.equals(artifact.getArtifactId())) {
                starter = artifact.getFile().getName();
            }
            copy(artifact, folderOf(artifact));
        }
        if (withDependencies) {
            copyDependencies(modules);
        }
        return starter;
    }

    /** Copies plugins or libraries to a folder, and their dependencies to {@code lib}. */
    void copyLibraries(List<String> coordinates, String folder, boolean withDependencies) throws MojoExecutionException {
        for (String one : coordinates) {
            Artifact artifact = repositories.resolve(repositories.versioned(one));
            copy(artifact, folder);
            if (withDependencies) {
                // Exclusions apply to transitive dependencies, not to those that the library itself names.
                List<Artifact> roots = repositories.direct(artifact);
                roots.removeIf(root -> GROUP.equals(root.getGroupId()));
                copyDependencies(roots);
            }
        }
    }

    private void copyDependencies(List<Artifact> roots) throws MojoExecutionException {
        for (Artifact artifact : repositories.resolveWithDependencies(roots, excluded, optional)) {
            boolean isModule = GROUP.equals(artifact.getGroupId()) && artifact.getArtifactId().startsWith("ApacheJMeter_");
            if (!isModule && LIBRARIES.contains(artifact.getExtension())) {
                copy(artifact, folderOf(artifact));
            }
        }
    }

    private static String folderOf(Artifact artifact) {
        if (!GROUP.equals(artifact.getGroupId()) || artifact.getArtifactId().equals("jorphan")) {
            return "lib";
        }
        return STARTER.equals(artifact.getArtifactId()) ? "bin" : "lib/ext";
    }

    /** Copies the artifact unless the same or a newer version is present. Removes an older one. */
    private void copy(Artifact artifact, String folder) throws MojoExecutionException {
        File file = artifact.getFile();
        if (ignoredFiles.contains(file.getName())) {
            return;
        }
        String key = Repositories.key(artifact);
        Copied earlier = copied.get(key);
        try {
            if (earlier != null) {
                if (!Repositories.isOlder(earlier.artifact, artifact)) {
                    return;
                }
                Files.deleteIfExists(earlier.file);
            }
            Path target = home.resolve(folder).resolve(file.getName());
            Files.copy(file.toPath(), target, StandardCopyOption.REPLACE_EXISTING);
            copied.put(key, new Copied(artifact, target));
        } catch (IOException error) {
            throw new MojoExecutionException(file + " cannot be copied to " + home.resolve(folder) + ": " + error.getMessage(), error);
        }
    }
}
