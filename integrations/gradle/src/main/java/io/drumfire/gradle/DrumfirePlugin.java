package io.drumfire.gradle;

import java.io.File;
import org.gradle.api.Plugin;
import org.gradle.api.Project;

/** Adds the block {@code drumfire} and the task of the same name, which runs the project's plans. */
public class DrumfirePlugin implements Plugin<Project> {
    @Override
    public void apply(Project project) {
        DrumfireExtension settings = project.getExtensions().create("drumfire", DrumfireExtension.class);
        File plans = project.file("src/test/jmeter");
        File output = new File(project.getBuildDir(), "drumfire");
        File results = new File(project.getBuildDir(), "test-results/drumfire");
        project.getTasks().create("drumfire", DrumfireTask.class, task -> {
            task.setGroup("verification");
            task.setDescription("Runs the project's load test plans with Drumfire");
            task.use(settings, project.getProjectDir(), plans, output, results);
        });
    }
}
