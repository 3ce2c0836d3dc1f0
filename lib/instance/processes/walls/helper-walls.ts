/**
 * The walls of helpers, the processes that open guests' files for the server: the room, the capabilities and the users
 * that the server's workers have, with other folders in the room. Finds out once whether this machine gives them.
 * Knows nothing of what helpers do.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolderNow } from '../../../base/effects.ts';
import { messageOf } from '../../../base/errors.ts';
import { withoutSignalsUnlessStarted } from '../../../base/unstarted.ts';
import { type HelperWalls, WALLS, type Wall, type WallStates } from '../../../base/walls.ts';
import { compileCacheFolder } from '../compile-cache.ts';
import { FOLDER_MARK, READABLE_CODE, SERVER_MARK, serverMark, withRealPath } from '../process.ts';
import { helperUsers } from './helper-users.ts';
import { isApart, type NamespaceWall, namespaceCommand } from './namespaces.ts';
import { buildRoom, type Room, toolPath } from './room.ts';
import { hasSandboxUsers, requirePassage, userFor, WORKER_USER } from './user.ts';

export interface HelperWallsOptions {
  dataFolder: string;
  /** Parent of compile caches; null: they have none. */
  cacheFolder: string | null;
  /** The walls that stand around workers: helpers have these, but for `pid` and `seccomp`. */
  states: WallStates;
  /** Folders (absolute) outside the data folder that helpers read or write too. Default: none. */
  outside?: { readable?: readonly string[]; writable?: readonly string[] };
  /** False: no folder is made in the data folder; those that are missing are not shown. Default: true. */
  makesFolders?: boolean;
  /** Told why they have no walls, where they have fewer than workers. */
  tell?: (why: string) => void;
}

/** Folders of a data folder that helpers read. */
const READ = ['cold', 'archive', 'snapshots', 'blueprints', 'orphans', 'expanded'];
/** Those they write: beside that their own user has to be given a file in it. */
const WRITTEN = ['live', 'bundles', ...['cold', 'snapshots', 'blueprints'].map((drawer) => join(drawer, '.staging'))];
/** One of processes would put another process before it, whose memory would be watched in its place. */
const OWN_NAMESPACES: readonly NamespaceWall[] = ['net', 'ipc'];
const NOT_AROUND_HELPERS: ReadonlySet<Wall> = new Set(['pid', 'seccomp']);
const FLAGS = ['--pdeathsig', 'KILL', '--no-new-privs', '--inh-caps=-all'];
const ROOT_IN_GROUP = ['--reuid=0', `--regid=${WORKER_USER}`, '--clear-groups'];
/** Root of root's server that cannot give each sandbox a user: files of others are opened, and nothing else is done. */
const OPENS_FILES = 'dac_override,+chown,+fowner';

/** Builds them; null where this machine gives none, and helpers are as the server is. */
export async function buildHelperWalls(options: HelperWallsOptions): Promise<HelperWalls | null> {
  const { dataFolder, states, tell = () => {} } = options;
  const setpriv = toolPath('setpriv');
  if (process.platform !== 'linux' || setpriv === null || !states.caps) return null;
  const isRoot = process.getuid?.() === 0;
  const hasUsers = isRoot && states.uid && hasSandboxUsers();
  const outside = [...(options.outside?.readable ?? []), ...(options.outside?.writable ?? [])];
  let room: Room | null = null;
  try {
    room = await roomFor(options);
    // In a room what lies above a folder is the room's.
    if (hasUsers && room === null) for (const folder of [dataFolder, ...outside]) requirePassage(dirname(folder));
    const bound = !isRoot ? '-all' : hasUsers ? '-all,+setuid,+setgid' : `-all,+${OPENS_FILES}`;
    const mayBound = isRoot || room !== null;
    const command = [
      ...(room?.enter ?? []),
      ...namespaceCommand(OWN_NAMESPACES.filter((wall) => states[wall])),
      ...(room?.enterFiles ?? []),
      setpriv,
      ...FLAGS,
      ...(mayBound ? [`--bounding-set=${bound}`] : []),
      ...(hasUsers ? ROOT_IN_GROUP : []),
    ];
    const inForce: WallStates = { ...states, uid: hasUsers, pid: false, seccomp: false };
    await prove(command, inForce);
    const folders = [dataFolder, ...outside].flatMap(withRealPath);
    return {
      command,
      marks: [`${FOLDER_MARK}=${dataFolder}`, `${SERVER_MARK}=${serverMark(process.pid)}`],
      cacheFolder: cacheFor(options),
      users: hasUsers ? helperUsers(folders) : null,
      states: inForce,
      close: () => room?.close(),
    };
  } catch (error) {
    room?.close();
    tell(messageOf(error));
    return null;
  }
}

/**
 * The walls of helpers where there are no workers: as many as this machine gives, and why it does not give the others
 * of those that helpers have. Null off Linux, and where it gives none.
 */
export async function findHelperWalls(
  options: Omit<HelperWallsOptions, 'states' | 'tell'>,
): Promise<{ walls: HelperWalls | null; missing: ReadonlyMap<Wall, string> }> {
  const isRoot = process.getuid?.() === 0;
  const hasUsers = isRoot && userFor(options.dataFolder).uid === WORKER_USER;
  const missing = new Map<Wall, string>();
  const reasons: string[] = process.platform === 'linux' ? [] : ['only Linux has it'];
  if (toolPath('setpriv') === null) reasons.push('setpriv (util-linux) is not installed');
  const attempts = (hasUsers ? [true, false] : [false]).flatMap((uid) =>
    [true, false].flatMap((files) =>
      [true, false].map((own) => ({ net: own, uid, caps: true, files, pid: false, ipc: own, seccomp: false })),
    ),
  );
  let walls: HelperWalls | null = null;
  for (const states of attempts) {
    walls = await buildHelperWalls({ ...options, states, tell: (why) => reasons.push(why) });
    if (walls !== null) break;
  }
  const noUsers = isRoot ? 'this data folder is not root’s' : 'this program does not run as root';
  for (const wall of WALLS) {
    if (NOT_AROUND_HELPERS.has(wall) || walls?.states[wall]) continue;
    missing.set(wall, wall === 'uid' && !hasUsers ? noUsers : (reasons[0] ?? 'this machine does not give it'));
  }
  return { walls, missing };
}

/** Of its own, so that what a worker compiled is run by no helper. */
function cacheFor({ cacheFolder }: HelperWallsOptions): string | null {
  if (cacheFolder === null) return null;
  const folder = join(compileCacheFolder(cacheFolder), 'helpers');
  makeFolderNow(folder);
  return folder;
}

async function roomFor(options: HelperWallsOptions): Promise<Room | null> {
  const { dataFolder, states, outside } = options;
  if (!states.files) return process.getuid?.() === 0 || !states.net ? null : buildRoom(null);
  const [read = [], written = []] = [READ, WRITTEN].map((names) => names.map((name) => join(dataFolder, name)));
  const makes = options.makesFolders ?? true;
  if (makes) for (const folder of [...read, ...written]) makeFolderNow(folder);
  const there = (folders: readonly string[]) => folders.filter((folder) => existsSync(folder)).flatMap(withRealPath);
  const cache = cacheFor(options);
  return buildRoom({
    readable: [
      ...READABLE_CODE,
      process.execPath,
      ...(cache === null ? [] : [cache]),
      ...there([...read, ...(outside?.readable ?? [])]),
    ],
    writable: there([...written, ...(outside?.writable ?? [])]),
    hidden: withRealPath(dataFolder),
  });
}

/** Starts something small behind the walls and looks at it. Throws an Error that says what is wrong. */
async function prove(command: readonly string[], states: WallStates): Promise<void> {
  const [file = '', ...args] = command;
  const child: ChildProcess = withoutSignalsUnlessStarted(
    spawn(file, [...args, '/bin/sh', '-c', 'echo ready; read -r line'], {
      env: { NODE_ENV: 'production' },
      stdio: 'pipe',
    }),
  );
  try {
    const ended = once(child, 'close').then(() => false);
    ended.catch(() => {});
    const isReady = await Promise.race([once(child.stdout ?? child, 'data').then(() => true), ended]);
    if (!isReady) throw new Error('a helper does not start behind its walls');
    const kinds = { net: 'net', ipc: 'ipc', files: 'mnt' } as const;
    const missing = (['net', 'ipc', 'files'] as const).filter(
      (wall) => states[wall] && !isApart(child.pid ?? 0, kinds[wall]),
    );
    if (missing.length > 0) throw new Error(`${missing.join(', ')} does not hold around a helper`);
  } finally {
    child.kill('SIGKILL');
  }
}
