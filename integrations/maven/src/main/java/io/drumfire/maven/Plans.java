package io.drumfire.maven;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import org.codehaus.plexus.util.DirectoryScanner;

/** Selects the files of a folder that are plans to run. */
final class Plans {
    private final List<String> included;
    private final List<String> excluded;

    Plans(List<String> included, List<String> excluded) {
        this.included = included;
        this.excluded = excluded;
    }

    /** The plans in a folder, as relative paths, sorted by name. */
    List<String> in(File folder) {
        DirectoryScanner scanner = new DirectoryScanner();
        scanner.setBasedir(folder);
        scanner.setIncludes(included.isEmpty() ? new String[] {"**/*.jmx"} : included.toArray(new String[0]));
        scanner.setExcludes(excluded.toArray(new String[0]));
        scanner.scan();
        String[] plans = scanner.getIncludedFiles();
        Arrays.sort(plans);
        return Arrays.asList(plans);
    }
}
