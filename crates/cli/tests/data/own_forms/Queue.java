package a.own;

import org.apache.jmeter.samplers.AbstractSampler;
import org.apache.jmeter.samplers.Entry;
import org.apache.jmeter.samplers.SampleResult;

/** A sampler of a plugin. */
public class Queue extends AbstractSampler {
    @Override
    public SampleResult sample(Entry entry) {
        return null;
    }
}
