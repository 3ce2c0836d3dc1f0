/**
 * The address of a database of Postgres, as `psql` and its libraries take it: several hosts, `sslmode`, a socket. It
 * may have a password, so no message here repeats what was given.
 */

/** How the connection is encrypted, in the words of Postgres. Files are absolute paths. */
export interface PostgresTls {
  readonly mode: (typeof TLS_MODES)[number];
  /** Certificates of who may sign that of the server; null: those that Node.js knows. */
  readonly rootFile: string | null;
  /** The client's own certificate, and its key. */
  readonly certificateFile: string | null;
  readonly keyFile: string | null;
}

export interface PostgresAddress {
  /** Tried in this order. A host that begins with a slash is the folder of a socket. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly database: string;
  readonly user: string;
  /** Never shown. Null: the environment's `PGPASSWORD`, or none. */
  readonly password: string | null;
  readonly tls: PostgresTls;
  readonly connectSeconds: number;
  /** Whether a host that takes no writes is passed over. */
  readonly writable: boolean;
  /** The address without the password and the parameters, for people. */
  readonly name: string;
}

const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'connect_timeout', 'target_session_attrs', 'host'];
const FORM = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full';
const PORT = 5432;
const MOST_PORT = 65_535;
const CONNECT_SECONDS = 10;
const SHAPE = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#/]*))?(?:\?([^#]*))?$/i;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/i;

const wrong = (why: string) => new Error(`must be ${FORM}: ${why}`);

/** Whether a text is meant as such an address. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/** Parses it. Throws an Error whose message says what is allowed and never contains the text. */
export function parsePostgresUrl(text: string): PostgresAddress {
  const shape = SHAPE.exec(text);
  if (shape === null) throw wrong('a /, ? or # in a name or a password is written %2F, %3F, %23');
  const [, authority = '', path = '', query = ''] = shape;
  const at = authority.lastIndexOf('@');
  const [account, places] = at < 0 ? ['', authority] : [authority.slice(0, at), authority.slice(at + 1)];
  const colon = account.indexOf(':');
  const user = decoded(colon < 0 ? account : account.slice(0, colon));
  const password = colon < 0 ? '' : decoded(account.slice(colon + 1));
  const database = decoded(path);
  if (user === '') throw wrong('it names no user');
  if (database === '') throw wrong('it names no database');
  const given = parametersOf(query);
  const socket = given.get('host') ?? null;
  if (socket !== null && (places !== '' || !socket.startsWith('/')))
    throw wrong('host is the folder of a socket, and then no host comes before the database');
  const hosts = socket === null ? places.split(',').map(hostOf) : [{ host: socket, port: PORT }];
  const where = socket === null ? hosts.map(({ host, port }) => `${bracketed(host)}:${port}`).join(',') : socket;
  return {
    hosts,
    database,
    user,
    password: password === '' ? null : password,
    tls: tlsOf(given),
    connectSeconds: secondsOf(given.get('connect_timeout')),
    writable: isWritable(given.get('target_session_attrs')),
    name: `postgres://${user}@${where}/${database}`,
  };
}

const bracketed = (host: string) => (host.includes(':') ? `[${host}]` : host);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('a % is written %25');
  }
}

function hostOf(text: string): { host: string; port: number } {
  const [, six, name, port] = HOST.exec(text) ?? [];
  const host = six ?? name;
  if (host === undefined || Number(port) > MOST_PORT)
    throw wrong('its host is none; a : or @ in a name or a password is written %3A, %40');
  return { host, port: port === undefined ? PORT : Number(port) };
}

function parametersOf(query: string): Map<string, string> {
  const given = new Map<string, string>();
  for (const part of query === '' ? [] : query.split('&')) {
    const at = part.indexOf('=');
    const [name, value] = [part.slice(0, at), decoded(part.slice(at + 1))];
    if (at < 0 || value === '' || !PARAMETERS.includes(name) || given.has(name))
      throw wrong(`its parameters are ${PARAMETERS.join(', ')}, each once and with a value`);
    given.set(name, value);
  }
  return given;
}

function tlsOf(given: ReadonlyMap<string, string>): PostgresTls {
  const mode = TLS_MODES.find((one) => one === (given.get('sslmode') ?? 'prefer'));
  if (mode === undefined) throw wrong(`sslmode is one of ${TLS_MODES.join(', ')}`);
  const fileOf = (name: string) => {
    const path = given.get(name) ?? null;
    if (path !== null && !path.startsWith('/')) throw wrong(`${name} is an absolute path`);
    return path;
  };
  const root = given.get('sslrootcert') === 'system' ? null : fileOf('sslrootcert');
  const [certificateFile, keyFile] = [fileOf('sslcert'), fileOf('sslkey')];
  if ((certificateFile === null) !== (keyFile === null)) throw wrong('sslcert and sslkey are given together');
  return { mode, rootFile: root, certificateFile, keyFile };
}

function secondsOf(text: string | undefined): number {
  if (text === undefined) return CONNECT_SECONDS;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw wrong('connect_timeout is 1 to 999 seconds');
  return Number(text);
}

function isWritable(text: string | undefined): boolean {
  if (text === undefined || text === 'any') return false;
  if (text !== 'read-write' && text !== 'primary') throw wrong('target_session_attrs is any, read-write or primary');
  return true;
}
