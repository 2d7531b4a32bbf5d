import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import java.time.Duration;

/** The shop of `benches/shop.jmx` for Gatling; url, users and seconds come from `cargo xtask bench`. */
public class Shop extends Simulation {
    private static final String ORDER = "{\"sku\":\"W-1\",\"quantity\":2,\"csrf\":\"#{csrf}\"}";

    private final ScenarioBuilder shop =
            scenario("Shop")
                    .during(Duration.ofSeconds(Integer.getInteger("seconds")))
                    .on(
                            exec(
                                    http("List")
                                            .get("")
                                            .check(
                                                    substring("Your basket"),
                                                    regex("name=\"csrf\" value=\"([^\"]+)\"").saveAs("csrf"))),
                            exec(
                                    http("Cart")
                                            .get("api/cart?csrf=#{csrf}")
                                            .check(jsonPath("$.cart.id").saveAs("cart"))),
                            exec(
                                    http("Order")
                                            .post("api/cart/#{cart}/items")
                                            .body(StringBody(ORDER))
                                            .asJson()
                                            .check(substring("\"accepted\":true"))));

    {
        setUp(shop.injectOpen(atOnceUsers(Integer.getInteger("users"))))
                .protocols(http.baseUrl(System.getProperty("url")).disableCaching());
    }
}
