/**
 * For tests: what lies between a registry and its server of Postgres. It can be cut, closed, held, slow, made to lose
 * an answer and to lead to another server, and counts how often somebody waits for an answer.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { PostgresAddress } from '../../base/postgres-url.ts';

export interface PostgresProxy {
  /** The same database, through this. */
  readonly address: PostgresAddress;
  /** Ends every connection at once. */
  cut(): void;
  /** Nobody gets in, until `open`. `politely`: who tries is let in and shown out, as by a balancer without servers. */
  close(options?: { politely: boolean }): void;
  /** The connections that are called so end, and none of them gets in, until `open`. */
  refuse(name: string): void;
  open(): void;
  /** Nothing comes back from the server, and no connection ends, until `open`. */
  hold(): void;
  /** Each answer comes so many milliseconds later. */
  delay(ms: number): void;
  /** Connections from now on lead to a server on another port. */
  leadTo(port: number): void;
  /** The next time that a client sends `word`, it arrives, and the connection ends before its answer. */
  loseAnswerTo(word: string): void;
  /** Resolves the next time that a client sends `word`, which arrives. */
  sent(word: string): Promise<void>;
  /** Whether an answer was lost since. */
  readonly hasLost: boolean;
  /**
   * How often somebody waits for the server before `work` is done: answers are held back until nothing more is sent, so
   * that what needs no answer has been sent by then.
   */
  roundTrips(work: () => Promise<unknown>): Promise<number>;
  end(): Promise<void>;
}

/** After so long without anything that is sent, in milliseconds, whoever sends waits. */
const SILENT_MS = 50;
/** Bytes of the question for TLS, which may come before anything else. */
const SSL_REQUEST = 8;

/** Begins to pass on what comes for a database that is reached by TCP. */
export async function postgresProxy(address: PostgresAddress): Promise<PostgresProxy> {
  const [to] = address.hosts;
  if (to === undefined) throw new Error('There is no host.');
  const open = new Set<Socket>();
  let [isClosed, isHeld, hasLost, isPolite] = [false, false, false, false];
  let [{ port: target }, delayMs] = [to, 0];
  let word: string | null = null;
  /** Answers that are held back, while they are counted. */
  let counted: { waiting: (() => void)[]; trips: number; timer?: NodeJS.Timeout } | null = null;
  const letGo = () => {
    if (counted === null || counted.waiting.length === 0) return;
    counted.trips += 1;
    for (const answer of counted.waiting.splice(0)) answer();
  };
  const sending = () => {
    if (counted === null) return;
    clearTimeout(counted.timer);
    counted.timer = setTimeout(letGo, SILENT_MS);
  };
  let refused: string | null = null;
  /** What clients sent first where there is no TLS: what they are called is in it. */
  const begun = new Map<Socket, Buffer>();
  const awaited = new Set<{ word: string; resolve: () => void }>();
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    if (isClosed && isPolite) return void client.resume().end();
    if (isClosed) return void client.destroy();
    const upstream = connect(target, to.host);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        open.delete(socket);
        begun.delete(client);
        client.destroy();
        upstream.destroy();
      });
    }
    let isLosing = false;
    client.on('data', (sent) => {
      if (word !== null && sent.includes(word)) [isLosing, word] = [true, null];
      sending();
      if (!begun.has(client) && sent.length > SSL_REQUEST) begun.set(client, sent);
      if (refused !== null && begun.get(client)?.includes(`${refused}\0`)) return void client.destroy();
      upstream.write(sent);
      for (const waiting of [...awaited]) {
        if (!sent.includes(waiting.word)) continue;
        awaited.delete(waiting);
        waiting.resolve();
      }
    });
    upstream.on('data', (answer) => {
      if (isLosing) {
        hasLost = true;
        client.destroy();
      } else if (counted !== null) {
        counted.waiting.push(() => client.write(answer));
        sending();
      } else if (delayMs > 0) setTimeout(() => client.write(answer), delayMs);
      else if (!isHeld) client.write(answer);
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
    close({ politely } = { politely: false }) {
      [isClosed, isPolite] = [true, politely];
      cut();
    },
    refuse(name) {
      refused = name;
      for (const [client, sent] of begun) if (sent.includes(`${name}\0`)) client.destroy();
    },
    open() {
      [isClosed, isHeld, refused] = [false, false, null];
    },
    hold() {
      isHeld = true;
    },
    delay(ms) {
      delayMs = ms;
    },
    leadTo(port) {
      target = port;
    },
    loseAnswerTo(given) {
      [word, hasLost] = [given, false];
    },
    sent: (awaitedWord) => new Promise((resolve) => awaited.add({ word: awaitedWord, resolve })),
    get hasLost() {
      return hasLost;
    },
    async roundTrips(work) {
      const counting = { waiting: [], trips: 0 };
      counted = counting;
      try {
        await work();
      } finally {
        letGo();
        counted = null;
      }
      return counting.trips;
    },
    async end() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
