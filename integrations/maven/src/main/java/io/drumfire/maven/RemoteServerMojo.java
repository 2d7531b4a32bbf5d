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

/**
 * Waits for work like a remote server of JMeter: runs an agent at the NATS server of {@code DRUMFIRE_NATS}.
 */
@Mojo(name = "remote-server", defaultPhase = LifecyclePhase.INTEGRATION_TEST)
public class RemoteServerMojo extends AbstractConfiguringMojo {
    /** Whether the build continues while the agent waits. */
    @Parameter(defaultValue = "false", property = "background")
    private boolean runInBackground;

    /** Distinguishes agents on the same machine. */
    @Parameter(defaultValue = "1099", property = "serverPort")
    private int serverPort;

    /** The agent's name. */
    @Parameter(defaultValue = "localhost", property = "rmiHostname")
    private String exportedRmiHostname;

    /** Has no effect, because agents do not use RMI. */
    @Parameter(defaultValue = "false", property = "rmiSSLDisable")
    private boolean disableSSL;

    @Override
    protected void perform() throws MojoExecutionException {
        heading(" S T A R T I N G    J M E T E R    S E R V E R ");
        if (disableSSL) {
            getLog().info("disableSSL changes nothing: agents meet at a NATS server, whose address says whether TLS is used");
        }
        Configuration configuration = configuration(selectedConfiguration, false);
        List<String> command = new ArrayList<>(Arrays.asList(
                program().toString(), "-s", "-d", configuration.jmeterDirectoryPath,
                "-j", new File(logsDirectory, exportedRmiHostname + "_" + serverPort + ".log").getAbsolutePath(),
                "-Djava.rmi.server.hostname=" + exportedRmiHostname, "-Jserver_port=" + serverPort));
        for (File properties : customPropertiesFiles) {
            command.addAll(Arrays.asList("-q", properties.getAbsolutePath()));
        }
        ProcessBuilder builder = new ProcessBuilder(command).directory(configuration.bin());
        jMeterProcessJVMSettings.into(builder.environment());
        configuration.into(builder.environment());
        try {
            if (runInBackground) {
                builder.redirectErrorStream(true).redirectOutput(new File(logsDirectory, "agent.log")).start();
                return;
            }
            int code = Run.execute(builder, getLog()::info);
            if (code != 0) {
                throw new MojoExecutionException("The agent failed with exit code " + code + "; its output is above");
            }
        } catch (IOException error) {
            throw new MojoExecutionException("The agent does not start: " + error.getMessage(), error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
