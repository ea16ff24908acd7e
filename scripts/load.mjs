// @ts-check
// A worker thread that keeps one core and the loopback interface busy until it is terminated, with
// short pauses.
import { createHash } from 'node:crypto';
import { createServer, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const BUSY_MS = 40;
const PAUSE_MS = 10;
const CHUNK = Buffer.alloc(65_536, 'x');

const server = createServer((socket) => socket.resume());
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  void burn(connect(port, '127.0.0.1'));
});

/** @param {import('node:net').Socket} socket */
async function burn(socket) {
  for (;;) {
    const end = performance.now() + BUSY_MS;
    while (performance.now() < end) createHash('sha256').update(CHUNK).digest();
    if (!socket.writableNeedDrain) socket.write(CHUNK);
    await delay(PAUSE_MS);
  }
}
