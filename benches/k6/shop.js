// The shop of `benches/shop.jmx` for k6; URL, VUS and DURATION come from `cargo xtask bench`.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  vus: __ENV.VUS,
  duration: __ENV.DURATION,
  summaryTrendStats: ['p(50)', 'p(99)', 'p(99.9)'],
};

const JSON_BODY = { headers: { 'Content-Type': 'application/json' } };

export default function () {
  const list = http.get(__ENV.URL);
  check(list, { basket: (r) => r.body.includes('Your basket') });
  const csrf = list.body.match(/name="csrf" value="([^"]+)"/)[1];

  const cart = http.get(http.url`${__ENV.URL}api/cart?csrf=${csrf}`).json('cart.id');

  const body = JSON.stringify({ sku: 'W-1', quantity: 2, csrf });
  const order = http.post(http.url`${__ENV.URL}api/cart/${cart}/items`, body, JSON_BODY);
  check(order, { accepted: (r) => r.body.includes('"accepted":true') });
}
