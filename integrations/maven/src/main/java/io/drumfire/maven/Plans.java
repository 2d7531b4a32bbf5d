package io.drumfire.maven;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import org.codehaus.plexus.util.DirectoryScanner;

/** Which files of a folder are plans to run. */
final class Plans {
    private final List<String> included;
    private final List<String> excluded;

    Plans(List<String> included, List<String> excluded) {
        this.included = included;
        this.excluded = excluded;
    }

    /** The plans in a folder, relative to it, in the order of their names. */
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
