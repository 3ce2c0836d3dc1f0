/**
 * The second wall: what stands around every worker beside its interpreters and Node's permissions. Finds out once, at
 * the start, which walls this machine can give, by starting a worker behind them and looking at it. Knows nothing of
 * sandboxes.
 */
import { readFileSync, statSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { makeFolderNow } from '../../../base/effects.ts';
import { messageOf } from '../../../base/errors.ts';
import { residentBytes } from '../../../base/resident-memory.ts';
import { WALLS, type Wall, type WallStates } from '../../../base/walls.ts';
import { DEFAULT_POLICY } from '../../policies.ts';
import { parseFromInstance } from '../../protocol.ts';
import { compileCacheFolder, isEmptyFolder } from '../compile-cache.ts';
import { READABLE_CODE, startWorker, type Worker, type WorkerWalls, withRealPath, workerNiceness } from '../process.ts';
import { buildRoom, isApart, type Room, type RoomWall, toolPath } from './room.ts';
import { type ServerGuard, startServerGuard } from './server-guard.ts';
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
/** The sandbox that a worker is given when its walls are looked at, and its file. */
const PROBE = { id: 'probe', file: ':memory:' };
const PROBE_LIMITS = { maxBytes: 1024 * 1024, maxFileBytes: 1024, mustExist: false, joins: false };
const DIES_WITH_SERVER = ['--pdeathsig', 'KILL'];
const WALLS_OF_ROOMS: readonly (readonly RoomWall[])[] = [['net', 'files'], ['net'], ['files']];

/** What has been proven in this process: a second server in it need not start a worker to know. */
const proven = new Set<string>();

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
    return wallsOf({ room: null, setpriv: null, caps: false, user: null, ownUser: null }, missing);
  }
  const setpriv = toolPath('setpriv');
  const { wanted = WALLS } = options;
  const user = setpriv !== null && wanted.includes('uid') ? findUser(options, missing) : null;
  const caps = setpriv !== null && wanted.includes('caps');
  const room = await findRoom(options, user, missing);
  const ownUser = user?.uid === WORKER_USER ? ownUsers(options.dataFolder) : null;
  const bare = { room: null, setpriv, caps: false, user: null, ownUser: null };
  // Root without capabilities may not open what is another user's.
  const foreign = foreignFolder(options.dataFolder);
  const capsAlone = caps && foreign === null;
  if (caps && foreign !== null) missing.set('caps', `${foreign} belongs to another user than root`);
  const capsOf = user === null ? capsAlone : caps;
  const attempts: Attempt[] = [
    ...(ownUser === null ? [] : [{ room, setpriv, caps: capsOf, user: ROOT_IN_GROUP, ownUser }]),
    { ...bare, room, caps: capsOf, user },
    { ...bare, room, caps: capsAlone },
    ...(ownUser === null ? [] : [{ ...bare, caps: capsOf, user: ROOT_IN_GROUP, ownUser }]),
    { ...bare, caps: capsOf, user },
    { ...bare, caps: capsAlone },
    { ...bare, room },
  ];
  for (const attempt of attempts) {
    const walls = wallsOf(attempt, missing);
    const problem = prepareFolders(attempt, options) ?? (await problemWith(walls, options));
    if (problem === null) {
      if (attempt.room === null) room?.close();
      if (walls.user === null && isRoot()) takeBack([join(options.dataFolder, 'spill')]);
      if (walls.ownUser === null) return walls;
      const guard = startServerGuard();
      return { ...walls, close: () => closeBoth(walls, guard) };
    }
    for (const wall of WALLS) if (walls.states[wall] && !missing.has(wall)) missing.set(wall, problem);
  }
  room?.close();
  return wallsOf(bare, missing);
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
  room: Room | null;
  setpriv: string | null;
  caps: boolean;
  user: User | null;
  ownUser: OwnUser | null;
}

function wallsOf({ room, setpriv, caps, user, ownUser }: Attempt, reasons: ReadonlyMap<Wall, string>): Walls {
  const states: WallStates = {
    net: room?.walls.includes('net') ?? false,
    uid: ownUser !== null || user?.uid === WORKER_USER,
    caps,
    files: room?.walls.includes('files') ?? false,
  };
  // Outside a namespace of its own only root may drop what bounds later capabilities; nobody gains any of them then.
  const mayBound = isRoot() || room !== null;
  const bound = ownUser === null ? BOUND : BOUND_TO_CHANGE_USER;
  const otherUser = user === null ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const flags = [...(caps ? NO_CAPABILITIES : []), ...(caps && mayBound ? bound : []), ...otherUser];
  return {
    states,
    command: [...(room?.command ?? []), ...(setpriv === null ? [] : [setpriv, ...DIES_WITH_SERVER, ...flags])],
    user,
    ownUser,
    missing: new Map(
      WALLS.filter((wall) => !states[wall]).map((wall) => [
        wall,
        reasons.get(wall) ?? 'setpriv (util-linux) is not installed',
      ]),
    ),
    close: () => room?.close(),
  };
}

function closeBoth(walls: Walls, guard: ServerGuard): void {
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

async function findRoom(
  { dataFolder, cacheFolder, wanted = WALLS }: WallOptions,
  user: User | null,
  missing: Map<Wall, string>,
): Promise<Room | null> {
  const spill = join(dataFolder, 'spill');
  const caches = [null, ...(user === null ? [] : [ROOT_IN_GROUP.uid, user.uid])].map((id) =>
    compileCacheFolder(cacheFolder, id),
  );
  for (const folder of [join(dataFolder, 'live'), spill]) makeFolderNow(folder);
  for (const walls of WALLS_OF_ROOMS) {
    if (!walls.every((wall) => wanted.includes(wall))) continue;
    try {
      const room = await buildRoom(walls, {
        readable: [...READABLE_CODE, process.execPath],
        writable: [join(dataFolder, 'live'), spill, ...caches].flatMap(withRealPath),
        hidden: withRealPath(dataFolder),
      });
      for (const wall of walls) missing.delete(wall);
      return room;
    } catch (error) {
      for (const wall of walls) if (!missing.has(wall)) missing.set(wall, messageOf(error));
    }
  }
  return null;
}

/** Starts a worker behind the walls and looks at it: null when it works and they hold, else what is wrong. */
async function problemWith(walls: Walls, { dataFolder, cacheFolder, maxStartMs }: WallOptions): Promise<string | null> {
  const shape = JSON.stringify([walls.states, walls.user, walls.ownUser !== null, walls.command.length]);
  if (proven.has(shape)) return null;
  const cache = compileCacheFolder(cacheFolder, walls.user?.uid);
  const options = { dataFolder, spillFolder: join(dataFolder, 'spill'), cacheFolder: cache, maxStartMs, walls };
  const worker = startWorker(options, { compile: isEmptyFolder(cache) });
  try {
    await worker.ready;
    const user = walls.ownUser?.(PROBE.id) ?? walls.user;
    await opening(worker, walls.ownUser === null ? null : (user?.uid ?? null));
    const problem = WALLS.map((wall) =>
      walls.states[wall] && !holds(wall, worker.pid, user) ? `${wall} does not hold` : null,
    );
    const found = problem.find((one) => one !== null) ?? controlProblem(worker.pid);
    if (found === null) proven.add(shape);
    return found;
  } catch (error) {
    const message = worker.stderr().trim().split('\n')[0];
    return `a worker does not start behind it${message ? `: ${message}` : `: ${messageOf(error)}`}`;
  } finally {
    worker.child.kill('SIGKILL');
    await worker.exited;
  }
}

/** Resolves when the worker has a file open, as this user; null: as it is. Rejects when it ends before. */
async function opening(worker: Worker, uid: number | null): Promise<void> {
  const opened = new Promise<void>((resolve) =>
    worker.channel.onMessage((raw) => {
      if (parseFromInstance(raw)?.type === 'opened') resolve();
    }),
  );
  const { file } = PROBE;
  worker.channel.send({ type: 'open', spec: { file, policy: DEFAULT_POLICY, ...PROBE_LIMITS, uid } });
  await Promise.race([opened, worker.exited.then((how) => Promise.reject(new Error(how)))]);
}

/** Whether the kernel says of a process that the wall stands. `user`: whom it has to be. */
function holds(wall: Wall, pid: number, user: User | null): boolean {
  if (wall === 'net' || wall === 'files') return isApart(pid, wall);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s+(.+)$`, 'm').exec(status)?.[1]?.split(/\s+/) ?? [];
  if (wall === 'uid') {
    return (
      field('Uid').every((id) => Number(id) === user?.uid) && field('Gid').every((id) => Number(id) === WORKER_USER)
    );
  }
  const none = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].every((name) => /^0+$/.test(field(name)[0] ?? ''));
  return none && field('NoNewPrivs')[0] === '1';
}

/** What the server needs of a worker and may not do to one of another user: null when it may. */
function controlProblem(pid: number): string | null {
  try {
    setPriority(pid, workerNiceness());
    process.kill(pid, 0);
  } catch {
    return 'the server may not signal its processes or set their priority';
  }
  return residentBytes(pid) > 0 ? null : 'the server cannot see the memory of its processes';
}
