package io.drumfire.jmeterdsl;

import java.io.IOException;

/** Thrown when Drumfire cannot run a plan, or cannot continue a run. */
public class DrumfireException extends IOException {
    private static final long serialVersionUID = 1;

    DrumfireException(String message) {
        super(message);
    }
}
