package org.apache.jmeter.threads;

import java.util.function.Supplier;

import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;

/**
 * The JMeterContext of one virtual user. The previous result and the current sampler are made when something first asks for
 * them during a call. It is in JMeter's package because only classes there may extend JMeterContext.
 */
public class UserContext extends JMeterContext {
    private Supplier<SampleResult> result;
    private Supplier<Sampler> sampler;

    /** Where the previous result and the current sampler come from during the next call. */
    public void offer(Supplier<SampleResult> result, Supplier<Sampler> sampler) {
        this.result = result;
        this.sampler = sampler;
    }

    @Override
    public SampleResult getPreviousResult() {
        return result == null ? super.getPreviousResult() : result.get();
    }

    @Override
    public Sampler getCurrentSampler() {
        return sampler == null ? super.getCurrentSampler() : sampler.get();
    }
}
