/**
 * A user of its own for workers, where the server is root: which one it is, and that it reaches the folders it needs
 * and owns what it opens. Knows nothing of processes.
 */
import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chmodFileNow, giveToNow, makeFolderNow } from '../../../base/effects.ts';

/**
 * Id of the user and of its only group. No account has it: it is of the range that systemd and Debian leave unused
 * (60578 to 61183). It is the same for every server of a machine, so that they may share a compile cache.
 */
export const WORKER_USER = 60_600;

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
 * Makes the folders usable for the user. Throws an Error whose message is the reason why they cannot be: what a server
 * of another user made stays that user's, so that it can go on with it.
 */
export function prepareUser({ passable, own, readable }: WorkerFolders): void {
  for (const folder of passable) requireOwn(folder);
  for (const folder of passable) {
    makeFolderNow(folder);
    letPass(folder);
  }
  for (const folder of own) {
    makeFolderNow(folder);
    give(folder, lstatSync(folder));
  }
  for (const path of [...passable, ...own, ...readable]) requireReachable(path);
}

/**
 * Gives a sandbox's folder, and the files in it, to the user of workers, if they have one. Only folders and files with
 * one name: what a worker before this one has put in their place is left as it is.
 */
export function giveSandbox(file: string, walls: { userId: number | null } | undefined): void {
  if (file === ':memory:' || walls === undefined || walls.userId === null) return;
  const folder = dirname(file);
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry?.isFile() && entry.nlink === 1) give(path, entry);
  }
  give(folder, stat);
}

/** A change of owner changes the file's ctime, by which a file at rest is recognised: only where it is needed. */
function give(path: string, stat: Stats): void {
  if (stat.uid !== WORKER_USER || stat.gid !== WORKER_USER) giveToNow(path, WORKER_USER, WORKER_USER);
}

function requireOwn(folder: string): void {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid;
  if (owner !== undefined && owner !== 0) throw new Error(`${folder} belongs to another user than root`);
}

/** Lets the user pass through a folder of the server's, and nobody else but the server. */
function letPass(folder: string): void {
  const stat = statSync(folder);
  if (mayPass(stat)) return;
  if (stat.uid !== 0 || (stat.gid !== 0 && stat.gid !== WORKER_USER)) return;
  if (stat.gid !== WORKER_USER) giveToNow(folder, stat.uid, WORKER_USER);
  chmodFileNow(folder, (stat.mode & 0o700) | GROUP_MAY_PASS);
}

function mayPass({ uid, gid, mode }: Stats): boolean {
  if (uid === WORKER_USER) return true;
  return (mode & (gid === WORKER_USER ? GROUP_MAY_PASS : OTHERS_MAY_PASS)) !== 0;
}

function requireReachable(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isFile() && (stat.mode & OTHERS_MAY_READ) === 0) throw new Error(`${path} is not readable for others`);
  for (let at = stat.isFile() ? dirname(path) : path; ; at = dirname(at)) {
    if (!mayPass(statSync(at))) throw new Error(`${at} is closed to other users`);
    if (at === dirname(at)) return;
  }
}
