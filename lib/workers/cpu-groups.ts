/**
 * Processor time as the kernel shares it: a control group (cgroup v2 `cpu.weight`, or v1 `cpu.shares`) of a low weight,
 * and in it one for each tenant whose processes give way. Only where the server may make such groups; knows nothing of
 * who should give way.
 *
 * A process enters a group when it is to give way and not when it starts: the kernel takes 10 to 30 ms to move one, and
 * a wake takes five.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ControlGroupSources,
  controlGroupSources,
  delegatedGroup,
  ownGroupOfVersion1,
  removeControlGroups,
} from '../base/control-group-tree.ts';
import { makeControlGroupNow, removeControlGroupNow, writeControlFile, writeControlFileNow } from '../base/effects.ts';

/** The file of a group's weight, and the low one: of the usual as much as the lowest priority has of the usual one. */
const WEIGHTS = {
  1: { file: 'cpu.shares', low: '15' },
  2: { file: 'cpu.weight', low: '1' },
} as const;
const PREFIX = 'winterdock-';
let made = 0;

interface MadeGroups {
  /** The group of what gives way, with a group for each tenant below it. */
  folder: string;
  /** The group of everything else: the server's. */
  home: string;
  version: 1 | 2;
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
  static open(sources: ControlGroupSources | null = controlGroupSources()): CpuGroups | null {
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
    removeControlGroups(this.#folder);
  }
}

function openVersion1(sources: ControlGroupSources): MadeGroups | null {
  const own = ownGroupOfVersion1(sources, 'cpu');
  if (own === null) return null;
  try {
    return { folder: makeLowGroup(own, 1), home: own, version: 1 };
  } catch {
    return null;
  }
}

function openVersion2(sources: ControlGroupSources): MadeGroups | null {
  try {
    const found = delegatedGroup(sources, ['cpu']);
    if (found === null) return null;
    const folder = makeLowGroup(found.own, 2);
    writeControlFileNow(join(folder, 'cgroup.subtree_control'), '+cpu');
    return { folder, home: found.home, version: 2 };
  } catch {
    return null;
  }
}

/** Makes the group of what gives way, after removing those of servers that are gone. */
function makeLowGroup(own: string, version: 1 | 2): string {
  for (const name of readdirSync(own)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-\\d+$`).exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeControlGroups(join(own, name));
  }
  made += 1;
  const folder = join(own, `${PREFIX}${process.pid}-${made}`);
  makeControlGroupNow(folder);
  const { file, low } = WEIGHTS[version];
  writeControlFileNow(join(folder, file), low);
  return folder;
}
