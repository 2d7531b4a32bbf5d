package dev.drumfire.jvm;

import java.net.URL;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.security.auth.Subject;

import org.apache.http.HttpHost;
import org.apache.http.auth.AUTH;
import org.apache.http.auth.AuthSchemeProvider;
import org.apache.http.auth.AuthScope;
import org.apache.http.auth.ContextAwareAuthScheme;
import org.apache.http.auth.Credentials;
import org.apache.http.client.config.AuthSchemes;
import org.apache.http.client.protocol.HttpClientContext;
import org.apache.http.conn.routing.HttpRoute;
import org.apache.http.impl.client.BasicCredentialsProvider;
import org.apache.http.message.BasicHeader;
import org.apache.http.message.BasicHttpRequest;
import org.apache.jmeter.protocol.http.control.AuthManager;
import org.apache.jmeter.protocol.http.control.DynamicKerberosSchemeFactory;
import org.apache.jmeter.protocol.http.control.DynamicSPNegoSchemeFactory;
import org.apache.jmeter.protocol.http.control.KerberosManager;

/** Kerberos: JMeter's class logs users in, and HttpClient's schemes answer challenges. */
final class Tickets {
    /** Each user of the run logs in on its own, as each of JMeter's threads does. */
    private static final Map<Long, KerberosManager> LOGINS = new ConcurrentHashMap<>();

    private Tickets() {
    }

    /** The value of the Authorization header that answers the challenge of the server at the address. */
    static String answer(long login, String user, String password, String address, String challenge) throws Exception {
        URL url = new URL(address);
        AuthManager manager = new AuthManager();
        manager.set(-1, address, user, password, "", "", AuthManager.Mechanism.KERBEROS);
        KerberosManager logins = LOGINS.computeIfAbsent(login, number -> new KerberosManager());
        Subject subject = logins.getSubjectForUser(user, password);
        PrivilegedExceptionAction<String> answer = () -> answer(manager, url, challenge);
        try {
            return subject == null ? answer.run() : Subject.doAs(subject, answer);
        } catch (PrivilegedActionException e) {
            throw e.getException();
        }
    }

    private static String answer(AuthManager manager, URL url, String challenge) throws Exception {
        int port = url.getPort() < 0 ? url.getDefaultPort() : url.getPort();
        HttpHost host = new HttpHost(url.getHost(), port, url.getProtocol());
        HttpClientContext context = HttpClientContext.create();
        context.setAttribute(HttpClientContext.HTTP_ROUTE, new HttpRoute(host));
        BasicCredentialsProvider known = new BasicCredentialsProvider();
        manager.setupCredentials(manager.get(0), url, context, known, null);
        boolean stripsPort = AuthManager.STRIP_PORT;
        boolean isCanonical = AuthManager.USE_CANONICAL_HOST_NAME;
        AuthSchemeProvider schemes = challenge.regionMatches(true, 0, AuthSchemes.SPNEGO, 0, AuthSchemes.SPNEGO.length())
                ? new DynamicSPNegoSchemeFactory(stripsPort, isCanonical)
                : new DynamicKerberosSchemeFactory(stripsPort, isCanonical);
        ContextAwareAuthScheme scheme = (ContextAwareAuthScheme) schemes.create(context);
        scheme.processChallenge(new BasicHeader(AUTH.WWW_AUTH, challenge));
        Credentials credentials = known.getCredentials(AuthScope.ANY);
        return scheme.authenticate(credentials, new BasicHttpRequest("GET", "/"), context).getValue();
    }

    /** Drops the login's tickets. */
    static void forget(long login) {
        LOGINS.remove(login);
    }
}
