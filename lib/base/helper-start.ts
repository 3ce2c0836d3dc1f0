/**
 * Starts a process that touches what guests wrote, behind the walls that it is given, with a channel of its own and
 * nothing of the server's environment. Knows nothing of what it does.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Duplex, PassThrough } from 'node:stream';
import { CHANNEL_DESCRIPTOR, ServerChannel, type TextLimits } from './channel.ts';
import { ENDED_WITH_SERVER } from './helper-end.ts';
import { NO_DEBUGGER } from './process-signals.ts';
import { StartedProcessId } from './started-process-id.ts';
import { withoutSignalsUnlessStarted } from './unstarted.ts';
import type { HelperWalls } from './walls.ts';

/**
 * Of the text of an answer. A query gives at most 4 MiB and 50 000 values; JSON writes each control character as six.
 */
const TEXT: TextLimits = { bytes: 26 * 1024 * 1024, values: 60_000 };
/** From util-linux: the kernel ends the process when the thread that started it is gone. */
const SETPRIV = '/usr/bin/setpriv';

export interface HelperStart {
  entry: string;
  /** Node's flags. */
  flags: readonly string[];
  /** Its whole environment, beside what every helper has. */
  env: Readonly<Record<string, string>>;
  stdout: 'ignore' | 'pipe';
  /** A message may have so many bytes beside its text. */
  mostBytes: number;
  walls: HelperWalls | null;
}

export interface StartedHelper {
  child: ChildProcess;
  channel: ServerChannel;
  /** Its own id; what was started may be a wrapper that waits for it. Signals go by it. */
  id: StartedProcessId;
  /** Resolves with its signal, or with `exit` and its code, when no process of it is left. */
  exited: Promise<string>;
}

/**
 * Starts one. One that could not be started has no id and emits `error`. With walls it reads the compile cache that
 * they name, and no other.
 */
export function startHelper({ entry, flags, env, stdout, mostBytes, walls }: HelperStart): StartedHelper {
  const before = walls?.command ?? endsWithServer();
  const [file = '', ...args] = [...before, process.execPath, NO_DEBUGGER, ...flags, entry, ...(walls?.marks ?? [])];
  const child = withoutSignalsUnlessStarted(
    spawn(file, args, {
      stdio: ['ignore', stdout, 'pipe', 'pipe'],
      env: {
        NODE_ENV: 'production',
        MALLOC_ARENA_MAX: '1',
        ...env,
        ...(walls === null ? {} : { NODE_COMPILE_CACHE: walls.cacheFolder ?? undefined, [ENDED_WITH_SERVER]: '1' }),
      },
    }),
  );
  // Without descriptors left there are no pipes at all; `error` says so then.
  const pipe = (child.stdio as typeof child.stdio | undefined)?.[CHANNEL_DESCRIPTOR];
  const channel = new ServerChannel((pipe as Duplex | undefined) ?? new PassThrough().destroy(), mostBytes, TEXT);
  const id = new StartedProcessId(child, walls?.isWrapped ?? false);
  return { child, channel, id, exited: exitOf(child, id) };
}

function exitOf(child: ChildProcess, id: StartedProcessId): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => void id.gone().then(() => resolve(signal ?? `exit ${code}`)));
    // One that could not be started never emits `exit`; of any other, a failed send shows as its exit.
    child.on('error', (error) => (child.pid === undefined ? resolve(error.message) : id.signal('SIGKILL')));
  });
}

function endsWithServer(): readonly string[] {
  return process.platform === 'linux' && existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL'] : [];
}
