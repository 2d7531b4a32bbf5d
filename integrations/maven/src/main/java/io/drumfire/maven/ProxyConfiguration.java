package io.drumfire.maven;

import java.util.ArrayList;
import java.util.List;
import org.apache.maven.settings.Proxy;

/** {@code <proxyConfig>}: the proxy for requests whose sampler does not set one. */
public class ProxyConfiguration {
    private String host;
    private int port = 80;
    private String username;
    private String password;
    private String hostExclusions;

    /** The proxy from Maven's settings. */
    static ProxyConfiguration of(Proxy proxy) {
        ProxyConfiguration configuration = new ProxyConfiguration();
        configuration.host = proxy.getHost();
        configuration.port = proxy.getPort();
        configuration.username = proxy.getUsername();
        configuration.password = proxy.getPassword();
        configuration.hostExclusions = proxy.getNonProxyHosts();
        return configuration;
    }

    /** JMeter's options for this proxy; empty without a host. */
    List<String> options() {
        List<String> options = new ArrayList<>();
        if (host == null || host.trim().isEmpty()) {
            return options;
        }
        add(options, "-H", host);
        add(options, "-P", String.valueOf(port));
        add(options, "-u", username);
        add(options, "-a", password);
        add(options, "-N", hostExclusions);
        return options;
    }

    private static void add(List<String> options, String option, String value) {
        if (value != null && !value.trim().isEmpty()) {
            options.add(option);
            options.add(value);
        }
    }
}
