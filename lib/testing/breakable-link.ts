/**
 * For tests: a connection between two parts that breaks. An address that leads to a server, which may be named later
 * and be another one later; its connections are ended, refused, or say nothing for a while.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net';

export class BreakableLink {
  readonly #server: Server;
  /** Each client with what it leads to, once that is dialled. */
  readonly #pairs = new Map<Socket, Socket | null>();
  #target = { host: '127.0.0.1', port: 0 };
  #does: 'pass' | 'refuse' | 'hold' = 'pass';
  /** Connections that came through it. */
  count = 0;

  constructor() {
    this.#server = createServer((client) => {
      client.on('error', () => undefined);
      if (this.#does === 'refuse') return void client.destroy();
      this.count += 1;
      this.#pairs.set(client, null);
      client.once('close', () => {
        this.#pairs.get(client)?.destroy();
        this.#pairs.delete(client);
      });
      if (this.#does === 'hold') client.pause();
      else this.#join(client);
    });
  }

  /** Begins to listen. Resolves with the port. */
  async open(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** New connections lead there. `origin`: a URL with a host and a port. */
  leadTo(origin: string): void {
    const { hostname, port } = new URL(origin);
    this.#target = { host: hostname, port: Number(port) };
  }

  /** Ends every connection at once. */
  cut(): void {
    for (const client of this.#pairs.keys()) client.destroy();
  }

  /** The same, and nobody gets in until `pass`. */
  refuse(): void {
    this.#does = 'refuse';
    this.cut();
  }

  /** Nothing gets through, in either direction, and nobody is told, until `pass`: then all of it does. */
  hold(): void {
    this.#does = 'hold';
    for (const [client, onward] of this.#pairs) {
      for (const side of [client, onward]) side?.unpipe().pause();
    }
  }

  /** Everything gets through. */
  pass(): void {
    const wasHeld = this.#does === 'hold';
    this.#does = 'pass';
    if (!wasHeld) return;
    for (const [client, onward] of this.#pairs) {
      if (onward === null) this.#join(client);
      else client.pipe(onward).pipe(client);
    }
  }

  /** Ends it. Idempotent. */
  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(client: Socket): void {
    const onward = dial(this.#target);
    this.#pairs.set(client, onward);
    onward.on('error', () => undefined);
    onward.once('close', () => client.destroy());
    client.pipe(onward).pipe(client);
  }
}
