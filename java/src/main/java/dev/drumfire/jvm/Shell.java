package dev.drumfire.jvm;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

import org.apache.jmeter.util.BeanShellServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import bsh.EvalError;
import bsh.Interpreter;

/**
 * A BeanShell that reads commands from connections, as JMeter's BeanShellServer does, but only from this machine, and without the
 * web page on the port before.
 */
final class Shell {
    private static final Logger log = LoggerFactory.getLogger(BeanShellServer.class);
    private static final int BACKLOG = 5;

    private final Interpreter shared = new Interpreter();
    private final ServerSocket socket;

    Shell(int port, String file) throws IOException {
        prepare(port, file);
        int telnet = port + 1;
        try {
            socket = new ServerSocket(telnet, BACKLOG, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new IOException("beanshell.server.port: nothing can listen on port " + telnet + ": " + e.getMessage(), e);
        }
        log.info("BeanShell reads commands on {}", socket.getLocalSocketAddress());
    }

    private void prepare(int port, String file) {
        try {
            shared.eval("setAccessibility(true);");
            shared.set("t", new BeanShellServer(port, file));
            shared.set("portnum", port);
            if (!file.isEmpty()) {
                shared.source(file);
            }
        } catch (EvalError | IOException e) {
            log.warn("Could not source, {}. {}", file, e.toString());
        }
    }

    void start() {
        Thread thread = new Thread(this::serve, "beanshell-server");
        thread.setDaemon(true);
        thread.start();
    }

    private void serve() {
        while (true) {
            try {
                Socket connection = socket.accept();
                Thread session = new Thread(() -> talk(connection), "beanshell-session");
                session.setDaemon(true);
                session.start();
            } catch (IOException e) {
                log.error("BeanShell accepts no more connections", e);
                return;
            }
        }
    }

    private void talk(Socket connection) {
        try (connection; PrintStream out = new PrintStream(connection.getOutputStream(), true)) {
            Interpreter interpreter = new Interpreter(new InputStreamReader(connection.getInputStream()), out, out, true, shared.getNameSpace());
            interpreter.setExitOnEOF(false);
            interpreter.run();
        } catch (IOException e) {
            log.debug("a connection to BeanShell ended", e);
        }
    }
}
