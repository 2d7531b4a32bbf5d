"""The shop of `benches/shop.jmx` for Locust; users and the list's address, as the host, come from `cargo xtask bench`."""

import re
from urllib.parse import urljoin

from locust import FastHttpUser, constant, task

CSRF = re.compile(r'name="csrf" value="([^"]+)"')


class Shopper(FastHttpUser):
    wait_time = constant(0)

    def address(self, path):
        return urljoin(self.host, path)

    @task
    def shop(self):
        with self.client.get(self.address("/store/"), name="List", catch_response=True) as listed:
            if "Your basket" not in listed.text:
                listed.failure("no basket")
            csrf = CSRF.search(listed.text).group(1)
        cart = self.client.get(self.address(f"/store/api/cart?csrf={csrf}"), name="Cart").json()["cart"]["id"]
        body = {"sku": "W-1", "quantity": 2, "csrf": csrf}
        items = self.address(f"/store/api/cart/{cart}/items")
        with self.client.post(items, name="Order", json=body, catch_response=True) as order:
            if '"accepted":true' not in order.text:
                order.failure("not accepted")
