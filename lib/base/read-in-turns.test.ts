import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readInTurns } from './read-in-turns.ts';

const PIECES = 600_000;
/** Pieces that one read of a socket holds, and those after which it stops. */
const MOST = 65_536 / 6 + 8192;

/** Sends a body of pieces of one byte, and a second request behind it. Resolves with what came back. */
async function exchange(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  socket.write(`${'1\r\nx\r\n'.repeat(PIECES)}0\r\n\r\n`);
  socket.write('GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const said = await text(socket);
  server.close();
  return said;
}

/** Counts the pieces of a message by turns of the event loop, until it has ended. */
function countByTurns(req: IncomingMessage): { most(): number; all(): number } {
  let [inTurn, most, all] = [0, 0, 0];
  const { push } = req;
  req.push = (piece, encoding) => {
    if (piece !== null) [inTurn, all] = [inTurn + 1, all + 1];
    most = Math.max(most, inTurn);
    return push.call(req, piece, encoding);
  };
  void (async () => {
    while (!req.complete) {
      await setImmediate();
      inTurn = 0;
    }
  })();
  return { most: () => most, all: () => all };
}

test.each([
  ['read', (req: IncomingMessage, end: () => void) => void req.on('data', () => {}).on('end', end)],
  [
    'read slowly',
    async (req: IncomingMessage, end: () => void) => {
      let at = 0;
      for await (const _ of req) if (++at % 50_000 === 0) await setImmediate();
      end();
    },
  ],
  ['discarded', (_: IncomingMessage, end: () => void) => end()],
])('a body of single bytes that is %s is taken in turns, whole, and the next request after it', async (_how, take) => {
  let counted: ReturnType<typeof countByTurns> | null = null;
  const said = await exchange((req, res) => {
    if (req.url === '/next') return void res.end('next');
    readInTurns(req);
    counted = countByTurns(req);
    void take(req, () => res.end('body'));
  });
  expect(said).toMatch(/body[\s\S]*next/);
  const { most, all } = counted as unknown as ReturnType<typeof countByTurns>;
  expect(all()).toBe(PIECES);
  process.stdout.write(`most pieces in a turn: ${most()}\n`);
  expect(most()).toBeLessThanOrEqual(MOST);
});
