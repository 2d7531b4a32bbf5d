package io.drumfire.maven;

import io.drumfire.launcher.Program;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.inject.Inject;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.apache.maven.settings.Settings;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;

/** The parameters that all goals have. Names and defaults are those of jmeter-maven-plugin 3.x. */
public abstract class AbstractLoadTestMojo extends AbstractMojo {
    /** Patterns of the plans to run, relative to {@code testFilesDirectory}; all plans if empty. */
    @Parameter
    protected List<String> testFilesIncluded = new ArrayList<>();

    /** Patterns of plans to leave out. */
    @Parameter
    protected List<String> testFilesExcluded = new ArrayList<>();

    /** A folder whose files are copied to JMeter's {@code bin}. */
    @Parameter(defaultValue = "${basedir}/src/test/conf")
    protected File confFilesDirectory;

    /** The folder of the plans. */
    @Parameter(defaultValue = "${basedir}/src/test/jmeter")
    protected File testFilesDirectory;

    /** Whether names of result files contain the time. */
    @Parameter(defaultValue = "true")
    protected boolean testResultsTimestamp;

    /** Whether the time follows the plan's name instead of preceding it. */
    @Parameter(defaultValue = "false")
    protected boolean appendResultsTimestamp;

    /** The pattern of that time for {@link java.time.format.DateTimeFormatter}; {@code yyyyMMdd} by default. */
    @Parameter
    protected String resultsFileNameDateFormat;

    /** Whether each plan gets a report. Result files are then CSV. */
    @Parameter(defaultValue = "false")
    protected boolean generateReports;

    /** Whether the build succeeds although SIGTERM ended a run. */
    @Parameter(defaultValue = "false")
    protected boolean doNotFailBuildIfJVMIsKilled;

    /** The folder for result files. */
    @Parameter(defaultValue = "${project.build.directory}/jmeter/results")
    protected File resultsDirectory;

    /** The folder for reports; each gets a subfolder named after its plan. */
    @Parameter(defaultValue = "${project.build.directory}/jmeter/reports")
    protected File reportDirectory;

    /** The folder for logs. */
    @Parameter(defaultValue = "${project.build.directory}/jmeter/logs")
    protected File logsDirectory;

    /** The folder to which plans and their files are copied, and in which they run. */
    @Parameter(defaultValue = "${project.build.directory}/jmeter/testFiles")
    protected File testFilesBuildDirectory;

    /** Files with more JMeter properties. */
    @Parameter
    protected List<File> customPropertiesFiles = new ArrayList<>();

    /** Whether requests use the proxy from Maven's settings. */
    @Parameter
    protected boolean useMavenProxy;

    /** The proxy of requests. */
    @Parameter
    protected ProxyConfiguration proxyConfig;

    /** Remote servers that run the plans; they are Drumfire agents. */
    @Parameter
    protected RemoteConfiguration remoteConfig = new RemoteConfiguration();

    /** The settings of the Java that runs scripts and Java elements. */
    @Parameter
    protected JMeterProcessJVMSettings jMeterProcessJVMSettings = new JMeterProcessJVMSettings();

    /** The level of the log: ERROR, WARN, INFO or DEBUG. */
    @Parameter
    protected String overrideRootLogLevel;

    /** Whether the output of a run is shown only with Maven's option {@code -X}. */
    @Parameter(defaultValue = "false")
    protected boolean suppressJMeterOutput;

    /** Whether the goals are skipped. */
    @Parameter(defaultValue = "${skipTests}")
    protected boolean skipTests;

    /** A pause after each plan, in seconds. */
    @Parameter(defaultValue = "0")
    protected String postTestPauseInSeconds;

    /** The file through which the goals pass their results to each other. */
    @Parameter(defaultValue = "${project.build.directory}/config.json")
    protected File testConfigFile;

    /** The id of the execution of {@code configure} whose configuration is used. */
    @Parameter(property = "selectConfiguration", defaultValue = "configuration")
    protected String selectedConfiguration;

    /**
     * The Drumfire program. The default is the artifact {@code io.drumfire:drumfire-bin} of this plugin's version, or else
     * the program on the PATH.
     */
    @Parameter(property = "drumfire.binary")
    protected File drumfireBinary;

    @Parameter(defaultValue = "${project.build.directory}", readonly = true)
    protected File buildDirectory;

    @Parameter(defaultValue = "${project}", readonly = true)
    protected MavenProject project;

    @Parameter(defaultValue = "${session}", readonly = true)
    protected MavenSession session;

    @Parameter(defaultValue = "${mojoExecution}", readonly = true)
    protected MojoExecution execution;

    @Parameter(defaultValue = "${settings}", readonly = true)
    protected Settings settings;

    @Parameter(defaultValue = "${repositorySystemSession}", readonly = true)
    private RepositorySystemSession repositorySession;

    @Parameter(defaultValue = "${project.remoteProjectRepositories}", readonly = true)
    private List<RemoteRepository> remoteRepositories;

    @Parameter(defaultValue = "${project.remotePluginRepositories}", readonly = true)
    private List<RemoteRepository> pluginRepositories;

    @Inject
    private RepositorySystem repositorySystem;

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (skipTests) {
            getLog().info("Performance tests are skipped.");
            return;
        }
        if (useMavenProxy && proxyConfig == null) {
            if (settings != null && settings.getActiveProxy() != null) {
                proxyConfig = ProxyConfiguration.of(settings.getActiveProxy());
            } else {
                getLog().warn("Maven's settings have no active proxy for useMavenProxy; add one, or remove useMavenProxy");
            }
        }
        perform();
    }

    /** Executes the goal. */
    protected abstract void perform() throws MojoExecutionException, MojoFailureException;

    /** The repositories of the project. */
    protected Repositories repositories() {
        return new Repositories(repositorySystem, repositorySession, remoteRepositories);
    }

    /** The Drumfire program. */
    protected Path program() throws MojoExecutionException {
        if (drumfireBinary != null && !drumfireBinary.getPath().isEmpty()) {
            if (!drumfireBinary.isFile()) {
                throw new MojoExecutionException("drumfire.binary names `" + drumfireBinary + "`, which is not a file; correct it");
            }
            return drumfireBinary.toPath().toAbsolutePath();
        }
        Optional<Path> configured = Program.configured();
        if (configured.isPresent()) {
            return configured.get();
        }
        String version = execution.getMojoDescriptor().getPluginDescriptor().getVersion();
        String coordinates = "io.drumfire:drumfire-bin:exe:" + Program.classifier() + ":" + version;
        try {
            Repositories plugins = new Repositories(repositorySystem, repositorySession, pluginRepositories);
            File file = plugins.resolve(new DefaultArtifact(coordinates)).getFile();
            if (file.canExecute() || file.setExecutable(true)) {
                return file.toPath();
            }
            throw new MojoExecutionException(file + " cannot be made executable; change its permissions");
        } catch (MojoExecutionException error) {
            Optional<Path> installed = Program.on(System.getenv("PATH"));
            if (!installed.isPresent()) {
                throw new MojoExecutionException(error.getMessage() + "; or " + Program.REMEDY, error);
            }
            getLog().info("Using " + installed.get() + ", since " + coordinates + " is in no repository");
            return installed.get();
        }
    }

    /** Logs a heading that scripts search for in logs. */
    protected void heading(String text) {
        String line = "-------------------------------------------------------";
        getLog().info(" ");
        getLog().info(line);
        getLog().info(text);
        getLog().info(line);
        getLog().info(" ");
    }
}
