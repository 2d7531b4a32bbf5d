package dev.drumfire.jvm;

import org.apache.jmeter.config.Argument;
import org.apache.jmeter.config.Arguments;
import org.apache.jmeter.protocol.http.control.CookieManager;
import org.apache.jmeter.protocol.http.control.Header;
import org.apache.jmeter.protocol.http.control.HeaderManager;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy;
import org.apache.jmeter.protocol.http.util.HTTPArgument;
import org.apache.jmeter.testelement.property.JMeterProperty;

/** The settings of an HTTP Request on their way between the engine and Java. The engine's side of it is {@code request.rs}. */
final class Requests {
    private Requests() {
    }

    static HTTPSamplerProxy read(byte[] bytes) {
        Wire.Reader in = new Wire.Reader(bytes);
        HTTPSamplerProxy sampler = new HTTPSamplerProxy();
        sampler.setName(in.text());
        sampler.setProtocol(in.text());
        sampler.setDomain(in.text());
        String port = in.text();
        if (!port.isEmpty()) {
            sampler.setProperty(HTTPSamplerBase.PORT, port);
        }
        sampler.setMethod(in.text());
        // setPath would take arguments out of it.
        sampler.setProperty(HTTPSamplerBase.PATH, in.text());
        sampler.setContentEncoding(in.text());
        sampler.setPostBodyRaw(in.flag());
        Arguments arguments = new Arguments();
        for (int left = in.number(); left > 0; left--) {
            HTTPArgument argument = new HTTPArgument(in.text(), in.text(), in.text());
            argument.setContentType(in.text());
            argument.setAlwaysEncoded(in.flag());
            arguments.addArgument(argument);
        }
        sampler.setArguments(arguments);
        HeaderManager headers = new HeaderManager();
        for (int left = in.number(); left > 0; left--) {
            headers.add(new Header(in.text(), in.text()));
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
        out.text(sampler.getName()).text(sampler.getPropertyAsString(HTTPSamplerBase.PROTOCOL));
        out.text(sampler.getDomain()).text(sampler.getPropertyAsString(HTTPSamplerBase.PORT));
        out.text(sampler.getMethod()).text(sampler.getPath()).text(sampler.getContentEncoding());
        out.flag(sampler.getPostBodyRaw());
        Arguments arguments = sampler.getArguments();
        out.number(arguments.getArgumentCount());
        for (JMeterProperty property : arguments) {
            Argument argument = (Argument) property.getObjectValue();
            out.text(argument.getName()).text(argument.getValue()).text(argument.getMetaData());
            HTTPArgument http = argument instanceof HTTPArgument known ? known : null;
            out.text(http == null ? "text/plain" : http.getContentType()).flag(http != null && http.isAlwaysEncoded());
        }
        HeaderManager headers = sampler.getHeaderManager();
        out.number(headers == null ? 0 : headers.size());
        for (int i = 0; headers != null && i < headers.size(); i++) {
            out.text(headers.get(i).getName()).text(headers.get(i).getValue());
        }
        out.flag(headers != null);
        CookieManager cookies = sampler.getCookieManager();
        out.text(cookies == null ? null : cookies.getPolicy());
        return out.done();
    }
}
