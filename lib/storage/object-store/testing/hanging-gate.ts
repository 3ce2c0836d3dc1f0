/** Stands before a server and lets everything through, until it takes connections and never answers. For tests. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface HangingGate {
  /** Its origin. */
  endpoint: string;
  /** From now on nothing comes back, on connections that are open too; what is sent is lost. */
  hang(): void;
  /** What comes from now on is let through; connections from before are cut. */
  answer(): void;
  stop(): Promise<void>;
}

export async function startHangingGate(target: string): Promise<HangingGate> {
  const { hostname, port: behind } = new URL(target);
  const open = new Set<Socket>();
  let hangs = false;
  const server = createServer((client) => {
    const upstream = connect(Number(behind), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.on('data', (piece) => {
        if (!hangs) to.write(piece);
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hang() {
      hangs = true;
    },
    answer() {
      hangs = false;
      cut();
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
