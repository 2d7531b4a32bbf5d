package io.drumfire.maven;

import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/** Prepares the runs: property files, and JMeter's jars if a plan needs Java. */
@Mojo(name = "configure", defaultPhase = LifecyclePhase.COMPILE, threadSafe = true)
public class ConfigureMojo extends AbstractConfiguringMojo {
    @Override
    protected void perform() throws MojoExecutionException {
        configure(execution.getExecutionId(), false);
    }
}
