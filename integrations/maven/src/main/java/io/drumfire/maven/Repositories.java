package io.drumfire.maven;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.eclipse.aether.RepositoryException;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.graph.DependencyFilter;
import org.eclipse.aether.graph.Exclusion;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactDescriptorRequest;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResult;
import org.eclipse.aether.resolution.DependencyRequest;
import org.eclipse.aether.resolution.VersionRangeRequest;
import org.eclipse.aether.util.artifact.JavaScopes;
import org.eclipse.aether.version.Version;

/** The repositories of a build: brings artifacts with what they depend on. */
final class Repositories {
    private final RepositorySystem system;
    private final RepositorySystemSession session;
    private final List<RemoteRepository> repositories;

    Repositories(RepositorySystem system, RepositorySystemSession session, List<RemoteRepository> repositories) {
        this.system = system;
        this.session = session;
        this.repositories = repositories;
    }

    /** The artifact with the highest version of its range, if its version is a range. */
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

    /** The artifact alone, with its file. */
    Artifact resolve(Artifact artifact) throws MojoExecutionException {
        try {
            return system.resolveArtifact(session, new ArtifactRequest(artifact, repositories, null)).getArtifact();
        } catch (RepositoryException error) {
            throw failed(artifact.toString(), error);
        }
    }

    /** The artifacts with all that they need at run time, in one version each. */
    List<Artifact> resolveWithDependencies(List<Artifact> roots, List<Exclusion> excluded, boolean optional) throws MojoExecutionException {
        CollectRequest collect = new CollectRequest();
        collect.setRepositories(repositories);
        for (Artifact root : roots) {
            collect.addDependency(new Dependency(root, JavaScopes.RUNTIME, false, excluded));
        }
        DependencyFilter filter = (node, parents) -> node.getDependency() == null || optional || !node.getDependency().isOptional();
        try {
            List<Artifact> artifacts = new ArrayList<>();
            for (ArtifactResult result : system.resolveDependencies(session, new DependencyRequest(collect, filter)).getArtifactResults()) {
                artifacts.add(result.getArtifact());
            }
            return artifacts;
        } catch (RepositoryException error) {
            throw failed(roots.toString(), error);
        }
    }

    /** What the artifact's POM takes for granted where it runs, such as the API that a driver implements. */
    List<Artifact> provided(Artifact artifact) throws MojoExecutionException {
        try {
            List<Artifact> provided = new ArrayList<>();
            ArtifactDescriptorRequest request = new ArtifactDescriptorRequest(artifact, repositories, null);
            for (Dependency dependency : system.readArtifactDescriptor(session, request).getDependencies()) {
                if (JavaScopes.PROVIDED.equals(dependency.getScope()) && !dependency.isOptional()) {
                    provided.add(dependency.getArtifact());
                }
            }
            return provided;
        } catch (RepositoryException error) {
            throw failed(artifact.toString(), error);
        }
    }

    /** {@code group:artifact} as an exclusion; {@code *} stands for any artifact. */
    static Exclusion exclusion(String coordinates) throws MojoExecutionException {
        String[] parts = coordinates.trim().split(":");
        if (parts.length < 2) {
            throw new MojoExecutionException("The excluded artifact `" + coordinates + "` is not understood; write GROUP:ARTIFACT");
        }
        return new Exclusion(parts[0], parts[1], "*", "*");
    }

    /** The repositories and those of the POM's {@code <additionalRepositories>}, with the mirrors and credentials of the settings. */
    Repositories with(List<RepositoryConfiguration> additional) {
        List<RemoteRepository> all = new ArrayList<>();
        additional.forEach(one -> all.add(one.repository()));
        List<RemoteRepository> merged = new ArrayList<>(repositories);
        merged.addAll(system.newResolutionRepositories(session, all));
        return new Repositories(system, session, Collections.unmodifiableList(merged));
    }

    private static MojoExecutionException failed(String of, Exception error) {
        return new MojoExecutionException(of + " cannot be had: " + error.getMessage() + "; correct its coordinates, or add its repository", error);
    }
}
