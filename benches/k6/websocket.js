// The messages of `benches/websocket.jmx` for k6; URL, VUS and DURATION come from `cargo xtask bench`.
import ws from 'k6/ws';

export const options = {
  vus: __ENV.VUS,
  duration: __ENV.DURATION,
  summaryTrendStats: ['p(50)', 'p(99)', 'p(99.9)'],
};

const MESSAGE = JSON.stringify({ type: 'ping', from: 'a user' });

export default function () {
  ws.connect(__ENV.URL, {}, (socket) => {
    let left = 1000;
    socket.on('open', () => socket.send(MESSAGE));
    socket.on('message', () => {
      left -= 1;
      if (left > 0) {
        socket.send(MESSAGE);
      } else {
        socket.close();
      }
    });
  });
}
