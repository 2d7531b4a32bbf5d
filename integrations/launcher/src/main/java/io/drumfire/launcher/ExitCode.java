package io.drumfire.launcher;

/** The exit codes of the program that callers distinguish. */
public final class ExitCode {
    /** The run completed. */
    public static final int OK = 0;
    /** A threshold failed or could not be judged. */
    public static final int THRESHOLDS = 5;
    /** The run's verdict on its own numbers is not VALID, and the caller asked for strict mode. */
    public static final int NOT_TRUSTED = 6;
    /** The run is significantly worse than its baseline. */
    public static final int WORSE = 7;
    /** The run completed, but sent nothing. */
    public static final int NOTHING_SENT = 8;
    /** SIGTERM stopped the run. */
    public static final int TERMINATED = 143;

    private ExitCode() {
    }

    /** Describes how a run with this exit code ended. */
    public static String meaning(int code) {
        switch (code) {
            case OK:
                return "the run finished";
            case 2:
                return "the command line is wrong";
            case 3:
                return "the plan or a file that it needs cannot be run";
            case 4:
                return "the plan or the command line asks for something that Drumfire does not have";
            case THRESHOLDS:
                return "a threshold failed or could not be judged";
            case NOT_TRUSTED:
                return "the run's own verdict is not VALID";
            case WORSE:
                return "the run is worse than its baseline";
            case NOTHING_SENT:
                return "nothing was sent";
            case 129:
            case 130:
            case TERMINATED:
                return "the run was stopped by a signal";
            default:
                return "the run could not start or continue";
        }
    }
}
