/** Our own HTTP server, used by `npm start`: requests reach the front exactly as they were sent. Knows no route. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { hasDescriptorsFor } from '../base/open-files.ts';
import type { Host } from '../host/host.ts';
import { createFront, type FrontOptions, HEADERS_MS } from './front.ts';

export interface ListenOptions extends Omit<FrontOptions, 'routes'> {
  /** 0: any free port. */
  port: number;
  address: string;
}

export interface Listener {
  /** The port it listens on. */
  readonly port: number;
  readonly server: Server;
  /** Stops accepting connections, lets answers under way finish for `graceMs`, then cuts them. Idempotent. */
  close(graceMs: number): Promise<void>;
}

/** What a request opens at most beside its connection, with some for what runs meanwhile. */
const FILES_OF_REQUEST = 6;
const REFUSAL = JSON.stringify({
  type: 'about:blank',
  title: 'Unavailable',
  status: 503,
  code: 'capacity',
  detail: 'The server may open no more connections.',
  hint: 'Try again; when it stays so, raise the limit of open files (ulimit -n).',
});
const REFUSAL_HEAD = `HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(REFUSAL)}\r\nretry-after: 1\r\nconnection: close\r\n\r\n`;

/** Answers a connection that leaves no files for its request, instead of cutting it at the limit. */
function refuseWithoutRoom(socket: Socket): void {
  if (hasDescriptorsFor(FILES_OF_REQUEST, 1)) return;
  // The system takes these few bytes at once; closing it then makes room for the next.
  socket.write(REFUSAL_HEAD + REFUSAL);
  socket.destroy();
}

/** Starts listening. Throws the error of `listen` (`EADDRINUSE`, `EACCES`, …). */
export async function listen(host: Host, options: ListenOptions): Promise<Listener> {
  const { headersMs = HEADERS_MS, dev = false } = options;
  const front = createFront(host, options);
  const server = createServer({
    // The front refuses a request without a Host header itself, with a problem document.
    requireHostHeader: false,
    // Only hot reloading upgrades to another protocol; any other upgrade request gets a plain HTTP answer.
    shouldUpgradeCallback: () => dev,
    connectionsCheckingInterval: Math.min(headersMs / 2, 30_000),
  });
  front.attach(server);
  server.on('connection', refuseWithoutRoom);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.address, () => {
      server.off('error', reject);
      resolve();
    });
  });
  let closed: Promise<void> | null = null;
  return {
    port: (server.address() as AddressInfo).port,
    server,
    close(graceMs) {
      closed ??= front.close(server, graceMs);
      return closed;
    },
  };
}
