/**
 * Where the control groups of this process are, in both versions of the kernel's interface, and whether it may make
 * groups there. Knows nothing of what they are made for.
 */
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeControlGroupNow, removeControlGroupNow, writeControlFileNow } from './effects.ts';

/** The group that a server moves into in version 2, where a group with processes has none below it that share. */
const SERVER_GROUP = 'winterdock-server';

export interface ControlGroupSources {
  /** The mounts of this process, as `/proc/self/mounts` has them. */
  mounts: string;
  /** Its groups, as `/proc/self/cgroup` has them. */
  groups: string;
}

/** Null where this is no Linux. */
export function controlGroupSources(): ControlGroupSources | null {
  try {
    return { mounts: readFileSync('/proc/self/mounts', 'utf8'), groups: readFileSync('/proc/self/cgroup', 'utf8') };
  } catch {
    return null;
  }
}

/** The folder of this process's own group in the version 1 hierarchy of a controller, when it may make groups in it. */
export function ownGroupOfVersion1(sources: ControlGroupSources, controller: string): string | null {
  return ownFolder(
    sources,
    (type, options) => type === 'cgroup' && options.includes(controller),
    (controllers) => controllers.includes(controller),
  );
}

interface DelegatedGroup {
  /** In which groups may be made. */
  readonly own: string;
  /** The group of the server, which this process is in from now on. */
  readonly home: string;
}

/**
 * In version 2 a group with processes has no groups below it that share anything, so the server moves into one of its
 * own. It does that only in a group that is its alone, as a service manager delegates one. Null where this process has
 * none with all of these controllers. Throws what the kernel says.
 */
export function delegatedGroup(sources: ControlGroupSources, controllers: readonly string[]): DelegatedGroup | null {
  const found = ownFolder(
    sources,
    (type) => type === 'cgroup2',
    (names) => names.join() === '',
  );
  if (found === null) return null;
  const own = basename(found) === SERVER_GROUP ? dirname(found) : found;
  const has = controlWords(join(own, 'cgroup.controllers'));
  if (!controllers.every((name) => has.includes(name))) return null;
  const home = join(own, SERVER_GROUP);
  const members = controlWords(join(own, 'cgroup.procs'));
  if (members.some((pid) => !isOurs(Number(pid)))) return null;
  makeControlGroupNow(home);
  for (const pid of members) writeControlFileNow(join(home, 'cgroup.procs'), pid);
  for (const name of controllers) writeControlFileNow(join(own, 'cgroup.subtree_control'), `+${name}`);
  return { own, home };
}

/** Removes a group with those below it, as far as they are empty. Whether it is gone. */
export function removeControlGroups(folder: string): boolean {
  try {
    const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of below) removeControlGroupNow(join(folder, name));
  } catch {
    return true;
  }
  return removeControlGroupNow(folder);
}

/** The words of a control file; none when it is not there. */
export function controlWords(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
  } catch {
    return [];
  }
}

function ownFolder(
  { mounts, groups }: ControlGroupSources,
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
