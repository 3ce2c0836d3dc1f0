/**
 * Cuts bases of the registry's file in a process of its own, behind the walls of helpers: of the data folder it reads
 * that file and its log, and writes the spool. It runs for one base and ends.
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entryOf } from '../base/bundled.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import { HelperProcess } from '../base/helper-process.ts';
import type { Logger } from '../base/log.ts';
import type { FileUser, WallStates } from '../base/walls.ts';
import type { BaseCut, BaseRequest } from '../replication/log/cut.ts';
import { FOLDER_MARK, SERVER_MARK, serverMark } from '../workers/process.ts';
import { buildHelperWalls } from '../workers/walls/helper-walls.ts';
import { type BaseProcessReport, parseBaseReport } from './base-messages.ts';

const SOURCE = fileURLToPath(new URL('./base-worker.ts', import.meta.url));
/** It reads and writes in pieces; Node alone takes a third of that. */
const MEMORY_BYTES = 256 * 1024 * 1024;
const MEMORY_INTERVAL_MS = 250;
/** A gigabyte takes some ten seconds. */
const TIMEOUT_MS = 15 * 60_000;
const FLAGS = ['--no-warnings', '--max-old-space-size=96', '--max-semi-space-size=4', '--v8-pool-size=1'];

export interface RegistryBaseParts {
  config: Pick<Config, 'dataFolder' | 'cacheFolder'>;
  /** The walls that stand around workers. */
  states: WallStates;
  log: Logger;
}

/**
 * Cuts a base. Throws what the cutting throws, `capacity` when no process starts, and `storage_unavailable` once
 * `signal` is aborted; the process has ended then.
 */
export async function cutRegistryBase(
  { config, states, log }: RegistryBaseParts,
  request: BaseRequest,
  signal: AbortSignal,
): Promise<BaseCut> {
  const { dataFolder, cacheFolder } = config;
  const walls = await buildHelperWalls({
    dataFolder,
    cacheFolder,
    states,
    outside: { readable: [request.main, request.log], writable: [dirname(request.target)] },
    tell: (why) => log.warn({ why }, 'a process that reads the registry has no walls'),
  });
  try {
    const helper = await HelperProcess.start<BaseProcessReport>({
      name: 'base',
      entry: entryOf('base', SOURCE),
      flags: FLAGS,
      env: {
        NODE_COMPILE_CACHE: join(cacheFolder, 'bases'),
        [FOLDER_MARK]: dataFolder,
        [SERVER_MARK]: serverMark(process.pid),
      },
      stdout: 'ignore',
      memoryBytes: MEMORY_BYTES,
      memoryIntervalMs: MEMORY_INTERVAL_MS,
      signals: [signal],
      aborted: () => brokenOff('it was given up'),
      tooMuchMemory: () => brokenOff('it needs too much memory'),
      walls,
      parse: parseBaseReport,
    });
    try {
      helper.send({ request, user: walls === null ? null : ownerOf(request.main, walls.states) });
      const answered = await helper.next(
        (report) => 'answer' in report,
        TIMEOUT_MS,
        () => brokenOff('it took too long'),
      );
      if (!('answer' in answered)) throw new WinterdockError('internal', 'A base process did not answer.');
      return answered.answer;
    } finally {
      helper.kill();
      await helper.exited;
    }
  } finally {
    walls?.close();
  }
}

/** Root's helpers open only what is root's, or become whose it is. Looks at the file, and opens nothing. */
function ownerOf(path: string, states: WallStates): FileUser | null {
  if (process.getuid?.() !== 0 || !states.uid) return null;
  const { uid, gid } = statSync(path);
  return uid === 0 ? null : { uid, gid };
}

function brokenOff(why: string): WinterdockError {
  return new WinterdockError('storage_unavailable', `A base of the registry was not cut: ${why}.`, {
    retryAfterSeconds: 5,
  });
}
