package io.drumfire.jmeterdsl;

/** A class of the tests that a script of a plan uses. */
public class Suffix {
    @Override
    public String toString() {
        return "-ok";
    }
}
