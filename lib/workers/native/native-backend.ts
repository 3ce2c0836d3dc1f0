/**
 * Real programs on this machine: whether there are any, the processes for them, and what a killed server or process of
 * them has left. Knows nothing of pools, rows or drawers.
 */
import { join } from 'node:path';
import { entryOf } from '../../base/bundled.ts';
import { chmodFileNow, makeFolderNow } from '../../base/effects.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { NativeSettings } from '../../base/native-settings.ts';
import { NO_DEBUGGER } from '../../base/process-signals.ts';
import { releaseStuckServer } from '../../native/fuse/stuck-server.ts';
import { jailTool } from '../../native/jail/jail-command.ts';
import { JailGroups } from '../../native/jail/jail-groups.ts';
import { nativeSupport } from '../../native/jail/support.ts';
import { NATIVE_WORKER, type NativePlace, placeArgument } from '../../native/worker/native-start.ts';
import { setNiceness } from '../cpu-use.ts';
import type { HealthCheckTimes } from '../health-check.ts';
import { FOLDER_MARK, SERVER_MARK, serverMark, startWorkerProcess, type Worker, workerNiceness } from '../process.ts';
import type { OpenSpec } from '../protocol/instance.ts';
import { profileOf } from '../protocol/policies.ts';
import type { OwnUser } from '../walls/user.ts';
import type { WorkerHold } from '../worker-hold.ts';
import { NativeInstance } from './native-instance.ts';
import { Spare } from './spare.ts';

export interface NativeOptions {
  settings: NativeSettings;
  dataFolder: string;
  /** How long programs in the background keep a sandbox awake, in milliseconds. */
  holdMs: number;
  /** Why there is no root file system now: a clause; null: there is one. */
  rootProblem: () => string | null;
  /** The root file system for the sandbox of an id, absolute, and what gives it back. Throws when there is none. */
  root: (id: string) => { folder: string; release: () => void };
  /** The user of each sandbox; null: they have none of their own. */
  ownUser: OwnUser | null | undefined;
  /** What stops their processes while the host may not act. Default: nothing. */
  hold?: WorkerHold | undefined;
}

/** Real programs, or why there are none. */
export interface NativeBackend {
  /** Null: there are, now. */
  readonly refusal: WinterdockError | null;
  open(spec: OpenSpec, times: Partial<HealthCheckTimes>): NativeInstance;
  /** Removes what processes that are gone have left; resolves when nothing is. Spares what runs. */
  sweep(): Promise<void>;
  /** Ends what was started ahead; then as `sweep`. */
  stop(): Promise<void>;
}

const OTHERS_PASS = 0o711;
/** How often it is looked whether one was killed in the middle of asking its own mount, in milliseconds. */
const LOOK_MS = 200;
/** As for other workers, with less for V8 to keep: what is large passes through buffers. */
const FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=512', '--v8-pool-size=1', '--expose-gc'];
const MEMORY = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '65536' };

/** What of this server and its machine is missing for real programs, a clause each; none where they are turned off. */
export async function missingForNatives({
  settings,
  ownUser,
}: Pick<NativeOptions, 'settings' | 'ownUser'>): Promise<string[]> {
  if (!settings.isOn) return [];
  const missing: string[] = [];
  if (process.getuid?.() !== 0) missing.push('the server does not run as root');
  else if (!ownUser) missing.push('the sandboxes of this server have no users of their own');
  const lacking = await nativeSupport(ownUser?.('any') ?? null);
  for (const tool of ['unshare', 'nsenter'] as const)
    if (jailTool(tool) === null) missing.push(`${tool} is not installed (package util-linux)`);
  return [...missing, ...lacking.map(({ why }) => why)];
}

/** `missing`: see `missingForNatives`, and whatever else speaks against it; then each sandbox is refused by name. */
export function nativeBackend(options: NativeOptions, missing: readonly string[]): NativeBackend {
  const { settings, ownUser, dataFolder, holdMs } = options;
  if (!settings.isOn)
    return refusing('they are turned off', 'Start the server with WB_NATIVE=on, on a machine that may run them.');
  const opened = missing.length > 0 ? null : JailGroups.open();
  if (!opened?.groups || !ownUser)
    return refusing(missing.join('; '), 'docs/native.md says what a machine needs for them.');
  const { groups } = opened;
  const mountFolder = join(dataFolder, 'mounts');
  makeFolderNow(mountFolder);
  chmodFileNow(mountFolder, OTHERS_PASS);
  const { processes, processors } = settings;
  const limits = { memoryBytes: profileOf('native').memoryBytes, processes, processors };
  const place: NativePlace = { mountFolder, groups: groups.places, limits, holdMs };
  const nsenter = jailTool('nsenter') ?? 'nsenter';
  const release = (pid: number) => releaseStuckServer(pid, mountFolder, nsenter);
  const leaving = new Set<Promise<unknown>>();
  const begin = (): Worker => {
    const env: NodeJS.ProcessEnv = { NODE_ENV: 'production', SQLITE_TMPDIR: join(dataFolder, 'spill'), ...MEMORY };
    const worker = startWorkerProcess(commandOf(dataFolder, place), env, false, options.hold);
    void worker.known.then((pid) => setNiceness(pid, workerNiceness()));
    const looks = setInterval(() => void release(worker.pid), LOOK_MS).unref();
    // Its jail ends with it, and nobody else removes the groups of that. What stays is removed at the next start.
    void worker.exited.then(() => {
      clearInterval(looks);
      const left = groups.sweep().catch(() => {});
      leaving.add(left);
      void left.then(() => leaving.delete(left));
    });
    return worker;
  };
  const spare = new Spare(begin);
  return {
    get refusal() {
      const problem = options.rootProblem();
      return problem === null ? null : refusal(problem, 'Build one: `winterdock root build base`.');
    },
    open(spec, times) {
      const root = options.root(spec.id);
      const native = { id: spec.id, root: root.folder, user: ownUser(spec.id) };
      const instance = new NativeInstance(spare.take() ?? begin(), spec, native, times);
      void instance.ended.then(root.release);
      return instance;
    },
    async stop() {
      await spare.stop();
      await this.sweep();
    },
    async sweep() {
      await Promise.all([...leaving, ...groups.goneServers().map(release)]);
      await groups.sweep();
    },
  };
}

/**
 * The command of such a process: in a namespace of mounts of its own, so that none is left when it ends, and ended with
 * its server.
 */
function commandOf(dataFolder: string, place: NativePlace): string[] {
  const [unshare, setpriv] = [jailTool('unshare'), jailTool('setpriv')];
  if (unshare === null || setpriv === null) throw new Error('unshare or setpriv is not installed any more.');
  return [
    ...[unshare, '--mount', '--', setpriv, '--pdeathsig', 'KILL', '--', process.execPath],
    ...[...FLAGS, NO_DEBUGGER, '--no-warnings', entryOf('native', NATIVE_WORKER)],
    ...[`${FOLDER_MARK}=${dataFolder}`, `${SERVER_MARK}=${serverMark(process.pid)}`, placeArgument(place)],
  ];
}

function refusal(why: string, hint: string): WinterdockError {
  return new WinterdockError('unsupported', `Real programs do not run on this server: ${why}.`, { hint });
}

function refusing(why: string, hint: string): NativeBackend {
  const refused = refusal(why, hint);
  const refuse = (): never => {
    throw refused;
  };
  return { refusal: refused, open: refuse, sweep: async () => {}, stop: async () => {} };
}
