// The API of `benches/api.jmx` for k6; URL, VUS and DURATION come from `cargo xtask bench`.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  vus: __ENV.VUS,
  duration: __ENV.DURATION,
  summaryTrendStats: ['p(50)', 'p(99)', 'p(99.9)'],
};

const JSON_BODY = { headers: { 'Content-Type': 'application/json' } };

export default function () {
  const cart = http.get(`${__ENV.URL}?csrf=t-4711`).json('cart.id');

  const body = JSON.stringify({ sku: 'W-1', quantity: 2, csrf: 't-4711' });
  const order = http.post(http.url`${__ENV.URL}/${cart}/items`, body, JSON_BODY);
  check(order, { accepted: (r) => r.body.includes('"accepted":true') });
}
