/** Connections to a database of Postgres, as the registry uses them. Loads the client only when it is asked for. */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { Options, Sql } from 'postgres';
import type { PostgresAddress, PostgresTls } from '../../base/postgres-url.ts';

/** The schema that a registry is in. */
export const SCHEMA = 'winterdock';

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
 * One connection, which is made when the first statement is sent, and again after it was lost. Throws the system's
 * error for a file of certificates that cannot be read.
 */
export async function connect(address: PostgresAddress, options: ConnectSettings = {}): Promise<Sql> {
  return (await connectorTo(address))(options);
}

/** What makes connections as `connect` does. */
export async function connectorTo(address: PostgresAddress): Promise<Connector> {
  const { default: postgres } = await import('postgres');
  return (options = {}) => postgres(optionsFor(address, options)) as unknown as Sql;
}

/** Whole numbers and sums are numbers: none of the registry's is beyond `Number.MAX_SAFE_INTEGER`. */
function optionsFor(
  address: PostgresAddress,
  { schema = SCHEMA, onClose = () => undefined, onNotify, name = 'winterdock' }: ConnectSettings,
): Options<Record<string, never>> {
  const number = { parse: Number, serialize: String };
  const { hosts, database, user, password, connectSeconds, writable } = address;
  const [socket] = hosts.filter(({ host }) => host.startsWith('/'));
  const options = {
    host: hosts.map(({ host }) => host),
    port: hosts.map(({ port }) => port),
    ...(socket === undefined ? {} : { path: `${socket.host}/.s.PGSQL.${socket.port}` }),
    database,
    user,
    // Undefined: the client takes `PGPASSWORD`.
    pass: password ?? undefined,
    // What goes through a socket does not leave the machine.
    ssl: socket === undefined && tlsFor(address.tls),
    max: 1,
    connect_timeout: connectSeconds,
    // Seconds between two attempts to connect. The client's own grow to twenty, which whoever asks next would wait for.
    backoff: 0.1,
    // It would be closed between two statements of a transaction.
    max_lifetime: null,
    idle_timeout: null,
    // Undefined: the client takes the environment's.
    target_session_attrs: writable ? 'read-write' : undefined,
    // Types of extensions are not asked for: the registry uses none.
    fetch_types: false,
    onnotice: () => undefined,
    onclose: onClose,
    ...(onNotify === undefined ? {} : { onnotify: (_channel: string, text: string) => onNotify(text) }),
    types: { bigint: { to: 20, from: [20], ...number }, numeric: { to: 1700, from: [1700], ...number } },
    connection: { application_name: name, search_path: schema },
  };
  return options as unknown as Options<Record<string, never>>;
}

/** As `psql` means the mode: only the last two ask who the server is, and `require` where it is said who may sign. */
function tlsFor({ mode, rootFile, certificateFile, keyFile }: PostgresTls): false | 'prefer' | ConnectionOptions {
  if (mode === 'disable') return false;
  if (mode === 'prefer' && certificateFile === null) return mode;
  const read = (path: string | null) => (path === null ? {} : { value: readFileSync(path) });
  const [ca, cert, key] = [read(rootFile).value, read(certificateFile).value, read(keyFile).value];
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key }),
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
    rejectUnauthorized: mode.startsWith('verify') || (mode === 'require' && ca !== undefined),
  };
}
