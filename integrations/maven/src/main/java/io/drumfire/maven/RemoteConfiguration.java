package io.drumfire.maven;

import java.util.ArrayList;
import java.util.List;

/** {@code <remoteConfig>}: the remote servers that run the plans; they are Drumfire agents. */
public class RemoteConfiguration {
    private boolean startServersBeforeTests;
    private boolean stopServersAfterTests;
    private boolean startAndStopServersForEachTest;
    private String serverList = "";

    /** JMeter's options for one of the plans. */
    List<String> options(boolean isFirst, boolean isLast) {
        List<String> options = new ArrayList<>();
        if (startServersBeforeTests && isFirst || startAndStopServersForEachTest) {
            if (serverList == null || serverList.trim().isEmpty()) {
                options.add("-r");
            } else {
                options.add("-R");
                options.add(serverList.trim());
            }
        }
        if (stopServersAfterTests && isLast || startAndStopServersForEachTest) {
            options.add("-X");
        }
        return options;
    }
}
