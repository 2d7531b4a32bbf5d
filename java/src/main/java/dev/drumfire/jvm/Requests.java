package dev.drumfire.jvm;

import java.util.function.Consumer;
import java.util.function.Supplier;

import org.apache.jmeter.config.Argument;
import org.apache.jmeter.config.Arguments;
import org.apache.jmeter.protocol.http.control.CookieManager;
import org.apache.jmeter.protocol.http.control.Header;
import org.apache.jmeter.protocol.http.control.HeaderManager;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy;
import org.apache.jmeter.protocol.http.util.HTTPArgument;
import org.apache.jmeter.protocol.http.util.HTTPFileArg;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.JMeterProperty;

/** Converts the settings of an HTTP Request between the engine and Java. The engine's side of it is {@code request.rs}. */
final class Requests {
    /** Begins the placeholder for a text that the engine evaluates each time it is read; its number follows. */
    private static final char UNREAD = '\0';

    /** {@code Header.VALUE}, which is private. */
    private static final String HEADER_VALUE = "Header.value";

    private Requests() {
    }

    static HTTPSamplerProxy read(byte[] bytes) {
        Wire.Reader in = new Wire.Reader(bytes);
        HTTPSamplerProxy sampler = new HTTPSamplerProxy();
        set(sampler, TestElement.NAME, in.text(), sampler::setName);
        set(sampler, HTTPSamplerBase.PROTOCOL, in.text(), sampler::setProtocol);
        set(sampler, HTTPSamplerBase.DOMAIN, in.text(), sampler::setDomain);
        String port = in.text();
        if (!port.isEmpty()) {
            set(sampler, HTTPSamplerBase.PORT, port, text -> sampler.setProperty(HTTPSamplerBase.PORT, text));
        }
        sampler.setMethod(in.text());
        // setPath would take arguments out of it.
        set(sampler, HTTPSamplerBase.PATH, in.text(), text -> sampler.setProperty(HTTPSamplerBase.PATH, text));
        set(sampler, HTTPSamplerBase.CONTENT_ENCODING, in.text(), sampler::setContentEncoding);
        sampler.setPostBodyRaw(in.flag());
        sampler.setDoMultipart(in.flag());
        sampler.setDoBrowserCompatibleMultipart(in.flag());
        readLimit(in, sampler::setConnectTimeout);
        readLimit(in, sampler::setResponseTimeout);
        HTTPFileArg[] files = new HTTPFileArg[in.number()];
        for (int i = 0; i < files.length; i++) {
            files[i] = new HTTPFileArg(in.text(), in.text(), in.text());
        }
        if (files.length > 0) {
            sampler.setHTTPFiles(files);
        }
        Arguments arguments = new Arguments();
        for (int left = in.number(); left > 0; left--) {
            String name = in.text();
            String value = in.text();
            HTTPArgument argument = new HTTPArgument(name, "", in.text());
            set(argument, Argument.VALUE, value, argument::setValue);
            argument.setContentType(in.text());
            argument.setAlwaysEncoded(in.flag());
            arguments.addArgument(argument);
        }
        sampler.setArguments(arguments);
        HeaderManager headers = new HeaderManager();
        for (int left = in.number(); left > 0; left--) {
            Header header = new Header(in.text(), "");
            set(header, HEADER_VALUE, in.text(), header::setValue);
            headers.add(header);
        }
        if (in.flag()) {
            sampler.setHeaderManager(headers);
        }
        String policy = in.text();
        if (policy != null) {
            sampler.setCookieManager(new Cookies(policy));
        }
        sampler.setRunningVersion(true);
        return sampler;
    }

    static byte[] write(HTTPSamplerBase sampler) {
        Wire.Writer out = new Wire.Writer();
        out.text(get(sampler, TestElement.NAME, sampler::getName));
        out.text(get(sampler, HTTPSamplerBase.PROTOCOL, () -> sampler.getPropertyAsString(HTTPSamplerBase.PROTOCOL)));
        out.text(get(sampler, HTTPSamplerBase.DOMAIN, sampler::getDomain));
        out.text(get(sampler, HTTPSamplerBase.PORT, () -> sampler.getPropertyAsString(HTTPSamplerBase.PORT)));
        out.text(sampler.getMethod()).text(get(sampler, HTTPSamplerBase.PATH, sampler::getPath));
        out.text(get(sampler, HTTPSamplerBase.CONTENT_ENCODING, sampler::getContentEncoding));
        out.flag(sampler.getPostBodyRaw()).flag(sampler.getDoMultipart()).flag(sampler.getDoBrowserCompatibleMultipart());
        out.large(limit(sampler.getConnectTimeout())).large(limit(sampler.getResponseTimeout()));
        HTTPFileArg[] files = sampler.getHTTPFiles();
        out.number(files.length);
        for (HTTPFileArg file : files) {
            out.text(file.getPath()).text(file.getParamName()).text(file.getMimeType());
        }
        Arguments arguments = sampler.getArguments();
        out.number(arguments.getArgumentCount());
        for (JMeterProperty property : arguments) {
            Argument argument = (Argument) property.getObjectValue();
            out.text(argument.getName()).text(get(argument, Argument.VALUE, argument::getValue)).text(argument.getMetaData());
            HTTPArgument http = argument instanceof HTTPArgument known ? known : null;
            out.text(http == null ? "text/plain" : http.getContentType()).flag(http != null && http.isAlwaysEncoded());
        }
        HeaderManager headers = sampler.getHeaderManager();
        out.number(headers == null ? 0 : headers.size());
        for (int i = 0; headers != null && i < headers.size(); i++) {
            Header header = headers.get(i);
            out.text(header.getName()).text(get(header, HEADER_VALUE, header::getValue));
        }
        out.flag(headers != null);
        CookieManager cookies = sampler.getCookieManager();
        out.text(cookies == null ? null : cookies.getPolicy());
        return out.done();
    }

    /** Sets a time limit in milliseconds; a negative one does not exist. */
    private static void readLimit(Wire.Reader in, Consumer<String> setter) {
        long millis = in.large();
        if (millis >= 0) {
            setter.accept(Long.toString(millis));
        }
    }

    /** Milliseconds; -1 if there is no limit (HTTPHC4Impl sets only positive ones). */
    private static long limit(int millis) {
        return millis > 0 ? millis : -1;
    }

    /** Sets a property to its text, or to a property that reads the text from the engine. */
    private static void set(TestElement element, String property, String text, Consumer<String> setter) {
        if (!text.isEmpty() && text.charAt(0) == UNREAD) {
            element.setProperty(new TemplateProperty(property, Integer.parseInt(text.substring(1))));
        } else {
            setter.accept(text);
        }
    }

    /** The text of a property, or its placeholder if no other text was set. */
    private static String get(TestElement element, String property, Supplier<String> getter) {
        return element.getProperty(property) instanceof TemplateProperty unread && !unread.isOverridden()
            ? UNREAD + Integer.toString(unread.number()) : getter.get();
    }
}
