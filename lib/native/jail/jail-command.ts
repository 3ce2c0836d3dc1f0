/**
 * The command that builds a jail and runs its first process in it: which tools, in which order, and what they are told.
 * What they are told comes over descriptors, for the arguments and variables of a process are seen by others. Knows
 * nothing of what runs in a jail.
 */
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { guestFilter } from './guest-filter.ts';

/** Where the tools are, whatever the server's own PATH is. */
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

/** Who a guest is in its jail, and what it is called there. */
const USER = 1000;
const NAMES = {
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\nuser:x:${USER}:${USER}::/workspace:/bin/bash\n`,
  group: `root:x:0:\nuser:x:${USER}:\n`,
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
} as const;

/** Folders of a root that may be links into `usr`, and others of programs. */
const PROGRAM_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'opt'];
/** What programs read of `/etc`, and that tells nothing of a machine. */
const SETTINGS = ['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'mime.types', 'ssl'];
/** What /proc tells of the whole machine, beyond what a program needs. */
const HIDDEN_OF_PROC = ['cmdline', 'kallsyms', 'kcore', 'key-users', 'keys', 'kmsg', 'sched_debug', 'timer_list'];
/** Descriptors that a process may have open, and processes that write no core. */
const MOST_DESCRIPTORS = 4096;

/** Enters the groups, one file each up to `--`, and becomes what follows: nothing that it begins is outside of them. */
const ENTER = `while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift
ulimit -c 0; ulimit -n ${MOST_DESCRIPTORS}; exec "$@"`;

/** The program of the first process. Where it lies in a jail. */
const INIT = fileURLToPath(new URL('./init.pl', import.meta.url));
const INIT_IN_JAIL = '/run/init';
/** In every Debian, and in most others. */
const PERL = '/usr/bin/perl';

interface JailFolders {
  workspace: string;
  memory: string;
  tmp: string;
}

export interface JailSpec {
  /** The name of its control group: of an instance's form, and of no other jail that is open. */
  id: string;
  /** The root file system, of which it reads `usr`, what leads there, and some of `etc`. Absolute. */
  root: string;
  /** What it reads and writes. Each is absolute, and reached by its user. */
  folders: JailFolders;
  /** Whom its processes are outside, by ids; null: the server's own user. */
  user: { uid: number; gid: number } | null;
  /** Bytes of its folder for shared memory, which count as its memory. */
  sharedMemoryBytes: number;
}

/** Where a tool is; null when it is not installed. */
export function jailTool(name: 'bwrap' | 'setpriv' | 'unshare' | 'nsenter'): string | null {
  return TOOL_FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Becomes the user of a jail, without a capability and without a way to new ones. It ends with whoever begins it. */
export function userCommand(setpriv: string, user: JailSpec['user']): string[] {
  const become = user === null ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const drop = user === null ? [] : ['--bounding-set=-all', '--inh-caps=-all'];
  return [setpriv, ...become, ...drop, '--no-new-privs', '--pdeathsig', 'KILL', '--'];
}

interface JailStart {
  readonly file: string;
  readonly args: string[];
  /** What is written to each descriptor from 3 on, whose end is then closed. */
  readonly inputs: readonly Buffer[];
}

/** How to begin a jail. Throws an Error that names what is missing: see `nativeSupport`. */
export function jailStart(spec: JailSpec, groupEntries: readonly string[]): JailStart {
  const [setpriv, bwrap] = [jailTool('setpriv'), jailTool('bwrap')];
  const filter = guestFilter();
  if (setpriv === null || bwrap === null || filter === null)
    throw new Error('This machine builds no jails: setpriv, bubblewrap or the filter for its architecture is missing.');
  const inputs: Buffer[] = [];
  const descriptorOf = (bytes: Buffer | string) => String(2 + inputs.push(Buffer.from(bytes)));
  const list = descriptorOf('');
  const program = [PERL, INIT_IN_JAIL];
  inputs[0] = Buffer.from(bubblewrapArguments(spec, filter, descriptorOf).join('\0'));
  const wrapped = [...userCommand(setpriv, spec.user), bwrap, '--args', list, '--', ...program];
  return { file: '/bin/sh', args: ['-c', ENTER, 'sh', ...groupEntries, '--', ...wrapped], inputs };
}

function bubblewrapArguments(
  { root, folders, sharedMemoryBytes }: JailSpec,
  filter: Buffer,
  descriptorOf: (bytes: Buffer | string) => string,
): string[] {
  const file = (bytes: Buffer | string, path: string) => [
    '--perms',
    '0444',
    '--ro-bind-data',
    descriptorOf(bytes),
    path,
  ];
  return [
    ...['--unshare-user', '--unshare-all', '--uid', String(USER), '--gid', String(USER), '--hostname', 'sandbox'],
    ...['--as-pid-1', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--clearenv'],
    ...['--ro-bind', join(root, 'usr'), '/usr'],
    ...PROGRAM_FOLDERS.flatMap((name) => programFolder(root, name)),
    ...['--dir', '/etc', '--dir', '/run', '--dir', '/var', '--symlink', '/tmp', '/var/tmp'],
    ...SETTINGS.flatMap((name) => ['--ro-bind-try', join(root, 'etc', name), `/etc/${name}`]),
    ...Object.entries(NAMES).flatMap(([name, text]) => file(text, `/etc/${name}`)),
    ...file(readFileSync(INIT), INIT_IN_JAIL),
    ...['--proc', '/proc'],
    ...HIDDEN_OF_PROC.filter((name) => existsSync(`/proc/${name}`)).flatMap((name) => [
      '--ro-bind',
      '/dev/null',
      `/proc/${name}`,
    ]),
    ...['--dev', '/dev', '--perms', '1777', '--size', String(sharedMemoryBytes), '--tmpfs', '/dev/shm'],
    ...Object.entries(folders).flatMap(([name, path]) => ['--bind', path, `/${name}`]),
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/', '--seccomp', descriptorOf(filter)],
  ];
}

/** A link of the root is one in the jail too. */
function programFolder(root: string, name: string): string[] {
  const path = join(root, name);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) return ['--symlink', readlinkSync(path), `/${name}`];
  return stat?.isDirectory() ? ['--ro-bind', path, `/${name}`] : [];
}
