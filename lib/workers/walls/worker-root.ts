/**
 * A room for workers: namespaces of the kernel that are made once, and that every worker enters before it runs. Held
 * open by descriptors of this process, so that nothing of it is left when the server ends. Knows nothing of workers.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, lstatSync, openSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { STATM_DESCRIPTOR } from '../../base/resident-memory.ts';
import { withoutSignalsUnlessStarted } from '../../base/unstarted.ts';
import { giveAllIds } from './id-maps.ts';

/** Where the tools of util-linux are, whatever the server's own PATH is. */
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const MAX_BUILD_MS = 10_000;

/** What programs need to be loaded. What is a link is one in the room too. */
const SYSTEM = ['/usr/lib', '/usr/lib64', '/usr/lib32', '/usr/bin', '/lib', '/lib64', '/bin'];
const SYSTEM_FILES = ['/etc/ld.so.cache', '/etc/localtime'];
const DEVICES = ['/dev/null', '/dev/zero', '/dev/urandom', '/dev/random'];

/**
 * Where the root of a room is built, over a folder that every Linux has and no room shows. Nothing is made on a disk:
 * what stands in a folder that a worker writes cannot be in the way, whatever its name is.
 */
const BUILT_AT = '/sys';

export interface WorkerRootFolders {
  /** Read in the room; folders and files. */
  readable: readonly string[];
  /** Written in the room: folders. */
  writable: readonly string[];
  /** Seen in the room only as far as folders in it are named above. */
  hidden: readonly string[];
}

export interface WorkerRoot {
  /** Whether it has a root of its own. Else it is only a namespace of users, in which others may be made. */
  readonly hasFiles: boolean;
  /** Enters the namespace of users, and runs what follows it as the same process. Empty where none is needed. */
  readonly enter: readonly string[];
  /** After that, and once the process has its final id: enters the root, and runs what follows it. */
  readonly enterFiles: readonly string[];
  close(): void;
}

/** Descriptor at which a process has the namespace of mounts until it has entered it. The loader closes it. */
const MOUNTS_DESCRIPTOR = STATM_DESCRIPTOR + 1;

/** A shell that opens files at descriptors and runs what follows it. */
const opening = (descriptors: Readonly<Record<number, string>>) => {
  const opened = Object.entries(descriptors).map(([descriptor, path]) => `${descriptor}<${path}`);
  return ['/bin/sh', '-c', `exec ${opened.join(' ')}; unset PWD; exec "$@"`, 'sh'];
};

/** The path of a tool of util-linux; null where it is not installed. */
export function toolPath(name: string): string | null {
  return TOOL_FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Whether a path lies in one of the folders, or is one of them. */
function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A path as a field of an fstab. */
const field = (path: string) =>
  path.replaceAll(/[\\\s]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`);

/**
 * The commands that make a root of its own in memory, with what is named, and make it the only one. /proc is needed to
 * take the old root away, and goes with it: nobody in the room sees a process. One call makes many mounts, and one many
 * folders: a program for each took most of the time that a room takes.
 */
function rootScript({ readable, writable, hidden }: WorkerRootFolders): string {
  const root = BUILT_AT;
  const isThere = (path: string) => existsSync(path);
  const isLink = (path: string) => lstatSync(path).isSymbolicLink();
  const system = SYSTEM.filter(isThere);
  const links = system.filter(isLink);
  const folders = system.filter((path) => !isLink(path));
  // A folder that holds another comes first, so that it does not cover it.
  const named = readable.filter((path) => isThere(path) && !isWithin(path, folders)).toSorted();
  const shownWithin = named.filter((path) => isWithin(path, hidden));
  const filesWithin = shownWithin.filter((path) => !statSync(path).isDirectory());
  const foldersWithin = shownWithin.map((path) => (filesWithin.includes(path) ? dirname(path) : path));
  const shown = [...folders, ...SYSTEM_FILES.filter(isThere), ...named.filter((path) => !shownWithin.includes(path))];
  const devices = DEVICES.filter(isThere);
  const written = writable.toSorted();
  const [ownFolders, files] = [true, false].map((wanted) =>
    [...shown, ...devices].filter((path) => statSync(path).isDirectory() === wanted),
  ) as [string[], string[]];
  const within = (path: string) => quoted(`${root}${path}`);
  const folderCommand = (paths: readonly string[]) =>
    paths.length === 0 ? [] : [`mkdir -p ${[...new Set(paths)].map(within).join(' ')}`];
  const fstab = `${root}/.fstab`;
  const mounts = (lines: readonly [path: string, options: string][]) => [
    `printf %s ${quoted(lines.map(([path, options]) => `${field(path)} ${field(root + path)} none ${options}\n`).join(''))} > ${quoted(fstab)}`,
    `mount -a -T ${quoted(fstab)}`,
  ];
  const inMemory = (path: string) => `mount -t tmpfs -o mode=0755,size=1m tmpfs ${quoted(path)}`;
  return [
    'umask 022',
    inMemory(root),
    ...folderCommand([...ownFolders, ...[...files, ...links].map(dirname), '/.old', '/proc']),
    ...files.map((path) => `: > ${within(path)}`),
    ...links.map((path) => `ln -s ${quoted(readlinkSync(path))} ${within(path)}`),
    ...mounts([
      ...shown.map((path): [string, string] => [path, 'rbind,ro']),
      ...devices.map((path): [string, string] => [path, 'rbind']),
    ]),
    ...hidden.toSorted().map((path) => `if [ -d ${within(path)} ]; then ${inMemory(`${root}${path}`)}; fi`),
    ...folderCommand(foldersWithin),
    ...filesWithin.map((path) => `: > ${within(path)}`),
    ...mounts(shownWithin.map((path): [string, string] => [path, 'rbind,ro'])),
    ...folderCommand(written),
    ...mounts([...written, '/proc'].map((path): [string, string] => [path, 'rbind'])),
    `rm ${quoted(fstab)}`,
    `cd ${quoted(root)}`,
    `mount -o remount,bind,ro ${quoted(root)}`,
    'pivot_root . .old',
    'cd /',
    'umount -l /.old /proc',
  ].join('\n');
}

const CAP_SYS_ADMIN = 21n;

const isRoot = () => process.getuid?.() === 0;

/** Whether others may be made in a namespace of users alone: for who is not root, or, as in a container, only half. */
export function needsUserNamespace(): boolean {
  if (!isRoot()) return true;
  const [, effective = ''] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${effective || '0'}`) >> CAP_SYS_ADMIN) & 1n) === 0n;
}

/** Says that the room is there, and keeps it until its descriptors are open. */
const WAIT = 'echo ready; read -r line || true';

/**
 * Builds a room, with a root of its own for these folders; null: without one. Throws an Error whose message is the
 * reason, as the system said it, when the machine does not let this process.
 */
export async function buildWorkerRoot(folders: WorkerRootFolders | null): Promise<WorkerRoot> {
  const [unshare, nsenter, mount] = ['unshare', 'nsenter', 'mount'].map(toolPath);
  if (!unshare || !nsenter || (!mount && folders !== null)) {
    throw new Error(`${!unshare ? 'unshare' : !nsenter ? 'nsenter' : 'mount'} (util-linux) is not installed`);
  }
  const hasUsers = needsUserNamespace();
  const ownMounts = folders === null ? [] : ['--mount', '--propagation', 'private'];
  const script = ['set -e', ...(folders === null ? [] : [rootScript(folders)]), WAIT].join('\n');
  const built = ['/bin/sh', '-c', script];
  const command =
    hasUsers && isRoot()
      ? // Nobody is root in it before this process has said who is who: only what is begun after that may build.
        ['--user', '/bin/sh', '-c', `${WAIT}; exec "$@"`, 'sh', unshare, ...ownMounts, ...built]
      : [...(hasUsers ? ['--user', '--map-root-user'] : []), ...ownMounts, ...built];
  const builder = withoutSignalsUnlessStarted(
    spawn(unshare, command, {
      env: { NODE_ENV: 'production', PATH: TOOL_FOLDERS.join(':') },
      timeout: MAX_BUILD_MS,
      killSignal: 'SIGKILL',
    }),
  );
  const descriptors: number[] = [];
  const openNamespace = (kind: 'user' | 'mnt') => {
    const descriptor = openSync(`/proc/${builder.pid}/ns/${kind}`, 'r');
    descriptors.push(descriptor);
    return `/proc/${process.pid}/fd/${descriptor}`;
  };
  let [user, mounts]: (string | null)[] = [null, null];
  try {
    const complaint = text(builder.stderr);
    const ended = once(builder, 'close');
    ended.catch(() => {});
    const ready = async () => {
      const isReady = await Promise.race([once(builder.stdout, 'data').then(() => true), ended.then(() => false)]);
      if (!isReady) throw new Error((await complaint).trim().split('\n')[0] || 'it ended without a word');
    };
    if (hasUsers && isRoot()) {
      await ready();
      giveAllIds(builder.pid ?? 0);
      builder.stdin.write('\n');
    }
    await ready();
    user = hasUsers ? openNamespace('user') : null;
    mounts = folders === null ? null : openNamespace('mnt');
    builder.stdin.end();
    await ended;
  } catch (error) {
    for (const descriptor of descriptors) closeSync(descriptor);
    throw error;
  } finally {
    builder.kill('SIGKILL');
  }
  // From within the namespace of users the server's descriptors cannot be reached.
  const reached = user === null || mounts === null ? mounts : `/proc/self/fd/${MOUNTS_DESCRIPTOR}`;
  return {
    hasFiles: folders !== null,
    enter:
      user === null
        ? []
        : [
            ...(mounts === null ? [] : opening({ [MOUNTS_DESCRIPTOR]: mounts })),
            nsenter,
            '--preserve-credentials',
            `--user=${user}`,
          ],
    // It finds its own memory nowhere in a root without /proc.
    enterFiles:
      reached === null ? [] : [...opening({ [STATM_DESCRIPTOR]: '/proc/self/statm' }), nsenter, `--mount=${reached}`],
    close() {
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
    },
  };
}
