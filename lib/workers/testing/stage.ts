/** A pool on a temporary data folder, for tests: real processes, real files. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { HealthCheckTimes } from '../health-check.ts';
import { createPool } from '../pool.ts';
import type { InstancePool, InstanceProcess, OpenSpec } from '../protocol/instance.ts';
import { buildWalls, type Walls } from '../walls/walls.ts';

const MAX_START_MS = 120_000;
const MIB = 1024 * 1024;
/** What a script may take: a profile's own time is for a machine that has nothing else to do. */
const CALL_MS = 600_000;

export interface Stage {
  readonly folder: string;
  readonly pool: InstancePool;
  readonly walls: Walls;
  /** The live file of a sandbox. */
  file(id: string): string;
  /** Opens a sandbox; creates its file when missing. */
  open(id: string, spec?: Partial<OpenSpec>): InstanceProcess;
  /** Runs a script and returns its output. */
  say(process: InstanceProcess, command: string): Promise<string>;
  /** Runs scripts one after the other in a sandbox, and closes it. Returns what each printed and its exit code. */
  runAll(id: string, ...commands: string[]): Promise<{ stdout: string; stderr: string; exitCode: number }[]>;
}

/** One pool for the tests of a file. */
export function stage(
  options: { size?: number; maxActive?: number; healthCheckTimes?: Partial<HealthCheckTimes> } = {},
): Stage {
  let folder = '';
  let pool: InstancePool;
  let walls: Walls;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-instance-'));
    const cacheFolder = process.env.WB_CACHE ?? join(folder, 'cache');
    walls = await buildWalls({ dataFolder: folder, cacheFolder, maxStartMs: MAX_START_MS });
    pool = createPool({
      size: options.size ?? 1,
      maxActive: options.maxActive ?? 40,
      dataFolder: folder,
      cacheFolder,
      walls,
      ...(options.healthCheckTimes === undefined ? {} : { healthCheckTimes: options.healthCheckTimes }),
    });
    await pool.start();
  });
  afterAll(async () => {
    await pool.stop();
    walls.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const file = (id: string) => join(folder, 'live', id, 'vfs.sqlite');
  return {
    get folder() {
      return folder;
    },
    get pool() {
      return pool;
    },
    get walls() {
      return walls;
    },
    file,
    open(id, spec = {}) {
      mkdirSync(join(folder, 'live', id), { recursive: true });
      return pool.open({
        id,
        file: file(id),
        policy: 'posix',
        maxBytes: 256 * MIB,
        maxFileBytes: 64 * MIB,
        mustExist: false,
        ...spec,
      });
    },
    async say(process, command) {
      const { stdout, stderr } = await process.exec({ command, timeoutMs: CALL_MS });
      return stdout + stderr;
    },
    async runAll(id, ...commands) {
      const box = this.open(id);
      const said: { stdout: string; stderr: string; exitCode: number }[] = [];
      for (const command of commands) said.push(await box.exec({ command, timeoutMs: CALL_MS }));
      await box.close({ drainMs: 1000, force: false });
      return said;
    },
  };
}

/** Proportional set size of a process in MiB. */
export function pssMib(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;
}

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // Gone.
    return false;
  }
}
