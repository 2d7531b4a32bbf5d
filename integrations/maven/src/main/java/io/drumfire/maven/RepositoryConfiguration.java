package io.drumfire.maven;

import org.eclipse.aether.repository.RemoteRepository;

/** A repository of {@code <additionalRepositories>}. */
public class RepositoryConfiguration {
    private String id;
    private String type = "default";
    private String url;

    RemoteRepository repository() {
        return new RemoteRepository.Builder(id, type, url).build();
    }
}
