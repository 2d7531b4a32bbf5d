package org.apache.jmeter.threads;

import java.util.function.Supplier;

import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;

/**
 * The JMeterContext of one virtual user. The previous result and the current sampler are created on first use during a
 * call. It is in JMeter's package because only classes there may extend JMeterContext.
 */
public class UserContext extends JMeterContext {
    /** The user to which it belongs. */
    private final Object user;
    private Supplier<SampleResult> result;
    private boolean isOwnResult;
    private boolean isOwnSampler;
    private Sampler ownPreviousSampler;
    private Supplier<Sampler> sampler;
    private Supplier<Sampler> previousSampler;

    public UserContext(Object user) {
        this.user = user;
    }

    public Object user() {
        return user;
    }

    /** Sets where the previous result, the current sampler and the one before it come from during the next call. */
    public void offer(Supplier<SampleResult> result, Supplier<Sampler> sampler, Supplier<Sampler> previousSampler) {
        this.result = result;
        this.sampler = sampler;
        this.previousSampler = previousSampler;
    }

    @Override
    public void setPreviousResult(SampleResult own) {
        super.setPreviousResult(own);
        isOwnResult = true;
    }

    @Override
    public void setCurrentSampler(Sampler own) {
        ownPreviousSampler = getCurrentSampler();
        super.setCurrentSampler(own);
        isOwnSampler = true;
    }

    /** Starts a call: drops what scripts have set. */
    public void begin() {
        isOwnResult = false;
        isOwnSampler = false;
        ownPreviousSampler = null;
    }


    @Override
    public void clear() {
        super.clear();
        offer(null, null, null);
    }

    @Override
    public Sampler getPreviousSampler() {
        if (isOwnSampler) {
            return ownPreviousSampler;
        }
        return previousSampler == null ? super.getPreviousSampler() : previousSampler.get();
    }

    @Override
    public SampleResult getPreviousResult() {
        return result == null || isOwnResult ? super.getPreviousResult() : result.get();
    }

    @Override
    public Sampler getCurrentSampler() {
        return sampler == null || isOwnSampler ? super.getCurrentSampler() : sampler.get();
    }
}
