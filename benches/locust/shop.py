"""The shop of `benches/shop.jmx` for Locust; host and users come from `cargo xtask bench`."""

import re

from locust import FastHttpUser, constant, task

CSRF = re.compile(r'name="csrf" value="([^"]+)"')


class Shopper(FastHttpUser):
    wait_time = constant(0)

    @task
    def shop(self):
        with self.client.get("/store/", name="List", catch_response=True) as listed:
            if "Your basket" not in listed.text:
                listed.failure("no basket")
            csrf = CSRF.search(listed.text).group(1)
        cart = self.client.get(f"/store/api/cart?csrf={csrf}", name="Cart").json()["cart"]["id"]
        body = {"sku": "W-1", "quantity": 2, "csrf": csrf}
        with self.client.post(f"/store/api/cart/{cart}/items", name="Order", json=body, catch_response=True) as order:
            if '"accepted":true' not in order.text:
                order.failure("not accepted")
