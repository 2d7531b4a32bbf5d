// The requests of `benches/requests.jmx` for k6; URL, VUS and DURATION come from `cargo xtask bench`.
import http from 'k6/http';

export const options = {
  vus: __ENV.VUS,
  duration: __ENV.DURATION,
  discardResponseBodies: true,
  summaryTrendStats: ['p(50)', 'p(99)', 'p(99.9)'],
};

export default function () {
  for (let i = 0; i < 10; i++) {
    http.get(__ENV.URL);
  }
}
