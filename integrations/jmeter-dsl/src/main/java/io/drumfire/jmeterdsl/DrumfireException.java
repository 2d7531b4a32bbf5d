package io.drumfire.jmeterdsl;

import java.io.IOException;

/** A plan that Drumfire cannot run, or a run that could not go on. */
public class DrumfireException extends IOException {
    private static final long serialVersionUID = 1;

    DrumfireException(String message) {
        super(message);
    }
}
