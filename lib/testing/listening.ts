/** For tests: on what the processes of a server can be reached, as the kernel knows it. Linux only. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENS = '0A';
/** `__SO_ACCEPTCON` of the kernel. */
const ACCEPTS = 0x10000;
const INTERNET = ['tcp', 'tcp6', 'udp', 'udp6', 'udplite', 'raw', 'raw6'];

/** The rows of a table below `/proc/<pid>/net`, split into columns; none when this kernel has no such table. */
function rowsOf(pid: number, table: string): string[][] {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/net/${table}`, 'utf8');
  } catch {
    return [];
  }
  const [, ...lines] = text.trimEnd().split('\n');
  return lines.map((line) => line.trim().split(/\s+/));
}

/** The sockets that a process has open, by their inodes; none of one that has ended. */
function socketsOf(pid: number): Set<string> {
  if (!existsSync(`/proc/${pid}`)) return new Set();
  const inodes = readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? [];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
  return new Set(inodes);
}

/**
 * What a process listens on: `tcp <port>`, a socket of the file system or an abstract one as
 * `unix <name>`, and every socket without connections that has a port. `pid` must be a process of this user, or this
 * one root. A network of its own counts: whoever is in there reaches it.
 */
export function listeningOf(pid: number): string[] {
  const open = socketsOf(pid);
  const found = INTERNET.flatMap((table) =>
    rowsOf(pid, table).flatMap(([, local = '', , state, ...rest]) => {
      // After the state: queues, timer, retransmits, user, timeout, inode.
      const inode = rest[5] ?? '';
      const isServer = table.startsWith('tcp') ? state === LISTENS : true;
      return isServer && open.has(inode) ? `${table} ${Number.parseInt(local.split(':').at(-1) ?? '', 16)}` : [];
    }),
  );
  const unix = rowsOf(pid, 'unix').flatMap(([, , , flags = '0', , , inode = '', name = '']) =>
    (Number.parseInt(flags, 16) & ACCEPTS) !== 0 && open.has(inode) ? `unix ${name}` : [],
  );
  return [...found, ...unix];
}
