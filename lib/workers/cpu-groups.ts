/**
 * Processor time as the kernel shares it: a control group (cgroup v2 `cpu.weight`, or v1 `cpu.shares`) of a low weight,
 * and in it one for each tenant whose processes give way. Only where the server may make such groups; knows nothing of
 * who should give way.
 *
 * A process enters a group when it is to give way and not when it starts: the kernel takes 10 to 30 ms to move one, and
 * a wake takes five.
 */
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeControlGroupNow, removeControlGroupNow, writeControlFile, writeControlFileNow } from '../base/effects.ts';

/** The file of a group's weight, and the low one: of the usual as much as the lowest priority has of the usual one. */
const WEIGHTS = {
  1: { file: 'cpu.shares', low: '15' },
  2: { file: 'cpu.weight', low: '1' },
} as const;
const PREFIX = 'winterdock-';
const SERVER_GROUP = `${PREFIX}server`;
let made = 0;

interface MadeGroups {
  /** The group of what gives way, with a group for each tenant below it. */
  folder: string;
  /** The group of everything else: the server's. */
  home: string;
  version: 1 | 2;
}

export interface CpuGroupSources {
  /** The mounts of this process, as `/proc/self/mounts` has them. */
  mounts: string;
  /** Its groups, as `/proc/self/cgroup` has them. */
  groups: string;
}

export class CpuGroups {
  readonly version: 1 | 2;
  readonly #folder: string;
  readonly #home: string;
  /** Processes in the group of each tenant. */
  readonly #members = new Map<string, Set<number>>();

  private constructor({ folder, home, version }: MadeGroups) {
    this.#folder = folder;
    this.#home = home;
    this.version = version;
  }

  /** Null where the system has no such groups, or lets this server make none. */
  static open(sources: CpuGroupSources | null = readSources()): CpuGroups | null {
    if (sources === null) return null;
    const groups = openVersion2(sources) ?? openVersion1(sources);
    return groups === null ? null : new CpuGroups(groups);
  }

  /** Moves a process of a tenant to where it gives way. False when the kernel refuses: then it stays where it is. */
  async enter(tenant: string, pid: number): Promise<boolean> {
    const group = join(this.#folder, tenant);
    const members = this.#members.get(tenant) ?? new Set();
    // Before the first wait: a process that leaves meanwhile must not take the group with it.
    this.#members.set(tenant, members.add(pid));
    try {
      makeControlGroupNow(group);
      await writeControlFile(join(group, 'cgroup.procs'), String(pid));
      return true;
    } catch {
      this.left(tenant, pid);
      return false;
    }
  }

  /** Moves a process back. False when the kernel refuses. */
  async leave(tenant: string, pid: number): Promise<boolean> {
    try {
      await writeControlFile(join(this.#home, 'cgroup.procs'), String(pid));
    } catch {
      return false;
    }
    this.left(tenant, pid);
    return true;
  }

  /** A process is gone, or has left. The last one takes the tenant's group with it. */
  left(tenant: string, pid: number): void {
    const members = this.#members.get(tenant);
    if (members?.delete(pid) !== true || members.size > 0) return;
    this.#members.delete(tenant);
    removeControlGroupNow(join(this.#folder, tenant));
  }

  /** Removes the groups. Call it when the processes are gone; a group that is not empty stays for the next server. */
  close(): void {
    removeWithGroups(this.#folder);
  }
}

function readSources(): CpuGroupSources | null {
  try {
    return { mounts: readFileSync('/proc/self/mounts', 'utf8'), groups: readFileSync('/proc/self/cgroup', 'utf8') };
  } catch {
    // Not Linux.
    return null;
  }
}

/** The folder of this process's own group in a hierarchy, when it may make groups in it. */
function ownFolder(
  { mounts, groups }: CpuGroupSources,
  isMount: (type: string, options: string[]) => boolean,
  isGroup: (controllers: string[]) => boolean,
): string | null {
  const mount = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type = '', options = '']) => isMount(type, options.split(',')))?.[1];
  const path = groups
    .split('\n')
    .map((line) => line.split(':'))
    .find(([, controllers = '-']) => isGroup(controllers.split(',')))?.[2];
  if (mount === undefined || path === undefined) return null;
  const folder = join(mount, path);
  try {
    for (const name of ['.', 'cgroup.procs']) accessSync(join(folder, name), constants.W_OK);
    return folder;
  } catch {
    return null;
  }
}

function openVersion1(sources: CpuGroupSources): MadeGroups | null {
  const own = ownFolder(
    sources,
    (type, options) => type === 'cgroup' && options.includes('cpu'),
    (controllers) => controllers.includes('cpu'),
  );
  if (own === null) return null;
  try {
    return { folder: makeLowGroup(own, 1), home: own, version: 1 };
  } catch {
    return null;
  }
}

/**
 * In version 2 a group with processes has no groups below it whose processor time is shared, so the server moves into
 * one of its own. It does that only in a group that is its alone, as a service manager delegates one.
 */
function openVersion2(sources: CpuGroupSources): MadeGroups | null {
  const own = ownFolder(
    sources,
    (type) => type === 'cgroup2',
    (controllers) => controllers.join() === '',
  );
  if (own === null || !wordsOf(join(own, 'cgroup.controllers')).includes('cpu')) return null;
  const server = join(own, SERVER_GROUP);
  const members = wordsOf(join(own, 'cgroup.procs'));
  if (members.some((pid) => !isOurs(Number(pid)))) return null;
  try {
    makeControlGroupNow(server);
    for (const pid of members) writeControlFileNow(join(server, 'cgroup.procs'), pid);
    writeControlFileNow(join(own, 'cgroup.subtree_control'), '+cpu');
    const folder = makeLowGroup(own, 2);
    writeControlFileNow(join(folder, 'cgroup.subtree_control'), '+cpu');
    return { folder, home: server, version: 2 };
  } catch {
    return null;
  }
}

/** Makes the group of what gives way, after removing those of servers that are gone. */
function makeLowGroup(own: string, version: 1 | 2): string {
  for (const name of readdirSync(own)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-\\d+$`).exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeWithGroups(join(own, name));
  }
  made += 1;
  const folder = join(own, `${PREFIX}${process.pid}-${made}`);
  makeControlGroupNow(folder);
  const { file, low } = WEIGHTS[version];
  writeControlFileNow(join(folder, file), low);
  return folder;
}

/** Removes a group with those below it, as far as they are empty. */
function removeWithGroups(folder: string): void {
  try {
    const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of below) removeControlGroupNow(join(folder, name));
  } catch {
    // It is gone.
  }
  removeControlGroupNow(folder);
}

/** Whether a process is this server, what started it, or was started by it. */
function isOurs(pid: number): boolean {
  if (pid === process.pid || pid === process.ppid) return true;
  try {
    return new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // It is gone.
    return true;
  }
}

function wordsOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
  } catch {
    return [];
  }
}
