/**
 * Control groups of jails: what each may take of memory, processes and processor time, all processes that it has,
 * wherever they went, and the one switch that stops them. Version 1 has a folder for each controller, version 2 one for
 * all. Knows nothing of what runs in them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ControlGroupSources,
  controlGroupSources,
  controlWords,
  delegatedGroup,
  ownGroupOfVersion1,
} from '../../base/control-group-tree.ts';
import { makeControlGroupNow, removeControlGroupNow, writeControlFileNow } from '../../base/effects.ts';
import { processStat, STAT } from '../../base/process-stat.ts';

/** The controllers that a jail needs, by their names in version 1; in version 2 every group can be frozen. */
const CONTROLLERS = ['memory', 'pids', 'cpu', 'freezer'] as const;
type Controller = (typeof CONTROLLERS)[number];

const PREFIX = 'winterdock-jail-';
/** The server of a group: its process id and when that began; then the name of the jail. */
const NAME = new RegExp(`^${PREFIX}(\\d+)\\.(\\d+)-`);
const IS_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;
/** Of the processor time of a tenth of a second, which is the kernel's default, in microseconds. */
const PERIOD_US = 100_000;
const POLL_MS = 1;
const LONGEST_POLL_MS = 50;
/** The longest wait for killed processes, and for a freeze: one may hang in disk I/O. */
const MAX_WAIT_MS = 60_000;

export interface JailLimits {
  /** All of its processes, with the pages of its files in memory, and those of its folders in memory. */
  memoryBytes: number;
  /** Processes and threads. */
  processes: number;
  /** Processors that it may keep busy; a fraction is allowed. */
  processors: number;
}

/** Where groups of jails are made, as one process tells another: each finds its own group, and that may be another. */
export interface JailGroupPlaces {
  readonly version: 1 | 2;
  /** The folder of each controller. */
  readonly folders: Readonly<Record<Controller, string>>;
}

export class JailGroups {
  readonly version: 1 | 2;
  readonly #folders: JailGroupPlaces['folders'];

  private constructor(version: 1 | 2, folders: JailGroupPlaces['folders']) {
    this.version = version;
    this.#folders = folders;
  }

  /** Those of a process that has opened them. */
  static at({ version, folders }: JailGroupPlaces): JailGroups {
    return new JailGroups(version, folders);
  }

  get places(): JailGroupPlaces {
    return { version: this.version, folders: this.#folders };
  }

  /** Null, with what is missing in words, where this process may make no such groups. */
  static open(
    sources: ControlGroupSources | null = controlGroupSources(),
  ): { groups: JailGroups } | { groups: null; missing: string } {
    if (sources === null) return { groups: null, missing: 'this system has no control groups' };
    try {
      const found = delegatedGroup(sources, ['memory', 'pids', 'cpu']);
      if (found !== null) {
        const folders = Object.fromEntries(CONTROLLERS.map((name) => [name, found.own]));
        return { groups: new JailGroups(2, folders as Record<Controller, string>) };
      }
    } catch {
      // Not its own to divide; version 1 may be.
    }
    const folders = CONTROLLERS.map((name) => [name, ownGroupOfVersion1(sources, name)] as const);
    const missing = folders.filter(([, folder]) => folder === null).map(([name]) => name);
    if (missing.length > 0)
      return { groups: null, missing: `this process may make no control groups for ${missing.join(', ')}` };
    return { groups: new JailGroups(1, Object.fromEntries(folders) as Record<Controller, string>) };
  }

  /** Makes the group of a jail with its limits. Throws what the kernel says, and leaves nothing then. */
  make(id: string, limits: JailLimits): JailGroup {
    if (!IS_ID.test(id)) throw new Error(`A jail cannot be named ${JSON.stringify(id)}.`);
    const startedAt = processStat(process.pid)?.[STAT.startedAt] ?? '0';
    const name = `${PREFIX}${process.pid}.${startedAt}-${id}`;
    if (Object.values(this.#folders).some((folder) => existsSync(join(folder, name))))
      throw new Error(`There is a jail named ${id} already.`);
    const group = this.#named(name);
    try {
      group.prepare(limits);
    } catch (error) {
      group.remove();
      throw error;
    }
    return group;
  }

  /**
   * Ends what jails of servers that are gone have left, and removes their groups. Returns how many there were. Spares
   * those of servers that run.
   */
  async sweep(): Promise<number> {
    const left = this.names().filter((name) => {
      const [, pid = '', startedAt = ''] = NAME.exec(name) ?? [];
      return !runsSince(Number(pid), startedAt);
    });
    await Promise.all(left.map((name) => this.#named(name).end()));
    return left.length;
  }

  /** The groups of all jails, each with the process id of its server in its name. */
  names(): string[] {
    const names = new Set(Object.values(this.#folders).flatMap((folder) => readdirSync(folder)));
    return [...names].filter((name) => NAME.test(name));
  }

  /** The process ids of the servers of all jails that are gone, or have begun to end. */
  goneServers(): number[] {
    const marks = this.names().map((name) => NAME.exec(name) ?? []);
    return [
      ...new Set(marks.filter(([, pid = '', at = '']) => !runsSince(Number(pid), at)).map(([, pid]) => Number(pid))),
    ];
  }

  #named(name: string): JailGroup {
    const folders = CONTROLLERS.map((controller) => [controller, join(this.#folders[controller], name)]);
    return new JailGroup(this.version, Object.fromEntries(folders) as Record<Controller, string>);
  }
}

export class JailGroup {
  readonly #version: 1 | 2;
  readonly #folders: Readonly<Record<Controller, string>>;
  /** Who freezes waits for who thaws. */
  #turn: Promise<unknown> = Promise.resolve();
  #isFrozen = false;
  #isRemoved = false;

  constructor(version: 1 | 2, folders: Record<Controller, string>) {
    this.#version = version;
    this.#folders = folders;
  }

  /** A process that writes `0` into each of these is in the group, and so is all that it begins from then on. */
  get entries(): string[] {
    return this.#all.map((folder) => join(folder, 'cgroup.procs'));
  }

  /** Makes the folders and sets the limits. Throws what the kernel says. */
  prepare({ memoryBytes, processes, processors }: JailLimits): void {
    for (const folder of this.#all) makeControlGroupNow(folder);
    const write = (controller: Controller, file: string, value: string | number) =>
      writeControlFileNow(join(this.#folders[controller], file), String(value));
    const quota = Math.max(1000, Math.round(processors * PERIOD_US));
    write('pids', 'pids.max', processes);
    if (this.#version === 2) {
      write('memory', 'memory.max', memoryBytes);
      if (this.#has('memory', 'memory.swap.max')) write('memory', 'memory.swap.max', 0);
      write('cpu', 'cpu.max', `${quota} ${PERIOD_US}`);
      return;
    }
    write('memory', 'memory.limit_in_bytes', memoryBytes);
    // Memory and swap together: after the limit of memory, which it cannot be below.
    if (this.#has('memory', 'memory.memsw.limit_in_bytes')) write('memory', 'memory.memsw.limit_in_bytes', memoryBytes);
    write('cpu', 'cpu.cfs_period_us', PERIOD_US);
    write('cpu', 'cpu.cfs_quota_us', quota);
  }

  /** All processes of the group, the first one first: whoever enters it enters its first folder first. */
  processes(): number[] {
    const [first = ''] = this.entries;
    return controlWords(first)
      .map(Number)
      .filter((pid) => pid > 0)
      .sort((one, other) => one - other);
  }

  /** How often the kernel has ended a process of it for want of memory. */
  outOfMemory(): number {
    const file = this.#version === 2 ? 'memory.events' : 'memory.oom_control';
    const words = controlWords(join(this.#folders.memory, file));
    return Number(words[words.indexOf('oom_kill') + 1] ?? 0);
  }

  /** Stops all processes until `thaw`; resolves when none of them runs. */
  freeze(): Promise<void> {
    return this.#inTurn(() => this.#freezeNow());
  }

  thaw(): Promise<void> {
    return this.#inTurn(async () => this.#thawNow());
  }

  /**
   * Ends those processes of the group that `isMeant` chooses out of all of them. None of them runs meanwhile, so that
   * none can leave the choice by forking.
   */
  endSome(isMeant: (pids: readonly number[]) => readonly number[]): Promise<void> {
    return this.#inTurn(async () => {
      const wasFrozen = this.#isFrozen;
      await this.#freezeNow();
      try {
        for (const pid of isMeant(this.processes())) killNow(pid);
      } finally {
        if (!wasFrozen) this.#thawNow();
      }
    });
  }

  /** Ends all processes, waits until they are gone, and removes the group. Idempotent. */
  async end(): Promise<void> {
    if (this.#isRemoved) return;
    const until = Date.now() + MAX_WAIT_MS;
    for (let wait = POLL_MS; ; wait = Math.min(wait * 2, LONGEST_POLL_MS)) {
      // Frozen ones do not end, and one that is just being forked is there in the next round.
      this.#thawNow();
      for (const pid of this.processes()) killNow(pid);
      if (this.remove()) break;
      if (Date.now() > until)
        throw new Error(`Processes of a jail do not end: ${this.processes().join(', ') || 'none is seen'}.`);
      await pause(wait);
    }
    this.#isRemoved = true;
  }

  /** Removes the folders, as far as they are empty; whether all are gone. */
  remove(): boolean {
    return this.#all.every((folder) => removeControlGroupNow(folder) || !existsSync(folder));
  }

  get #all(): string[] {
    return [...new Set(Object.values(this.#folders))];
  }

  #has(controller: Controller, file: string): boolean {
    return existsSync(join(this.#folders[controller], file));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #freezeNow(): Promise<void> {
    const folder = this.#folders.freezer;
    const [file, state] = this.#version === 2 ? ['cgroup.freeze', '1'] : ['freezer.state', 'FROZEN'];
    writeControlFileNow(join(folder, file), state);
    this.#isFrozen = true;
    const until = Date.now() + MAX_WAIT_MS;
    for (let wait = POLL_MS; !this.#hasFrozen(); wait = Math.min(wait * 2, LONGEST_POLL_MS)) {
      if (Date.now() > until) {
        this.#thawNow();
        throw new Error('The processes of a jail do not freeze.');
      }
      await pause(wait);
    }
  }

  #hasFrozen(): boolean {
    const folder = this.#folders.freezer;
    if (this.#version === 1) return readFileSync(join(folder, 'freezer.state'), 'utf8').trim() === 'FROZEN';
    const words = controlWords(join(folder, 'cgroup.events'));
    return words[words.indexOf('frozen') + 1] === '1';
  }

  #thawNow(): void {
    this.#isFrozen = false;
    const [file, state] = this.#version === 2 ? ['cgroup.freeze', '0'] : ['freezer.state', 'THAWED'];
    const path = join(this.#folders.freezer, file);
    // It is gone where another controller is still to be removed.
    if (existsSync(path)) writeControlFileNow(path, state);
  }
}

/** Whether this is a process that began then and has not ended, though nobody may have asked yet how. */
function runsSince(pid: number, startedAt: string): boolean {
  const stat = processStat(pid);
  return stat?.[STAT.startedAt] === startedAt && !/[ZX]/.test(stat[STAT.state] ?? '');
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
