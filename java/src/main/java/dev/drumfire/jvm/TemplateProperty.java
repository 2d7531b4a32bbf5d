package dev.drumfire.jvm;

import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.AbstractProperty;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.UserContext;

/**
 * A property whose text has variables or functions in it, which the engine evaluates each time it is read, as JMeter's
 * FunctionProperty does.
 */
final class TemplateProperty extends AbstractProperty {
    private static final long serialVersionUID = 1L;

    private final int number;
    private String override;

    TemplateProperty(String name, int number) {
        super(name);
        this.number = number;
    }

    int number() {
        return number;
    }

    /** Whether it was given another text. */
    boolean isOverridden() {
        return override != null;
    }

    @Override
    public String getStringValue() {
        if (override != null) {
            return override;
        }
        // Threads that a plugin starts have the context of the user whose work they do.
        return JMeterContextService.getContext() instanceof UserContext context && context.user() instanceof User user
            ? user.reach(() -> Natives.template(number), "") : Natives.template(number);
    }

    @Override
    public Object getObjectValue() {
        return getStringValue();
    }

    @Override
    public void setObjectValue(Object value) {
        override = String.valueOf(value);
    }

    @Override
    public void recoverRunningVersion(TestElement owner) {
        override = null;
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return number;
    }

    @Override
    public TemplateProperty clone() {
        return (TemplateProperty) super.clone();
    }
}
