/**
 * The users of workers, where the server is root: which they are, and that they reach the folders they need and own
 * what they open. Knows nothing of processes.
 */
import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chmodFileNow, giveToNow, makeFolderNow } from '../../base/effects.ts';
import { readOrMakeSecretFile } from '../../base/secret-file.ts';
import { LIVE_NAMES } from '../../storage/landing-folder.ts';

/**
 * Id of the user and of its only group. No account has it: it is of the range that systemd and Debian leave unused
 * (60578 to 61183). It is the same for every server of a machine, so that they may share a compile cache.
 */
export const WORKER_USER = 60_600;

/**
 * The users of single sandboxes, from this id on: the range that systemd leaves unused up to 0x7fffffff
 * (https://systemd.io/UIDS-GIDS/).
 */
const FIRST_SANDBOX_USER = 0x7000_0000;
const SANDBOX_USERS = 0x1000_0000;
/** Decides which user a sandbox has: without it nobody can choose a sandbox's id for the user that it gets. */
const KEY_FILE = 'users.key';
const KEY_BYTES = 32;
const IS_KEY = /^[0-9a-f]{64}$/;

/** A user and its only group, by their ids. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The user of a sandbox, by the sandbox's id. */
export type OwnUser = (id: string) => User;

const GROUP_MAY_PASS = 0o010;
const OTHERS_MAY_PASS = 0o001;
const OTHERS_MAY_READ = 0o004;
/** The group may make files, and neither list nor remove those of others. */
const ADDED_TO_BY_GROUP = 0o1730;
const READ_BY_GROUP = 0o750;
const OWNER_ALONE = 0o700;
const ALL = 0o7777;
const READ_BY_READERS = 0o640;
const OTHERS_MASK = 0o077;

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

/**
 * A user for each sandbox of a data folder (absolute), always the same one. Of a million sandboxes one in 268 shares
 * its user with another, and nobody can bring that about. Null where this system has fewer users, as a container may.
 * Throws when the key file holds none: with an empty one anybody could.
 */
export function ownUsers(dataFolder: string): OwnUser | null {
  if (!hasSandboxUsers()) return null;
  const path = join(dataFolder, KEY_FILE);
  const key = readOrMakeSecretFile(path, () => randomBytes(KEY_BYTES).toString('hex')).trim();
  if (!IS_KEY.test(key)) throw new Error(`${path} holds no key: delete it and a new one is made.`);
  return (id) => {
    const number = createHmac('sha256', key).update(id).digest().readUInt32BE() % SANDBOX_USERS;
    return { uid: FIRST_SANDBOX_USER + number, gid: WORKER_USER };
  };
}

/** A user of that range that is nobody's yet, with a group of its own. */
export function newUser(): User {
  const uid = FIRST_SANDBOX_USER + randomInt(SANDBOX_USERS);
  return { uid, gid: uid };
}

/** Throws an Error that names the folder, here or above, through which such users cannot pass. */
export function requirePassage(folder: string): void {
  requireReachable(folder, { uid: FIRST_SANDBOX_USER, gid: WORKER_USER });
}

/** Whether this user namespace has the ids of all sandboxes' users. */
export function hasSandboxUsers(): boolean {
  const ranges = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n');
  return ranges.some((range) => {
    const [first = 0, , count = 0] = range.trim().split(/\s+/).map(Number);
    return first <= FIRST_SANDBOX_USER && first + count >= FIRST_SANDBOX_USER + SANDBOX_USERS;
  });
}

/** Lets workers of every user make files in a folder of root's, and see none of each other's. */
export function shareFolder(folder: string): void {
  makeFolderNow(folder);
  // Where files cannot be given away, no sandbox can have a user of its own: better known now.
  giveToNow(folder, FIRST_SANDBOX_USER, WORKER_USER);
  giveToNow(folder, 0, WORKER_USER);
  chmodFileNow(folder, ADDED_TO_BY_GROUP);
}

/** Lets workers of every user read a folder of root's. */
export function showFolder(folder: string): void {
  makeFolderNow(folder);
  giveToNow(folder, 0, WORKER_USER);
  chmodFileNow(folder, READ_BY_GROUP);
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
 * Gives a sandbox's folder, and the files in it that are its own, to its user, or to that of all workers. Where workers
 * have root's user, what an earlier server gave away is root's again, which without capabilities could not open it. The
 * folder comes last: until then nobody but root changes a name in it. Only before its first process has opened it:
 * nothing in it is touched while one runs.
 */
export function giveSandbox(
  { id, file, tenant }: { id: string; file: string; tenant?: string },
  walls: UsersOfWorkers | undefined,
): void {
  if (file === ':memory:' || walls === undefined || process.getuid?.() !== 0) return;
  const user = walls.ownUser?.(id) ?? walls.user;
  // Workers are not in it: it is for those who read the files of the tenant at rest.
  const readers = tenant === undefined ? null : (walls.ownUser?.(`tenant:${tenant}`).uid ?? null);
  const folder = dirname(file);
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return;
  for (const name of LIVE_NAMES) {
    const path = join(folder, name);
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (!entry?.isFile() || entry.nlink !== 1) continue;
    const isRead = user !== null && readers !== null && path === file;
    give(path, entry, isRead ? { ...user, gid: readers } : user);
    if (isRead && (entry.mode & ALL) !== READ_BY_READERS) chmodFileNow(path, READ_BY_READERS);
  }
  give(folder, stat, user);
  if (walls.ownUser && (stat.mode & OTHERS_MASK) !== 0) chmodFileNow(folder, OWNER_ALONE);
}

/** Whether a user is one that workers have, with or without one for each sandbox. */
export function isUserOfWorkers(uid: number): boolean {
  return uid === WORKER_USER || isSandboxUser(uid);
}

interface UsersOfWorkers {
  /** Whom they start as; null: the server's. */
  readonly user: User | null;
  /** Whom each becomes with its sandbox; null: they stay. */
  readonly ownUser?: OwnUser | null;
}

/**
 * A change of owner changes the file's ctime, by which a file at rest is recognised: only where it is needed. `user`:
 * null for root, who gets only what the user of workers has.
 */
function give(path: string, stat: Stats, user: User | null): void {
  if (user === null && !isUserOfWorkers(stat.uid)) return;
  const { uid, gid } = user ?? { uid: 0, gid: 0 };
  if (stat.uid !== uid || stat.gid !== gid) giveToNow(path, uid, gid);
}

export function isSandboxUser(uid: number): boolean {
  return uid >= FIRST_SANDBOX_USER && uid < FIRST_SANDBOX_USER + SANDBOX_USERS;
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
