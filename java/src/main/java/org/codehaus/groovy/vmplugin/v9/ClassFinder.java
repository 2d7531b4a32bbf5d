package org.codehaus.groovy.vmplugin.v9;

import java.net.URI;
import java.util.Map;
import java.util.Set;

/**
 * Precedes Groovy's own class on the class path. That one searches Java's and Groovy's archives for the names of all classes
 * that need no import, a fifth of Groovy's work until its first script is compiled. It only saves attempts: a name that is
 * not among them is looked for in those packages one by one (ResolveVisitor#resolveFromDefaultImports).
 */
public final class ClassFinder {
    private ClassFinder() {
    }

    /** The packages of each class in a package: none, so that Groovy looks for each name. */
    public static Map<String, Set<String>> find(URI archive, String packageName) {
        return Map.of();
    }

    /** The same for the packages below it, too. */
    public static Map<String, Set<String>> find(URI archive, String packageName, boolean isRecursive) {
        return Map.of();
    }
}
