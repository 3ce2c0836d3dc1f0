/**
 * The front before a server that Next made. Node tells of each request on a diagnostics channel before anybody has it:
 * there the front takes the place of Next's own listener, which it then asks for what is a page's or a route file's.
 * Until the engine runs, requests wait.
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
/** What Next, or Node for it, would answer by itself. */
const EVENTS = ['request', 'checkContinue', 'checkExpectation', 'clientError', 'connect'];

export interface AdoptedServer {
  /** Begins to answer. `pages`: what stands before Next. Throws when HOST is a name that nobody knows. */
  open(host: Host, pages: (next: PageHandler) => PageHandler): Promise<void>;
  /** Takes no more connections, lets answers under way finish for `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

/** Adopts the server on `port` of this process, when its next request comes. `dev`: pages come from their sources. */
export function adoptServer({ port, dev }: { port: number; dev: boolean }): AdoptedServer {
  const opened = Promise.withResolvers<(next: PageHandler) => Front>();
  let adopted: { server: Server; front: Front | null } | null = null;

  const adopt = (server: Server): void => {
    const address = server.address();
    const [own] = server.listeners('request') as RequestListener[];
    if (own === undefined || address === null || typeof address === 'string' || address.port !== port) return;
    unsubscribe(CHANNEL, take);
    const taken: NonNullable<typeof adopted> = { server, front: null };
    adopted = taken;
    for (const event of EVENTS) server.removeAllListeners(event);
    // Nothing but hot reloading speaks another protocol.
    if (!dev) server.removeAllListeners('upgrade');
    const waiting: [IncomingMessage, ServerResponse][] = [];
    const wait = (...request: [IncomingMessage, ServerResponse]) => void waiting.push(request);
    server.on('request', wait);
    void opened.promise.then((make) => {
      server.off('request', wait);
      taken.front = make(async (req, res) => own.call(server, req, res));
      taken.front.attach(server);
      for (const request of waiting) server.emit('request', ...request);
    });
  };
  const take = (message: unknown) => adopt((message as { server: Server }).server);
  subscribe(CHANNEL, take);

  return {
    async open(host, pages) {
      const whyNotHere = await reachOf(host.config.host);
      opened.resolve((next) => createFront(host, { pages: pages(next), routes: next, dev, whyNotHere }));
    },
    async close(graceMs) {
      if (adopted?.front) await adopted.front.close(adopted.server, graceMs);
    },
  };
}

/**
 * Why a connection may not come in by the address that it came to: Next listens where it was told, and `HOST` says who
 * is meant. What comes from the machine itself always is.
 */
async function reachOf(host: string): Promise<(req: IncomingMessage) => WinterdockError | null> {
  if (host === '0.0.0.0' || host === '::') return () => null;
  const meant = new Set((await lookup(host, { all: true })).map(({ address }) => address));
  return ({ socket }) => {
    const address = (socket.localAddress ?? '').replace(/^::ffff:(?=.*\.)/, '');
    if (isLoopback(address) || meant.has(address)) return null;
    return new WinterdockError('forbidden', 'This server answers at another address only.', {
      hint: `HOST is ${host}: whoever runs it sets HOST=0.0.0.0 for all.`,
    });
  };
}
