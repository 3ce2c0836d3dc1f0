/**
 * A server that is killed and started again at the same address while pages of it are open, and what may stand before
 * it: a proxy that answers by itself or cuts what it passes on. Knows nothing of the pages.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

export interface Restarted {
  /** The address at which it always is. */
  url: string;
  call: ServerProcess['call'];
  /** Ends it as a crash would: nothing is told to anybody. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Ends it for good, and removes its folder. */
  remove(): Promise<void>;
}

/** Starts a server with its console on a throwaway data folder. */
export async function startRestarted(): Promise<Restarted> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-restarted-'));
  const spawn = (port: string) =>
    spawnServer({
      folder,
      args: [],
      settings: { NODE_ENV: 'production', WB_POOL: '1', WB_TICK_MS: '200', WB_LOG: 'fatal', PORT: port },
    });
  let server = await spawn('0');
  const { url, call } = server;
  return {
    url,
    call,
    kill: async () => void (await server.end('SIGKILL')),
    async start() {
      server = await spawn(new URL(url).port);
    },
    async remove() {
      await server.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the proxy does with a request: passes it on, answers it by itself, or ends the answer in its middle. */
type Treatment = 'pass' | 404 | 502 | 504 | 'cut';

export interface TestProxy {
  url: string;
  /** Says what happens with each request from now on. */
  treat(choose: (req: IncomingMessage) => Treatment): void;
  /** Changes the headers of answers that are passed on. */
  alter(change: (headers: IncomingMessage['headers']) => void): void;
  close(): Promise<void>;
}

function passOn(req: IncomingMessage, res: ServerResponse, to: URL, ends: { cut: boolean }, change: Change): void {
  const { method, headers, url: path } = req;
  // A cut answer has to be long enough to have a middle: it comes as it is.
  const sent = ends.cut ? { ...headers, 'accept-encoding': 'identity' } : headers;
  const passed = request({ host: to.hostname, port: to.port, method, path, headers: sent }, (answer) => {
    change(answer.headers);
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    if (ends.cut) {
      answer.once('data', (chunk: Buffer) => res.write(chunk.subarray(0, chunk.length / 2), () => res.destroy()));
      return;
    }
    answer.on('error', () => res.destroy());
    answer.pipe(res);
  });
  passed.on('error', () => {
    if (res.headersSent) res.destroy();
    else res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>');
  });
  res.on('close', () => passed.destroy());
  req.pipe(passed);
}

type Change = (headers: IncomingMessage['headers']) => void;

/** Starts a proxy before the server at `target`. */
export async function startProxy(target: string): Promise<TestProxy> {
  const to = new URL(target);
  let choose: (req: IncomingMessage) => Treatment = () => 'pass';
  let change: Change = () => {};
  const server = createServer((req, res) => {
    const treatment = choose(req);
    if (treatment === 'pass' || treatment === 'cut') {
      passOn(req, res, to, { cut: treatment === 'cut' }, change);
      return;
    }
    req.resume();
    res.writeHead(treatment, { 'content-type': 'text/html' }).end(`<h1>${treatment}</h1>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    treat(next) {
      choose = next;
      // Streams that are open are not what is asked for from now on.
      server.closeAllConnections();
    },
    alter(next) {
      change = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
