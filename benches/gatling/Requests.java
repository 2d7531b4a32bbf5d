import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import java.time.Duration;

/** The requests of `benches/requests.jmx` for Gatling; url, users and seconds come from `cargo xtask bench`. */
public class Requests extends Simulation {
    private static final int SECONDS = Integer.getInteger("seconds");

    private final ScenarioBuilder requests =
            scenario("Keep-alive")
                    .during(Duration.ofSeconds(SECONDS))
                    .on(repeat(10).on(exec(http("Request").get(System.getProperty("url")))));

    {
        setUp(requests.injectOpen(atOnceUsers(Integer.getInteger("users"))))
                .protocols(http.disableCaching());
    }
}
