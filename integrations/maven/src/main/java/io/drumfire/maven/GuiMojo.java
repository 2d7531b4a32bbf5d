package io.drumfire.maven;

import io.drumfire.launcher.Run;
import io.drumfire.maven.Configurations.Configuration;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Starts JMeter's graphical interface, for editing plans, with the project's properties, plugins and libraries. */
@Mojo(name = "gui", defaultPhase = LifecyclePhase.INTEGRATION_TEST)
public class GuiMojo extends AbstractConfiguringMojo {
    /** Whether the build continues while it is open. */
    @Parameter(defaultValue = "false")
    private boolean runInBackground;

    /** The plan to open. */
    @Parameter(defaultValue = "${guiTestFile}")
    private File guiTestFile;

    @Override
    protected void perform() throws MojoExecutionException {
        heading(" S T A R T I N G    J M E T E R    G U I ");
        Configuration configuration = configuration(selectedConfiguration, true);
        List<String> command = new ArrayList<>();
        command.add(jMeterProcessJVMSettings.java());
        // The interface needs a display, whatever the settings for runs are.
        jMeterProcessJVMSettings.options().stream().filter(option -> !option.contains("java.awt.headless")).forEach(command::add);
        command.addAll(Arrays.asList("-jar", configuration.runtimeJarName, "-d", configuration.jmeterDirectoryPath));
        if (guiTestFile != null) {
            command.addAll(Arrays.asList("-t", guiTestFile.getAbsolutePath()));
        }
        for (File properties : customPropertiesFiles) {
            command.addAll(Arrays.asList("-q", properties.getAbsolutePath()));
        }
        ProcessBuilder builder = new ProcessBuilder(command).directory(configuration.bin());
        try {
            if (runInBackground) {
                File log = new File(logsDirectory, "gui.log");
                builder.redirectErrorStream(true).redirectOutput(log).start();
            } else {
                Run.execute(builder, getLog()::info);
            }
        } catch (IOException error) {
            throw new MojoExecutionException("JMeter does not start: " + error.getMessage(), error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
