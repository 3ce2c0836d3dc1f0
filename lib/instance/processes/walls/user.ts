/**
 * The user of workers, where the server is root: which one it is, and that it reaches the folders it needs and owns
 * what it opens. Knows nothing of processes.
 */
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chmodFileNow, giveToNow, makeFolderNow } from '../../../base/effects.ts';

/**
 * Id of the user and of its only group. No account has it: it is of the range that systemd and Debian leave unused
 * (60578 to 61183). It is the same for every server of a machine, so that they may share a compile cache.
 */
export const WORKER_USER = 60_600;

/** A user and its only group, by their ids. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

const GROUP_MAY_PASS = 0o010;
const OTHERS_MAY_PASS = 0o001;
const OTHERS_MAY_READ = 0o004;

interface WorkerFolders {
  /** Folders of the server in which workers pass, and see nothing but what they know. */
  passable: readonly string[];
  /** Folders that workers write into. */
  own: readonly string[];
  /** Of others, only read. */
  readable: readonly string[];
}

/**
 * Whom the workers of root's server on this folder run as: what a server of another user made stays that user's, who
 * can go on with it then, and without capabilities nobody else may open it.
 */
export function userFor(dataFolder: string): User {
  const { uid, gid } = statSync(dataFolder, { throwIfNoEntry: false }) ?? { uid: 0, gid: 0 };
  return uid === 0 ? { uid: WORKER_USER, gid: WORKER_USER } : { uid, gid };
}

/** Makes the folders usable for the user. Throws an Error whose message is the reason why they cannot be. */
export function prepareUser(user: User, { passable, own, readable }: WorkerFolders): void {
  for (const folder of passable) requireOwn(folder, user);
  for (const folder of passable) {
    makeFolderNow(folder);
    // Of a link the folder that it leads to.
    letPass(realpathSync(folder), user);
  }
  for (const folder of own) makeFolderNow(folder);
  // Nothing is given away before it is known to be of use: without capabilities root could not use it.
  const entered = passable.flatMap((folder) => [folder, realpathSync(folder)]);
  for (const path of [...entered, ...own.map((folder) => dirname(folder)), ...readable]) requireReachable(path, user);
  for (const folder of own) give(folder, lstatSync(folder), user);
}

/** Takes back what an earlier server gave to the user of workers, which run as root now. */
export function takeBack(folders: readonly string[]): void {
  for (const folder of folders) {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat?.isDirectory()) give(folder, stat, null);
  }
}

/**
 * Gives a sandbox's folder, and the files in it, to the user of workers. Where workers have root's user, what an
 * earlier server gave away is root's again, which without capabilities could not open it. Only folders and files with
 * one name: what a worker before this one has put in their place is left as it is.
 */
export function giveSandbox(file: string, walls: { user: User | null } | undefined): void {
  if (file === ':memory:' || walls === undefined || process.getuid?.() !== 0) return;
  const { user } = walls;
  const folder = dirname(file);
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry?.isFile() && entry.nlink === 1) give(path, entry, user);
  }
  give(folder, stat, user);
}

/**
 * A change of owner changes the file's ctime, by which a file at rest is recognised: only where it is needed. `user`:
 * null for root, who gets only what the user of workers has.
 */
function give(path: string, stat: Stats, user: User | null): void {
  if (user === null && stat.uid !== WORKER_USER) return;
  const { uid, gid } = user ?? { uid: 0, gid: 0 };
  if (stat.uid !== uid || stat.gid !== gid) giveToNow(path, uid, gid);
}

function requireOwn(folder: string, user: User): void {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid ?? 0;
  if (owner !== 0 && owner !== user.uid) throw new Error(`${folder} belongs to another user than root`);
}

/** Lets the user pass through a folder of the server's, and nobody else but the server. */
function letPass(folder: string, user: User): void {
  const stat = statSync(folder);
  if (mayPass(stat, user)) return;
  if (stat.uid !== 0 || (stat.gid !== 0 && stat.gid !== user.gid)) return;
  if (stat.gid !== user.gid) giveToNow(folder, stat.uid, user.gid);
  chmodFileNow(folder, (stat.mode & 0o700) | GROUP_MAY_PASS);
}

function mayPass({ uid, gid, mode }: Stats, user: User): boolean {
  if (uid === user.uid) return true;
  return (mode & (gid === user.gid ? GROUP_MAY_PASS : OTHERS_MAY_PASS)) !== 0;
}

function requireReachable(path: string, user: User): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isFile() && stat.uid !== user.uid && (stat.mode & OTHERS_MAY_READ) === 0) {
    throw new Error(`${path} is not readable for others`);
  }
  for (let at = stat.isFile() ? dirname(path) : path; ; at = dirname(at)) {
    if (!mayPass(statSync(at), user)) throw new Error(`${at} is closed to other users`);
    if (at === dirname(at)) return;
  }
}
