/** Connections to a database of Postgres, as the registry uses them. Loads the client only when it is asked for. */
import type { Socket } from 'node:net';
import type { Options, Sql } from 'postgres';
import { messageOf } from '../../base/errors.ts';
import type { PostgresAddress } from '../../base/postgres-url.ts';
import { ConnectionError, dial, failedSocket } from './dial.ts';
import { codeOf, isAway } from './errors.ts';

/** The schema that a registry is in. */
export const SCHEMA = 'winterdock';

const IS_READ_ONLY = `select (pg_is_in_recovery() or current_setting('transaction_read_only')::bool)::int`;

export interface ConnectSettings {
  /** Where names without a schema are looked for. */
  schema?: string;
  /** Called each time when the connection is gone. */
  onClose?: () => void;
  /** Called with the text of each notification that the connection listens for. */
  onNotify?: (text: string) => void;
  /** What the connection is called for whoever looks at the server's sessions. */
  name?: string;
}

type Connector = (options?: ConnectSettings) => Sql;

/**
 * One connection, which is made when the first statement is sent, and again after it was lost.
 */
export async function connect(address: PostgresAddress, options: ConnectSettings = {}): Promise<Sql> {
  return (await connectorTo(address))(options);
}

/** What makes connections as `connect` does. */
export async function connectorTo(address: PostgresAddress): Promise<Connector> {
  const { default: postgres } = await import('postgres');
  const client = (options: ConnectSettings, dialled: () => Promise<Socket>) => {
    const socket = async () => {
      const made = await dialled().catch(failedSocket);
      // Before those are told who wait for an answer: what they send then goes to the connection that comes after.
      return made.once('error', () => options.onClose?.());
    };
    return postgres({ ...optionsFor(address, options), socket } as object) as unknown as Sql;
  };
  return (options = {}) => client(options, () => dialFirst(address, (socket) => client({}, socket)));
}

/**
 * A socket to the first host, in their order, that lets somebody in, and takes writes where that is asked for. What
 * another client would do with a session of its own: whether one takes writes is known only then. Rejects with the
 * error of a host that is there and refuses, or with one that names all of them.
 */
async function dialFirst(address: PostgresAddress, client: (socket: () => Promise<Socket>) => Sql): Promise<Socket> {
  const { hosts, writable } = address;
  const [only] = hosts;
  if (only !== undefined && hosts.length === 1 && !writable) return dial(only, address);
  const failures: string[] = [];
  for (const host of hosts) {
    const sql = client(() => dial(host, address));
    try {
      const [[isReadOnly] = []] = await sql.unsafe(IS_READ_ONLY).values();
      if (writable && Number(isReadOnly) === 1) throw new ConnectionError('CONNECTION_READ_ONLY', 'it takes no writes');
      return await dial(host, address);
    } catch (error) {
      if (!isAway(error)) throw error;
      failures.push(`${host.host}:${host.port}: ${messageOf(error) || codeOf(error)}`);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
  throw new ConnectionError('CONNECTION_NOWHERE', failures.join('; '));
}

/** Whole numbers and sums are numbers: none of the registry's is beyond `Number.MAX_SAFE_INTEGER`. */
function optionsFor(
  address: PostgresAddress,
  { schema = SCHEMA, onClose = () => undefined, onNotify, name = 'winterdock' }: ConnectSettings,
): Options<Record<string, never>> {
  const number = { parse: Number, serialize: String };
  const { hosts, database, user, password, connectSeconds } = address;
  const options = {
    // For its messages: it is given sockets. With several hosts it would never say that none of them is there.
    host: hosts.slice(0, 1).map(({ host }) => host),
    port: hosts.slice(0, 1).map(({ port }) => port),
    database,
    user,
    // Undefined: the client takes `PGPASSWORD`.
    pass: password ?? undefined,
    // Not what the environment has for it: its sockets are encrypted already, and its errors show no values.
    ssl: false,
    debug: false,
    max: 1,
    // Seconds after which a silent server is asked whether it is there, by the system.
    keep_alive: 10,
    connect_timeout: connectSeconds,
    // Seconds between two attempts to connect. The client's own grow to twenty, which whoever asks next would wait for.
    backoff: 0.1,
    // It would be closed between two statements of a transaction.
    max_lifetime: null,
    idle_timeout: null,
    // Types of extensions are not asked for: the registry uses none.
    fetch_types: false,
    onnotice: () => undefined,
    onclose: onClose,
    ...(onNotify === undefined ? {} : { onnotify: (_channel: string, text: string) => onNotify(text) }),
    types: { bigint: { to: 20, from: [20], ...number }, numeric: { to: 1700, from: [1700], ...number } },
    connection: {
      application_name: name,
      search_path: schema,
      // What is asked for often is in memory: with the costs of a disk that turns, Postgres passes thousands of rows in
      // the order of another index instead of a hundred by theirs. Compiling a statement takes longer than any of them.
      random_page_cost: '1.1',
      jit: 'off',
    },
  };
  return options as unknown as Options<Record<string, never>>;
}
