package io.drumfire.maven;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.maven.artifact.versioning.ComparableVersion;
import org.apache.maven.plugin.MojoExecutionException;
import org.eclipse.aether.DefaultRepositorySystemSession;
import org.eclipse.aether.RepositoryException;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.graph.DependencyNode;
import org.eclipse.aether.graph.Exclusion;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactDescriptorRequest;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.VersionRangeRequest;
import org.eclipse.aether.util.artifact.JavaScopes;
import org.eclipse.aether.util.graph.transformer.ConflictResolver;
import org.eclipse.aether.version.Version;

/** The repositories of a build; resolves artifacts with their dependencies. */
final class Repositories {
    private final RepositorySystem system;
    private final RepositorySystemSession session;
    private final List<RemoteRepository> repositories;

    Repositories(RepositorySystem system, RepositorySystemSession session, List<RemoteRepository> repositories) {
        this.system = system;
        this.session = session;
        this.repositories = repositories;
    }

    /** The artifact. If its version is a range, the highest version in it. */
    Artifact versioned(String coordinates) throws MojoExecutionException {
        try {
            Artifact artifact = new DefaultArtifact(coordinates);
            VersionRangeRequest request = new VersionRangeRequest(artifact, repositories, null);
            Version highest = system.resolveVersionRange(session, request).getHighestVersion();
            return highest == null ? artifact : artifact.setVersion(highest.toString());
        } catch (RepositoryException | IllegalArgumentException error) {
            throw failed(coordinates, error);
        }
    }

    /** Resolves the artifact without dependencies. */
    Artifact resolve(Artifact artifact) throws MojoExecutionException {
        try {
            return system.resolveArtifact(session, new ArtifactRequest(artifact, repositories, null)).getArtifact();
        } catch (RepositoryException error) {
            throw failed(artifact.toString(), error);
        }
    }

    /** Resolves artifacts with their runtime dependencies. Of several versions it takes the newest, as in JMeter's own folder. */
    Collection<Artifact> resolveWithDependencies(List<Artifact> roots, List<Exclusion> excluded, boolean optional) throws MojoExecutionException {
        CollectRequest collect = new CollectRequest();
        collect.setRepositories(repositories);
        for (Artifact root : roots) {
            collect.addDependency(new Dependency(root, JavaScopes.RUNTIME, false, excluded));
        }
        // Verbose graphs keep the versions that Maven would drop in favour of the nearest one.
        DefaultRepositorySystemSession verbose = new DefaultRepositorySystemSession(session);
        verbose.setConfigProperty(ConflictResolver.CONFIG_PROP_VERBOSE, true);
        try {
            Map<String, Artifact> newest = new LinkedHashMap<>();
            for (DependencyNode node : system.collectDependencies(verbose, collect).getRoot().getChildren()) {
                gather(node, optional, newest);
            }
            Map<String, Artifact> resolved = new LinkedHashMap<>();
            for (Map.Entry<String, Artifact> entry : newest.entrySet()) {
                resolved.put(entry.getKey(), resolve(entry.getValue()));
            }
            return resolved.values();
        } catch (RepositoryException error) {
            throw failed(roots.toString(), error);
        }
    }

    private static void gather(DependencyNode node, boolean optional, Map<String, Artifact> newest) {
        if (node.getDependency().isOptional() && !optional) {
            return;
        }
        newest.merge(key(node.getArtifact()), node.getArtifact(), (one, other) -> isOlder(one, other) ? other : one);
        node.getChildren().forEach(child -> gather(child, optional, newest));
    }

    /** The part of coordinates that two versions of an artifact share. */
    static String key(Artifact artifact) {
        return String.join(":", artifact.getGroupId(), artifact.getArtifactId(), artifact.getExtension(), artifact.getClassifier());
    }

    /** Whether the first is an older version than the second. */
    static boolean isOlder(Artifact first, Artifact second) {
        return new ComparableVersion(first.getVersion()).compareTo(new ComparableVersion(second.getVersion())) < 0;
    }

    /** The dependencies in the artifact's POM, including provided ones, such as the API that a driver implements. */
    List<Artifact> direct(Artifact artifact) throws MojoExecutionException {
        try {
            List<Artifact> direct = new ArrayList<>();
            ArtifactDescriptorRequest request = new ArtifactDescriptorRequest(artifact, repositories, null);
            for (Dependency dependency : system.readArtifactDescriptor(session, request).getDependencies()) {
                if (!JavaScopes.TEST.equals(dependency.getScope()) && !JavaScopes.SYSTEM.equals(dependency.getScope()) && !dependency.isOptional()) {
                    direct.add(dependency.getArtifact());
                }
            }
            return direct;
        } catch (RepositoryException error) {
            throw failed(artifact.toString(), error);
        }
    }

    /** Parses {@code group:artifact} as an exclusion; {@code *} stands for any artifact. */
    static Exclusion exclusion(String coordinates) throws MojoExecutionException {
        String[] parts = coordinates.trim().split(":");
        if (parts.length < 2) {
            throw new MojoExecutionException("The excluded artifact `" + coordinates + "` is not understood; write GROUP:ARTIFACT");
        }
        return new Exclusion(parts[0], parts[1], "*", "*");
    }

    /** These repositories and the POM's {@code <additionalRepositories>}, with the mirrors and credentials from the settings. */
    Repositories with(List<RepositoryConfiguration> additional) {
        List<RemoteRepository> all = new ArrayList<>();
        additional.forEach(one -> all.add(one.repository()));
        List<RemoteRepository> merged = new ArrayList<>(repositories);
        merged.addAll(system.newResolutionRepositories(session, all));
        return new Repositories(system, session, Collections.unmodifiableList(merged));
    }

    private static MojoExecutionException failed(String of, Exception error) {
        return new MojoExecutionException(of + " cannot be resolved: " + error.getMessage() + "; correct its coordinates, or add its repository", error);
    }
}
