package org.apache.jmeter.threads;

import java.util.function.Supplier;

import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;

/**
 * The JMeterContext of one virtual user. The previous result and the current sampler are made when something first asks for
 * them during a call. It is in JMeter's package because only classes there may extend JMeterContext.
 */
public class UserContext extends JMeterContext {
    /** Whose context it is. */
    private final Object user;
    private Supplier<SampleResult> result;
    private Supplier<Sampler> sampler;
    private Supplier<Sampler> previousSampler;

    public UserContext(Object user) {
        this.user = user;
    }

    public Object user() {
        return user;
    }

    /** Where the previous result, the current sampler and the one before it come from during the next call. */
    public void offer(Supplier<SampleResult> result, Supplier<Sampler> sampler, Supplier<Sampler> previousSampler) {
        this.result = result;
        this.sampler = sampler;
        this.previousSampler = previousSampler;
    }

    @Override
    public void clear() {
        super.clear();
        offer(null, null, null);
    }

    @Override
    public Sampler getPreviousSampler() {
        return previousSampler == null ? super.getPreviousSampler() : previousSampler.get();
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
