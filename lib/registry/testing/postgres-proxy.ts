/**
 * For tests: what lies between a registry and its server of Postgres, and can be cut, closed, held and made to lose an
 * answer.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { PostgresAddress } from '../../base/postgres-url.ts';

export interface PostgresProxy {
  /** The same database, through this. */
  readonly address: PostgresAddress;
  /** Ends every connection at once. */
  cut(): void;
  /** Nobody gets in, until `open`. */
  close(): void;
  open(): void;
  /** Nothing comes back from the server, and no connection ends, until `open`. */
  hold(): void;
  /** The next time that a client sends `word`, it arrives, and the connection ends before its answer. */
  loseAnswerTo(word: string): void;
  /** Whether an answer was lost since. */
  readonly hasLost: boolean;
  end(): Promise<void>;
}

/** Begins to pass on what comes for a database that is reached by TCP. */
export async function postgresProxy(address: PostgresAddress): Promise<PostgresProxy> {
  const [to] = address.hosts;
  if (to === undefined) throw new Error('There is no host.');
  const open = new Set<Socket>();
  let [isClosed, isHeld, hasLost] = [false, false, false];
  let word: string | null = null;
  const server = createServer((client) => {
    if (isClosed) return void client.destroy();
    const upstream = connect(to.port, to.host);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    let isLosing = false;
    client.on('data', (sent) => {
      if (word !== null && sent.includes(word)) [isLosing, word] = [true, null];
      upstream.write(sent);
    });
    upstream.on('data', (answer) => {
      if (isLosing) {
        hasLost = true;
        client.destroy();
      } else if (!isHeld) client.write(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    address: { ...address, hosts: [{ host: '127.0.0.1', port }] },
    cut,
    close() {
      isClosed = true;
      cut();
    },
    open() {
      [isClosed, isHeld] = [false, false];
    },
    hold() {
      isHeld = true;
    },
    loseAnswerTo(given) {
      [word, hasLost] = [given, false];
    },
    get hasLost() {
      return hasLost;
    },
    async end() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
