/**
 * Sockets to a server of Postgres, as its own clients make them: encrypted as `sslmode` says, within a deadline, and
 * with an error when the other side hangs up, which the client would wait for otherwise. Knows nothing of sessions.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect as connectSocket, isIP, Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls';
import { messageOf } from '../../base/errors.ts';
import type { PostgresAddress, PostgresTls } from '../../base/postgres-url.ts';

/** What asks a server of Postgres whether it encrypts: its length and its number. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const [YES, NO] = ['S'.charCodeAt(0), 'N'.charCodeAt(0)];

/** Of a connection that one of the two sides does not encrypt, or does not trust. */
const REFUSED = 'CONNECTION_TLS';

const LOST = /^(ECONN|EPIPE|ETIMEDOUT)/;

type Host = PostgresAddress['hosts'][number];

/** What the client's own errors look like. */
export class ConnectionError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Opens a socket to one host. Rejects with the system's error, or a `ConnectionError`. */
export async function dial(host: Host, address: PostgresAddress): Promise<Socket> {
  const deadline = performance.now() + address.connectSeconds * 1000;
  // The client's messages name them.
  return Object.assign(await dialAs(host, address.tls, deadline), host);
}

async function dialAs(host: Host, tls: PostgresTls, deadline: number): Promise<Socket> {
  const isSocket = host.host.startsWith('/');
  // What goes through a socket does not leave the machine.
  if (isSocket || tls.mode === 'disable') return dialPlain(host, deadline);
  const raw = await dialPlain(host, deadline);
  try {
    const isEncrypting = await within(raw, deadline, asksForTls(raw));
    if (isEncrypting) return await encrypted(raw, host, tls, deadline);
    if (tls.mode === 'prefer') return raw;
    throw new ConnectionError(REFUSED, 'the server does not encrypt connections');
  } catch (error) {
    raw.destroy();
    if (tls.mode === 'prefer' && error instanceof ConnectionError && error.code === REFUSED)
      return dialPlain(host, deadline);
    throw error;
  }
}

/** A socket that fails as soon as somebody listens to it, with this error. */
export function failedSocket(error: Error): Socket {
  const socket = watched(new Socket());
  setImmediate(() => socket.destroy(error));
  return socket;
}

async function dialPlain({ host, port }: Host, deadline: number): Promise<Socket> {
  const socket = watched(host.startsWith('/') ? connectSocket(`${host}/.s.PGSQL.${port}`) : connectSocket(port, host));
  socket.setNoDelay(true);
  await within(socket, deadline, once(socket, 'connect'));
  return socket;
}

/** A socket of which nobody needs to listen to everything: who waits for something of it hears of errors by that. */
function watched<S extends Socket>(socket: S): S {
  socket.on('error', () => undefined);
  return socket.once('end', hungUp);
}

/** A listener of a socket: the end of the other side is an error. */
function hungUp(this: Socket): void {
  this.destroy(new ConnectionError('CONNECTION_CLOSED', 'the server ended the connection'));
}

/** Whether the server encrypts. What it sends behind its answer was not sent by whom it is said to be from. */
async function asksForTls(socket: Socket): Promise<boolean> {
  socket.write(TLS_REQUEST);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (answer.length === 1 && answer[0] === YES) return true;
  if (answer.length === 1 && answer[0] === NO) return false;
  throw new ConnectionError('CONNECTION_CLOSED', 'the server did not answer as one of Postgres does');
}

/** As `psql` means the mode: only the last two ask who the server is, and `require` where it is said who may sign. */
async function encrypted(raw: Socket, { host }: Host, tls: PostgresTls, deadline: number): Promise<Socket> {
  const { mode, rootFile, certificateFile, keyFile } = tls;
  const read = async (name: 'ca' | 'cert' | 'key', path: string | null): Promise<ConnectionOptions> =>
    path === null ? {} : { [name]: await readFile(path) };
  const options: ConnectionOptions = {
    ...(await read('ca', rootFile)),
    ...(await read('cert', certificateFile)),
    ...(await read('key', keyFile)),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    // Of an address, too: Node.js would compare it with `localhost`.
    checkServerIdentity: (_name, certificate) =>
      mode === 'verify-full' ? checkServerIdentity(host, certificate) : undefined,
    rejectUnauthorized: mode.startsWith('verify') || (mode === 'require' && rootFile !== null),
  };
  raw.off('end', hungUp);
  const socket = watched(connectTls({ ...options, socket: raw }));
  try {
    await within(socket, deadline, once(socket, 'secureConnect'));
  } catch (error) {
    if (error instanceof ConnectionError || LOST.test(String((error as { code?: unknown }).code))) throw error;
    throw new ConnectionError(REFUSED, messageOf(error));
  }
  return socket;
}

/** Waits for a socket; ends it when that takes too long, or fails. */
async function within<T>(socket: Socket, deadline: number, event: Promise<T>): Promise<T> {
  const timer = setTimeout(
    () => socket.destroy(new ConnectionError('CONNECT_TIMEOUT', 'the server did not answer in time')),
    Math.max(0, deadline - performance.now()),
  );
  try {
    return await event;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
