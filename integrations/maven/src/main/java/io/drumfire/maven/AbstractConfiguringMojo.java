package io.drumfire.maven;

import io.drumfire.launcher.Run;
import io.drumfire.maven.Configurations.Configuration;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.util.FileUtils;

/**
 * The parameters of {@code configure}. Goals that run something also have them, so that a POM with only the goal {@code
 * jmeter} works, as POMs for jmeter-maven-plugin 1 and 2 do.
 */
public abstract class AbstractConfiguringMojo extends AbstractLoadTestMojo {
    /** The JMeter version. Its property files are the defaults, and scripts and Java elements run with its classes. */
    @Parameter(property = "jmeter.version", defaultValue = "5.6.3")
    private String jmeterVersion;

    /** JMeter's artifacts, instead of those of {@code jmeterVersion}. */
    @Parameter
    private List<String> jmeterArtifacts = new ArrayList<>();

    /** {@code GROUP:ARTIFACT} that are excluded as dependencies. */
    @Parameter
    private List<String> excludedArtifacts = new ArrayList<>();

    /** Artifacts whose files are not copied. */
    @Parameter
    private List<String> ignoredArtifacts = new ArrayList<>();

    /** More repositories. */
    @Parameter
    private List<RepositoryConfiguration> additionalRepositories = new ArrayList<>();

    /** Plugins for JMeter's {@code lib/ext}. */
    @Parameter
    private List<String> jmeterExtensions = new ArrayList<>();

    /** Jars for JMeter's {@code lib/junit}. */
    @Parameter
    private List<String> junitLibraries = new ArrayList<>();

    /** Jars that scripts use, for JMeter's {@code lib} folder. */
    @Parameter
    private List<String> testPlanLibraries = new ArrayList<>();

    /** Whether the dependencies of plugins are resolved. */
    @Parameter(defaultValue = "true")
    private boolean downloadExtensionDependencies;

    /** Whether the dependencies of JMeter are resolved. */
    @Parameter(defaultValue = "true")
    private boolean downloadJMeterDependencies;

    /** Whether optional dependencies are also resolved. */
    @Parameter(defaultValue = "false")
    private boolean downloadOptionalDependencies;

    /** Whether the dependencies of libraries are resolved. */
    @Parameter(defaultValue = "true")
    private boolean downloadLibraryDependencies;

    /**
     * Whether JMeter's jars, plugins and libraries are downloaded: {@code auto} if a plan has a script or an element that runs
     * in Java, {@code always} or {@code never}.
     */
    @Parameter(property = "drumfire.downloadJMeter", defaultValue = "auto")
    private String downloadJMeter;

    /** Properties for {@code jmeter.properties}. */
    @Parameter
    private Map<String, String> propertiesJMeter = new HashMap<>();

    /** Properties for {@code saveservice.properties}. */
    @Parameter
    private Map<String, String> propertiesSaveService = new HashMap<>();

    /** Properties for {@code reportgenerator.properties}. */
    @Parameter
    private Map<String, String> propertiesReportGenerator = new HashMap<>();

    /** Properties for {@code upgrade.properties}. */
    @Parameter
    private Map<String, String> propertiesUpgrade = new HashMap<>();

    /** Properties for {@code user.properties}. */
    @Parameter
    private Map<String, String> propertiesUser = new HashMap<>();

    /** Properties for all remote servers. */
    @Parameter
    private Map<String, String> propertiesGlobal = new HashMap<>();

    /** System properties. */
    @Parameter
    private Map<String, String> propertiesSystem = new HashMap<>();

    /** The folder of the project's own property files, such as {@code user.properties}. */
    @Parameter(defaultValue = "${basedir}/src/test/jmeter")
    private File propertiesFilesDirectory;

    /** Whether such a file replaces JMeter's, instead of being added to it. */
    @Parameter(defaultValue = "true")
    private boolean propertiesReplacedByCustomFiles;

    /** {@code csv}, or {@code xml} for result files with the extension {@code .jtl}. */
    @Parameter(defaultValue = "csv")
    private String resultsFileFormat;

    /** The configuration of this goal. Creates it if no execution of {@code configure} has done so. */
    protected Configuration configuration(String executionId, boolean needsJars) throws MojoExecutionException {
        Configuration found = Configurations.read(testConfigFile).find(executionId).orElse(null);
        boolean lacksJars = needsJars && found != null && found.runtimeJarName == null;
        if (found != null && found.home().isDirectory() && !lacksJars) {
            return found;
        }
        return configure(executionId, needsJars);
    }

    /** Creates the folders of a JMeter, writes its property files, and records them for the other goals. */
    protected Configuration configure(String executionId, boolean needsJars) throws MojoExecutionException {
        heading("C O N F I G U R I N G    J M E T E R");
        getLog().info("Creating test configuration for execution ID: " + executionId);
        Configuration configuration = new Configuration();
        configuration.executionID = executionId;
        configuration.generateReports = generateReports;
        configuration.resultsOutputIsCSVFormat = generateReports || "csv".equalsIgnoreCase(resultsFileFormat);
        Path home = buildDirectory.toPath().toAbsolutePath().resolve(UUID.randomUUID().toString()).resolve("jmeter");
        configuration.jmeterDirectoryPath = home.toString();
        makeFolders(home);
        List<String> modules = jmeterArtifacts.isEmpty() ? JMeterJars.modules(jmeterVersion) : jmeterArtifacts;
        Repositories repositories = repositories().with(additionalRepositories);
        writeProperties(configuration, configJar(repositories, modules));
        if (needsJars || wantsJars()) {
            copyJars(configuration, repositories, modules, home);
        }
        Configurations.read(testConfigFile).write(configuration, testConfigFile);
        return configuration;
    }

    private void makeFolders(Path home) throws MojoExecutionException {
        try {
            for (String folder : new String[] {"bin", "lib/ext", "lib/junit"}) {
                Files.createDirectories(home.resolve(folder));
            }
            Files.createDirectories(testFilesBuildDirectory.toPath());
            Files.createDirectories(resultsDirectory.toPath());
            Files.createDirectories(logsDirectory.toPath());
            if (generateReports) {
                Files.createDirectories(reportDirectory.toPath());
            }
            if (confFilesDirectory.isDirectory()) {
                FileUtils.copyDirectoryStructure(confFilesDirectory, home.resolve("bin").toFile());
            }
        } catch (IOException error) {
            throw new MojoExecutionException("The folders of the test cannot be created: " + error.getMessage(), error);
        }
    }

    /** JMeter's jar with the default property files. It is small, and every configuration needs it. */
    private static File configJar(Repositories repositories, List<String> modules) throws MojoExecutionException {
        for (String module : modules) {
            if (module.split(":")[1].equals(JMeterJars.CONFIG)) {
                return repositories.resolve(repositories.versioned(module)).getFile();
            }
        }
        throw new MojoExecutionException("jmeterArtifacts has no " + JMeterJars.GROUP + ":" + JMeterJars.CONFIG + "; add it");
    }

    private void writeProperties(Configuration configuration, File configJar) throws MojoExecutionException {
        Map<String, String> jmeter = new LinkedHashMap<>(propertiesJMeter);
        jmeter.put("jmeter.save.saveservice.output_format", configuration.resultsOutputIsCSVFormat ? "csv" : "xml");
        PropertyFiles files = new PropertyFiles(configJar, propertiesFilesDirectory, propertiesReplacedByCustomFiles, getLog());
        File bin = configuration.bin();
        configuration.propertiesMap.put("JMETER_PROPERTIES", files.write("jmeter.properties", jmeter, bin));
        configuration.propertiesMap.put("SAVE_SERVICE_PROPERTIES", files.write("saveservice.properties", propertiesSaveService, bin));
        configuration.propertiesMap.put("UPGRADE_PROPERTIES", files.write("upgrade.properties", propertiesUpgrade, bin));
        configuration.propertiesMap.put("SYSTEM_PROPERTIES", files.write("system.properties", propertiesSystem, bin));
        configuration.propertiesMap.put("USER_PROPERTIES", files.write("user.properties", propertiesUser, bin));
        configuration.propertiesMap.put("REPORT_GENERATOR_PROPERTIES", files.write("reportgenerator.properties", propertiesReportGenerator, bin));
        configuration.propertiesMap.put("GLOBAL_PROPERTIES", files.write("global.properties", propertiesGlobal, bin));
    }

    private void copyJars(Configuration configuration, Repositories repositories, List<String> modules, Path home) throws MojoExecutionException {
        JMeterJars jars = new JMeterJars(repositories, excludedArtifacts, ignoredArtifacts, downloadOptionalDependencies, home);
        configuration.runtimeJarName = jars.copyJMeter(modules, downloadJMeterDependencies);
        jars.copyLibraries(jmeterExtensions, "lib/ext", downloadExtensionDependencies);
        jars.copyLibraries(junitLibraries, "lib/junit", downloadLibraryDependencies);
        jars.copyLibraries(testPlanLibraries, "lib", downloadLibraryDependencies);
    }

    private boolean wantsJars() throws MojoExecutionException {
        switch (downloadJMeter.toLowerCase(Locale.ROOT)) {
            case "always":
                return true;
            case "never":
                return false;
            case "auto":
                return needsJava();
            default:
                throw new MojoExecutionException("downloadJMeter is `" + downloadJMeter + "`; write auto, always or never");
        }
    }

    /** Whether one of the plans has an element that is not native. A plan that cannot be checked counts as having one. */
    private boolean needsJava() throws MojoExecutionException {
        if (!testFilesDirectory.isDirectory()) {
            return false;
        }
        for (String plan : new Plans(testFilesIncluded, testFilesExcluded).in(testFilesDirectory)) {
            List<String> lines = new ArrayList<>();
            ProcessBuilder check = new ProcessBuilder(program().toString(), "check", "--json", new File(testFilesDirectory, plan).getAbsolutePath());
            try {
                int code = Run.execute(check, lines::add);
                if (code != 0 || lines.stream().noneMatch(line -> line.trim().equals("\"jvm\": 0,"))) {
                    getLog().info(plan + " needs Java: bringing JMeter's jars");
                    return true;
                }
            } catch (IOException error) {
                throw new MojoExecutionException(check.command().get(0) + " does not start: " + error.getMessage(), error);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new MojoExecutionException("interrupted", error);
            }
        }
        getLog().info("All elements of the plans are native: JMeter's jars are not needed");
        return false;
    }
}
