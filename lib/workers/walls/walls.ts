/**
 * The second wall: what stands around every worker beside its interpreters and Node's permissions. Finds out once, at
 * the start, which walls this machine can give, by starting a worker behind them and looking at it. Knows nothing of
 * sandboxes.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderNow } from '../../base/effects.ts';
import { messageOf } from '../../base/errors.ts';
import { WALLS, type Wall, type WallStates } from '../../base/walls.ts';
import { compileCacheFolder, isEmptyFolder } from '../compile-cache.ts';
import { READABLE_CODE, startWorker, type WorkerWalls, withRealPath } from '../process.ts';
import { loaderCommand, loaderProblem } from './loader.ts';
import { findNamespaces, NAMESPACE_WALLS, type NamespaceWall, namespaceCommand, wrapperCommand } from './namespaces.ts';
import { type ParentWatch, startParentWatch } from './parent-watch.ts';
import { MAY_NOT_SIGNAL, problemWith } from './proof.ts';
import { seccompFilter } from './seccomp-filter.ts';
import {
  type OwnUser,
  ownUsers,
  prepareUser,
  shareFolder,
  showFolder,
  takeBack,
  type User,
  userFor,
  WORKER_USER,
} from './user.ts';
import { buildWorkerRoot, needsUserNamespace, toolPath, type WorkerRoot } from './worker-root.ts';

export interface Walls extends WorkerWalls {
  readonly ownUser: OwnUser | null;
  readonly states: WallStates;
  /** Why those that are not in force are not. */
  readonly missing: ReadonlyMap<Wall, string>;
  /** Lets go of what holds them. Workers that run keep theirs. */
  close(): void;
}

interface WallOptions {
  dataFolder: string;
  /** Parent of the compile caches. */
  cacheFolder: string;
  maxStartMs: number;
  /** Bytes of the largest sandbox. Default: files of workers have no bound. */
  maxSandboxBytes?: number;
  /** Those without which nothing is started. Default: none. */
  requiredWalls?: readonly Wall[];
  /** Those to build. Default: all. */
  wanted?: readonly Wall[];
}

const NO_CAPABILITIES = ['--no-new-privs', '--inh-caps=-all'];
const BOUND = ['--bounding-set=-all'];
/** Root, until a worker has its sandbox: then it becomes the sandbox's user, and has this one no longer. */
const BOUND_TO_CHANGE_USER = ['--bounding-set=-all,+setuid'];
const ROOT_IN_GROUP: User = { uid: 0, gid: WORKER_USER };
const DIES_WITH_SERVER = ['--pdeathsig', 'KILL'];
/**
 * The largest file that a worker may write, beside the sizes of two sandboxes, for a log may be as long as its file. A
 * sandbox from before its server was given a smaller maximum can be so much larger.
 */
const FILE_SLACK_BYTES = 1024 * 1024 * 1024;
const WHY_NO_SETPRIV = 'setpriv (util-linux) is not installed';

/**
 * Finds the walls that this machine can give, and builds them: one that cannot be is missing. Throws, with a sentence
 * for the person who starts the server, when one that is required is missing.
 */
export async function buildWalls(options: WallOptions): Promise<Walls> {
  const walls = await findWalls(options);
  try {
    requireWalls(walls, options.requiredWalls ?? []);
    return walls;
  } catch (error) {
    walls.close();
    throw error;
  }
}

async function findWalls(options: WallOptions): Promise<Walls> {
  const missing = new Map<Wall, string>();
  if (process.platform !== 'linux') {
    for (const wall of WALLS) missing.set(wall, 'only Linux has it');
    const states = Object.fromEntries(WALLS.map((wall) => [wall, false])) as WallStates;
    return { command: [], user: null, ownUser: null, states, missing, close: () => {} };
  }
  const setpriv = toolPath('setpriv');
  const { wanted = WALLS } = options;
  const user = setpriv !== null && wanted.includes('uid') ? findUser(options, missing) : null;
  const caps = setpriv !== null && wanted.includes('caps');
  const room = await findRoom(options, user, missing);
  const namespaces = setpriv === null ? [] : await findOwnNamespaces(room, wanted, missing);
  const seccomp = wanted.includes('seccomp') && (await canFilter(missing));
  const ownUser = user?.uid === WORKER_USER ? ownUsers(options.dataFolder) : null;
  // Root without capabilities may not open what is another user's.
  const foreign = foreignFolder(options.dataFolder);
  const capsAlone = caps && foreign === null;
  if (caps && foreign !== null) missing.set('caps', `${foreign} belongs to another user than root`);
  const capsOf = user === null ? capsAlone : caps;
  const users: Pick<Attempt, 'caps' | 'user' | 'ownUser'>[] = [
    ...(ownUser === null ? [] : [{ caps: capsOf, user: ROOT_IN_GROUP, ownUser }]),
    { caps: capsOf, user, ownUser: null },
    { caps: capsAlone, user: null, ownUser: null },
    { caps: false, user: null, ownUser: null },
  ];
  const mostFileBytes = options.maxSandboxBytes === undefined ? null : 2 * options.maxSandboxBytes + FILE_SLACK_BYTES;
  // A namespace of users is entered by way of the room.
  const ownIn = (inRoom: WorkerRoot | null) =>
    inRoom === null && needsUserNamespace() ? [[]] : [namespaces, namespaces.filter((wall) => wall !== 'pid'), []];
  const attempts = users.flatMap((one) =>
    [room, null].flatMap((inRoom) =>
      ownIn(inRoom).flatMap((own) =>
        [seccomp, false].map(
          (filters): Attempt => ({
            ...one,
            setpriv,
            room: inRoom,
            namespaces: own,
            seccomp: filters,
            mostFileBytes,
          }),
        ),
      ),
    ),
  );
  let usersCannotBe = false;
  for (const attempt of mostFirst(attempts)) {
    if (attempt.user !== null && usersCannotBe) continue;
    const walls = wallsOf(attempt, missing);
    const problem = prepareFolders(attempt, options) ?? (await problemWith(walls, options));
    usersCannotBe ||= problem === MAY_NOT_SIGNAL;
    if (problem === null) {
      if (attempt.room === null) room?.close();
      if (walls.user === null && isRoot()) takeBack([join(options.dataFolder, 'spill')]);
      if (walls.ownUser === null) return walls;
      const guard = startParentWatch();
      return { ...walls, close: () => closeBoth(walls, guard) };
    }
    for (const wall of WALLS) if (walls.states[wall] && !missing.has(wall)) missing.set(wall, problem);
  }
  room?.close();
  const bare = { room: null, setpriv, namespaces: [], seccomp: false, caps: false, user: null, ownUser: null };
  return wallsOf({ ...bare, mostFileBytes }, missing);
}

/** Each set of walls once, those with most walls first. */
function mostFirst(attempts: readonly Attempt[]): Attempt[] {
  const keyOf = (attempt: Attempt) => {
    const { states, user, ownUser } = wallsOf(attempt, new Map());
    // The same walls, but for the room that leads to others: it may be what does not work.
    return JSON.stringify([states, user, ownUser !== null, attempt.room !== null]);
  };
  const countOf = (attempt: Attempt) => Object.values(wallsOf(attempt, new Map()).states).filter(Boolean).length;
  return [...new Map(attempts.toReversed().map((attempt) => [keyOf(attempt), attempt])).values()]
    .toReversed()
    .toSorted((one, other) => countOf(other) - countOf(one));
}

/** Throws, with a sentence for the person who starts the server, when a wall that is required is not in force. */
export function requireWalls({ missing }: Walls, required: readonly Wall[]): void {
  const lacking = required.flatMap((wall) => (missing.has(wall) ? [`${wall} (${missing.get(wall)})`] : []));
  if (lacking.length === 0) return;
  throw new Error(
    `WB_REQUIRE_WALLS=${required.join(',')} asks for walls that this machine does not give: ${lacking.join('; ')}. Nothing was started.`,
  );
}

/** For the person who starts the server: which walls are in force. `isWhole`: all that there are. */
export function wallsAtStart({ states, missing, user, ownUser }: Walls): { text: string; isWhole: boolean } {
  const inForce = WALLS.filter((wall) => states[wall]).map((wall) =>
    wall === 'uid' ? `uid (${ownUser ? 'each sandbox has its own user' : `sandboxes run as user ${user?.uid}`})` : wall,
  );
  const text = inForce.length === 0 ? 'none' : inForce.join(', ');
  if (missing.size === 0) return { text, isWhole: true };
  const lacking = [...missing].map(([wall, why]) => `${wall} (${why})`);
  return { text: `${text}; missing: ${lacking.join('; ')}`, isWhole: false };
}

interface Attempt {
  room: WorkerRoot | null;
  setpriv: string | null;
  namespaces: readonly NamespaceWall[];
  seccomp: boolean;
  caps: boolean;
  user: User | null;
  ownUser: OwnUser | null;
  mostFileBytes: number | null;
}

function wallsOf(attempt: Attempt, reasons: ReadonlyMap<Wall, string>): Walls {
  const { room, namespaces, seccomp, caps, user, ownUser } = attempt;
  const states: WallStates = {
    net: namespaces.includes('net'),
    uid: ownUser !== null || user?.uid === WORKER_USER,
    caps,
    files: room?.hasFiles ?? false,
    pid: namespaces.includes('pid'),
    ipc: namespaces.includes('ipc'),
    seccomp,
  };
  return {
    states,
    command: commandOf(attempt),
    isWrapped: states.pid,
    mayFork: !seccomp,
    user,
    ownUser,
    missing: new Map(WALLS.filter((wall) => !states[wall]).map((wall) => [wall, reasons.get(wall) ?? WHY_NO_SETPRIV])),
    close: () => room?.close(),
  };
}

/** What runs before a worker's own command, in the order in which each still may do what it does. */
function commandOf({ room, setpriv, namespaces, seccomp, caps, user, ownUser, mostFileBytes }: Attempt): string[] {
  // Outside a namespace of its own only root may drop what bounds later capabilities; nobody gains any of them then.
  const mayBound = isRoot() || room !== null;
  const bound = ownUser === null ? BOUND : BOUND_TO_CHANGE_USER;
  const otherUser = user === null ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const flags = [...(caps ? NO_CAPABILITIES : []), ...(caps && mayBound ? bound : []), ...otherUser];
  return [
    ...(room?.enter ?? []),
    ...(setpriv !== null && namespaces.includes('pid') ? wrapperCommand(setpriv, ownUser !== null) : []),
    ...namespaceCommand(namespaces),
    ...(room?.enterFiles ?? []),
    ...(setpriv === null ? [] : [setpriv, ...DIES_WITH_SERVER, ...flags]),
    ...loaderCommand({ filter: seccomp ? seccompFilter() : null, keepsStatm: room?.hasFiles ?? false, mostFileBytes }),
  ];
}

function closeBoth(walls: Walls, guard: ParentWatch): void {
  guard.close();
  walls.close();
}

const isRoot = () => process.getuid?.() === 0;

/** Whether root's server was started on the folder of somebody else. */
function isForeign(dataFolder: string): boolean {
  return isRoot() && userFor(dataFolder).uid !== WORKER_USER;
}

/** A folder of root's server that workers write into and that is somebody else's; null when there is none. */
function foreignFolder(dataFolder: string): string | null {
  if (!isRoot()) return null;
  const folders = [dataFolder, join(dataFolder, 'live'), join(dataFolder, 'spill')];
  return folders.find((folder) => ![0, WORKER_USER].includes(statSync(folder).uid)) ?? null;
}

/** Whom workers can run as instead of root; null: only as the server's user. */
function findUser({ dataFolder, cacheFolder }: WallOptions, missing: Map<Wall, string>): User | null {
  if (!isRoot()) {
    missing.set('uid', 'the server does not run as root');
    return null;
  }
  const user = userFor(dataFolder);
  try {
    prepareUser(user, {
      passable: [dataFolder, join(dataFolder, 'live'), cacheFolder],
      own: [join(dataFolder, 'spill'), compileCacheFolder(cacheFolder, user.uid)],
      readable: [...READABLE_CODE, process.execPath],
    });
    if (isForeign(dataFolder)) {
      missing.set('uid', `${dataFolder} belongs to user ${user.uid}, so that sandboxes run as that user`);
    }
    return user;
  } catch (error) {
    missing.set('uid', messageOf(error));
    return null;
  }
}

/** Gives the folders that workers write into to whom an attempt needs. What is wrong with that; null: nothing. */
function prepareFolders({ user, ownUser }: Attempt, { dataFolder, cacheFolder }: WallOptions): string | null {
  if (user === null) return null;
  const [spill, cache] = [join(dataFolder, 'spill'), compileCacheFolder(cacheFolder, user.uid)];
  try {
    if (ownUser === null) {
      prepareUser(user, { passable: [], own: [spill, cache], readable: [] });
    } else {
      shareFolder(spill);
      showFolder(cache);
    }
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** The room for workers; null where there is none, or is no use for it. */
async function findRoom(
  options: WallOptions,
  user: User | null,
  missing: Map<Wall, string>,
): Promise<WorkerRoot | null> {
  const { dataFolder, cacheFolder, wanted = WALLS } = options;
  const spill = join(dataFolder, 'spill');
  const caches = [null, ...(user === null ? [] : [ROOT_IN_GROUP.uid, user.uid])].map((id) =>
    compileCacheFolder(cacheFolder, id),
  );
  for (const folder of [join(dataFolder, 'live'), spill]) makeFolderNow(folder);
  if (wanted.includes('files')) {
    // Where they have the server's user, none of them may write what the next one runs.
    const sealed = isRoot() ? [] : caches;
    try {
      for (const cache of sealed) await compileAlone(cache, options);
      return await buildWorkerRoot({
        readable: [...READABLE_CODE, process.execPath, ...sealed.flatMap(withRealPath)],
        writable: [join(dataFolder, 'live'), spill, ...(isRoot() ? caches : [])].flatMap(withRealPath),
        hidden: withRealPath(dataFolder),
      });
    } catch (error) {
      missing.set('files', messageOf(error));
    }
  }
  if (!needsUserNamespace() || !NAMESPACE_WALLS.some((wall) => wanted.includes(wall))) return null;
  try {
    return await buildWorkerRoot(null);
  } catch (error) {
    for (const wall of NAMESPACE_WALLS) missing.set(wall, messageOf(error));
    return null;
  }
}

/**
 * Compiles what workers run, unless it is, in a worker without walls that never gets a sandbox. It has the number of
 * theirs as its user, by which Node names the folder in the cache.
 */
async function compileAlone(cacheFolder: string, { dataFolder, maxStartMs }: WallOptions): Promise<void> {
  const unshare = toolPath('unshare');
  if (unshare === null || !isEmptyFolder(cacheFolder)) return;
  const setpriv = toolPath('setpriv');
  const ends = setpriv === null ? [] : [setpriv, ...DIES_WITH_SERVER];
  const walls = { command: [unshare, '--user', '--map-root-user', ...ends], user: null };
  const options = { dataFolder, spillFolder: join(dataFolder, 'spill'), cacheFolder, maxStartMs, walls };
  const worker = startWorker(options, { compile: true });
  // Without a cache a start takes longer, and nothing else.
  await worker.ready.catch(() => undefined);
  worker.signal('SIGKILL');
  await worker.exited;
}

/** Those that this machine gives each worker, of those that are wanted. */
async function findOwnNamespaces(
  room: WorkerRoot | null,
  wanted: readonly Wall[],
  missing: Map<Wall, string>,
): Promise<readonly NamespaceWall[]> {
  if (room === null && needsUserNamespace()) return [];
  const { given, refused } = await findNamespaces(
    room?.enter ?? [],
    NAMESPACE_WALLS.filter((wall) => wanted.includes(wall)),
  );
  for (const [wall, why] of refused) missing.set(wall, why);
  return given;
}

/** Whether a filter of system calls can be loaded here. */
async function canFilter(missing: Map<Wall, string>): Promise<boolean> {
  const problem = await loaderProblem();
  if (problem !== null) missing.set('seccomp', problem);
  return problem === null;
}
