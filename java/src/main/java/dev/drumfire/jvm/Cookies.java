package dev.drumfire.jvm;

import java.net.URL;
import java.util.Arrays;

import org.apache.jmeter.protocol.http.control.Cookie;
import org.apache.jmeter.protocol.http.control.CookieManager;
import org.apache.jmeter.testelement.property.CollectionProperty;
import org.apache.jmeter.testelement.property.JMeterProperty;

/** The user's cookies, fetched on first use. The engine's side of it is {@code request.rs}. */
public final class Cookies extends CookieManager {
    private static final long serialVersionUID = 1L;

    /** A cookie of the plan with variables in its value, whose text shows outside of requests. */
    public static final class Planned extends Cookie {
        private static final long serialVersionUID = 1L;
        private String written;

        @Override
        public String getValue() {
            return written == null || isRunningVersion() ? super.getValue() : written;
        }

        @Override
        public void setValue(String value) {
            super.setValue(value);
            written = null;
        }
    }

    /** The cookies as fetched; null before. */
    private transient byte[] before;
    private transient boolean isCleared;

    /** For JMeter's copies of elements. */
    public Cookies() {
        before = new byte[0];
    }

    Cookies(String policy) {
        setCookiePolicy(policy);
    }

    private void bring() {
        if (before != null) {
            return;
        }
        before = Natives.cookies();
        Wire.Reader in = new Wire.Reader(before);
        CollectionProperty cookies = super.getCookies();
        for (int left = in.number(); left > 0; left--) {
            cookies.addItem(cookie(in));
        }
        testStarted(); // creates the object that builds headers
    }

    private static Cookie cookie(Wire.Reader in) {
        Planned cookie = new Planned();
        cookie.setName(in.text());
        cookie.setValue(in.text());
        cookie.setDomain(in.text());
        cookie.setPath(in.text());
        cookie.setSecure(in.flag());
        cookie.setExpires(in.large());
        cookie.setPathSpecified(in.flag());
        cookie.setDomainSpecified(in.flag());
        cookie.setVersion(in.number());
        cookie.written = in.text();
        return cookie;
    }

    /** Passes changes to the engine. */
    void end() {
        if (isCleared) {
            Natives.setCookies(null);
        } else if (before != null) {
            handOver();
        }
    }

    private void handOver() {
        CollectionProperty cookies = super.getCookies();
        Wire.Writer out = new Wire.Writer();
        out.number(cookies.size());
        for (JMeterProperty property : cookies) {
            Cookie cookie = (Cookie) property.getObjectValue();
            String written = cookie instanceof Planned planned ? planned.written : null;
            cookie.setRunningVersion(true);
            out.text(cookie.getName()).text(cookie.getValue()).text(cookie.getDomain()).text(cookie.getPath());
            out.flag(cookie.getSecure()).large(cookie.getExpires());
            out.flag(cookie.isPathSpecified()).flag(cookie.isDomainSpecified()).number(cookie.getVersion()).text(written);
        }
        byte[] after = out.done();
        if (!Arrays.equals(before, after)) {
            Natives.setCookies(after);
        }
    }

    @Override
    public CollectionProperty getCookies() {
        bring();
        return super.getCookies();
    }

    @Override
    public void clear() {
        bring();
        isCleared = true;
        super.clear();
    }

    @Override
    public String getCookieHeaderForURL(URL url) {
        bring();
        return super.getCookieHeaderForURL(url);
    }

    @Override
    public void addCookieFromHeader(String header, URL url) {
        bring();
        super.addCookieFromHeader(header, url);
    }
}
