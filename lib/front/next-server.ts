/**
 * The front on an HTTP server that Next made (`next start`). Node publishes every request on a diagnostics channel
 * before any listener gets it. At the first one the front replaces Next's request listener, and calls that listener for
 * pages and route files. Requests wait until the engine runs.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { lookup } from 'node:dns/promises';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { isLoopback } from '../auth/cookies.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Host } from '../host/host.ts';
import { createFront, type Front } from './front.ts';
import type { PageHandler } from './page-adapter.ts';

/** Published by Node, synchronously, when the head of a request is parsed. */
const CHANNEL = 'http.server.request.start';
/** The events that Next, or Node by default, would answer. */
const EVENTS = ['request', 'checkContinue', 'checkExpectation', 'clientError', 'connect'];

export interface NextServer {
  /** Starts to answer. `pages` wraps Next's handler. Throws when HOST cannot be resolved. */
  open(host: Host, pages: (next: PageHandler) => PageHandler): Promise<void>;
  /** Stops accepting connections, lets answers under way finish for `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

/** Takes over the server on `port` of this process at its next request. `dev`: pages come from their sources. */
export function attachToNextServer({ port, dev }: { port: number; dev: boolean }): NextServer {
  const opened = Promise.withResolvers<(next: PageHandler) => Front>();
  let attached: { server: Server; front: Front | null } | null = null;

  const attach = (server: Server): void => {
    const address = server.address();
    const [nextListener] = server.listeners('request') as RequestListener[];
    if (nextListener === undefined || address === null || typeof address === 'string' || address.port !== port) return;
    unsubscribe(CHANNEL, onRequest);
    const entry: NonNullable<typeof attached> = { server, front: null };
    attached = entry;
    for (const event of EVENTS) server.removeAllListeners(event);
    // Only hot reloading upgrades to another protocol.
    if (!dev) server.removeAllListeners('upgrade');
    const waiting: [IncomingMessage, ServerResponse][] = [];
    const wait = (...request: [IncomingMessage, ServerResponse]) => void waiting.push(request);
    server.on('request', wait);
    void opened.promise.then((make) => {
      server.off('request', wait);
      entry.front = make(async (req, res) => nextListener.call(server, req, res));
      entry.front.attach(server);
      for (const request of waiting) server.emit('request', ...request);
    });
  };
  const onRequest = (message: unknown) => attach((message as { server: Server }).server);
  subscribe(CHANNEL, onRequest);

  return {
    async open(host, pages) {
      const addressProblem = await addressCheck(host.config.host);
      opened.resolve((next) => createFront(host, { pages: pages(next), routes: next, dev, addressProblem }));
    },
    async close(graceMs) {
      if (attached?.front) await attached.front.close(attached.server, graceMs);
    },
  };
}

/**
 * A check that refuses connections to any address but those of `HOST`: Next may listen on more of them. Connections
 * over the loopback are always accepted.
 */
async function addressCheck(host: string): Promise<(req: IncomingMessage) => WinterdockError | null> {
  if (host === '0.0.0.0' || host === '::') return () => null;
  const allowed = new Set((await lookup(host, { all: true })).map(({ address }) => address));
  return ({ socket }) => {
    const address = (socket.localAddress ?? '').replace(/^::ffff:(?=.*\.)/, '');
    if (isLoopback(address) || allowed.has(address)) return null;
    return new WinterdockError('forbidden', 'This server answers at another address only.', {
      hint: `HOST is ${host}. To serve at every address, start the server with HOST=0.0.0.0.`,
    });
  };
}
