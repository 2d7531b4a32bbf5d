package org.codehaus.groovy.vmplugin.v9;

import java.net.URI;
import java.util.Map;
import java.util.Set;

/**
 * Stands before Groovy's own on the class path. That one walks through Java's and Groovy's archives for the names of all classes
 * that need no import, a fifth of what Groovy does until its first script is compiled, and all to save tries: a name that is
 * not among them is looked for in those packages one by one (ResolveVisitor#resolveFromDefaultImports).
 */
public final class ClassFinder {
    private ClassFinder() {
    }

    /** The packages of each class in a package; none is known. */
    public static Map<String, Set<String>> find(URI archive, String packageName) {
        return Map.of();
    }

    /** The same of the packages below it, too. */
    public static Map<String, Set<String>> find(URI archive, String packageName, boolean isRecursive) {
        return Map.of();
    }
}
