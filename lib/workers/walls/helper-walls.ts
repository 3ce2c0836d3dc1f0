/**
 * The walls of helpers, the processes that open guests' files for the server: those of workers, with other folders in
 * the room. Finds out once whether this machine gives them. Knows nothing of what helpers do.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { makeFolderNow } from '../../base/effects.ts';
import { messageOf } from '../../base/errors.ts';
import { StartedProcessId } from '../../base/started-process-id.ts';
import { withoutSignalsUnlessStarted } from '../../base/unstarted.ts';
import { type HelperWalls, WALLS, type Wall, type WallStates } from '../../base/walls.ts';
import { helperCompileCacheFolder } from '../compile-cache.ts';
import { FOLDER_MARK, READABLE_CODE, SERVER_MARK, serverMark, withRealPath } from '../process.ts';
import { helperUsers } from './helper-users.ts';
import { loaderCommand, loaderProblem } from './loader.ts';
import { isApart, NAMESPACE_WALLS, namespaceCommand, wrapperCommand } from './namespaces.ts';
import { startParentWatch } from './parent-watch.ts';
import { isFiltered } from './proof.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { hasSandboxUsers, requirePassage, userFor, WORKER_USER } from './user.ts';
import { buildWorkerRoot, needsUserNamespace, toolPath, type WorkerRoot } from './worker-root.ts';

export interface HelperWallsOptions {
  dataFolder: string;
  /** Parent of compile caches; null: they have none. */
  cacheFolder: string | null;
  /** The walls that stand around workers: helpers have these. */
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
const FLAGS = ['--pdeathsig', 'KILL', '--no-new-privs', '--inh-caps=-all'];
/** Sets of namespaces that are tried where nobody has found out which there are. */
const NAMESPACES = [
  { net: true, pid: true, ipc: true },
  { net: true, pid: false, ipc: true },
  { net: false, pid: false, ipc: false },
] as const;
/** How long the id of a process that has begun may be unknown, in milliseconds. */
const MAX_KNOWN_MS = 5000;
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
  let room: WorkerRoot | null = null;
  // A helper that becomes a file's user no longer gets the kernel's signal of its server's end.
  const guard = hasUsers ? startParentWatch() : null;
  const close = () => {
    guard?.close();
    room?.close();
  };
  try {
    room = await roomFor(options);
    // In a room what lies above a folder is the room's.
    if (hasUsers && room === null) for (const folder of [dataFolder, ...outside]) requirePassage(dirname(folder));
    const bound = !isRoot ? '-all' : hasUsers ? '-all,+setuid,+setgid' : `-all,+${OPENS_FILES}`;
    const mayBound = isRoot || room !== null;
    const command = [
      ...(room?.enter ?? []),
      ...(states.pid ? wrapperCommand(setpriv, hasUsers) : []),
      ...namespaceCommand(NAMESPACE_WALLS.filter((wall) => states[wall])),
      ...(room?.enterFiles ?? []),
      setpriv,
      ...FLAGS,
      ...(mayBound ? [`--bounding-set=${bound}`] : []),
      ...(hasUsers ? ROOT_IN_GROUP : []),
      ...loaderCommand({ filter: states.seccomp ? seccompFilter() : null, keepsStatm: false, mostFileBytes: null }),
    ];
    const inForce: WallStates = { ...states, uid: hasUsers };
    await prove(command, inForce);
    const folders = [dataFolder, ...outside].flatMap(withRealPath);
    return {
      command,
      isWrapped: inForce.pid,
      marks: [`${FOLDER_MARK}=${dataFolder}`, `${SERVER_MARK}=${serverMark(process.pid)}`],
      cacheFolder: cacheFor(options),
      users: hasUsers ? helperUsers(folders) : null,
      states: inForce,
      close,
    };
  } catch (error) {
    close();
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
  const whyNoFilter = await loaderProblem();
  const filters = whyNoFilter === null ? [true, false] : [false];
  const attempts = (hasUsers ? [true, false] : [false]).flatMap((uid) =>
    [true, false].flatMap((files) =>
      NAMESPACES.flatMap((own) => filters.map((seccomp) => ({ ...own, uid, caps: true, files, seccomp }))),
    ),
  );
  let walls: HelperWalls | null = null;
  for (const states of attempts) {
    walls = await buildHelperWalls({ ...options, states, tell: (why) => reasons.push(why) });
    if (walls !== null) break;
  }
  const noUsers = isRoot ? 'this data folder is not root’s' : 'this program does not run as root';
  for (const wall of WALLS) {
    if (walls?.states[wall]) continue;
    const own = wall === 'uid' && !hasUsers ? noUsers : wall === 'seccomp' ? whyNoFilter : null;
    missing.set(wall, own ?? reasons[0] ?? 'this machine does not give it');
  }
  return { walls, missing };
}

/** Of its own, so that what a worker compiled, or wrote in the place of that, is run by no helper. */
function cacheFor({ cacheFolder }: HelperWallsOptions): string | null {
  return cacheFolder === null ? null : helperCompileCacheFolder(cacheFolder);
}

async function roomFor(options: HelperWallsOptions): Promise<WorkerRoot | null> {
  const { dataFolder, states, outside } = options;
  const isEntered = needsUserNamespace() && NAMESPACE_WALLS.some((wall) => states[wall]);
  if (!states.files) return isEntered ? buildWorkerRoot(null) : null;
  const [read = [], written = []] = [READ, WRITTEN].map((names) => names.map((name) => join(dataFolder, name)));
  const makes = options.makesFolders ?? true;
  if (makes) for (const folder of [...read, ...written]) makeFolderNow(folder);
  const there = (folders: readonly string[]) => folders.filter((folder) => existsSync(folder)).flatMap(withRealPath);
  const cache = cacheFor(options);
  return buildWorkerRoot({
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
  const child = withoutSignalsUnlessStarted(
    spawn(file, [...args, '/bin/sh', '-c', 'echo ready; read -r line'], { env: { NODE_ENV: 'production' } }),
  );
  const id = new StartedProcessId(child, states.pid);
  try {
    const complaint = text(child.stderr);
    const ended = once(child, 'close').then(() => false);
    ended.catch(() => {});
    const isReady = await Promise.race([once(child.stdout, 'data').then(() => true), ended]);
    if (!isReady)
      throw new Error((await complaint).trim().split('\n')[0] || 'a helper does not start behind its walls');
    const pid = await Promise.race([id.known, pause(MAX_KNOWN_MS, 0)]);
    const holds: Partial<Record<Wall, () => boolean>> = {
      ...Object.fromEntries(NAMESPACE_WALLS.map((wall) => [wall, () => isApart(pid, wall)])),
      files: () => isApart(pid, 'mnt'),
      seccomp: () => isFiltered(pid),
    };
    const missing = WALLS.filter((wall) => states[wall] && holds[wall]?.() === false);
    if (missing.length > 0) throw new Error(`${missing.join(', ')} does not hold around a helper`);
  } finally {
    id.signal('SIGKILL');
  }
}
