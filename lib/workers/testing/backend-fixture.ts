/** What the cases of an isolation backend share: a pool, and how a sandbox is opened, called and read at rest. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAtRest } from '../../vfs/open.ts';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import type { ExecRequest, InstancePool, InstanceProcess, OpenSpec } from '../protocol/instance.ts';

export const MIB = 1024 * 1024;

export interface BackendOptions {
  /** Absolute path; used by this pool alone. */
  dataFolder: string;
  maxActive: number;
  memoryBytes?: number;
  /** Milliseconds between two checks of an idle process. */
  checkEveryMs?: number;
}

export interface BackendKind {
  /** The policy of its sandboxes. */
  policy: string;
  /** Whether it runs an interpreter for `eval`. */
  evaluates: boolean;
  /** Whether a sandbox may be in memory alone. */
  hasMemorySandboxes: boolean;
}

export interface BackendFixture {
  readonly kind: BackendKind;
  /** The pool that the cases share, once the fixture has started. */
  readonly pool: InstancePool;
  fileOf(id: string): string;
  specOf(id: string, spec?: Partial<OpenSpec>): OpenSpec;
  open(id: string, spec?: Partial<OpenSpec>): InstanceProcess;
  exec(command: string, timeoutMs?: number): ExecRequest;
  /** What a command prints. */
  say(process: InstanceProcess, command: string): Promise<string>;
  /** The text of a file in the workspace of a sandbox at rest. */
  atRest(id: string, path: string): string;
  /** Runs `work` with a pool of its own. */
  withPool(options: Omit<BackendOptions, 'dataFolder'>, work: (pool: InstancePool) => Promise<void>): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A fixture over the pools that `make` returns. */
export function backendFixture(
  make: (options: BackendOptions) => InstancePool,
  given: Partial<BackendKind> = {},
): BackendFixture {
  const kind = { policy: 'minimal', evaluates: true, hasMemorySandboxes: true, ...given };
  let folder = '';
  let pool: InstancePool | undefined;
  const started = (): InstancePool => {
    if (pool === undefined) throw new Error('The pool has not started.');
    return pool;
  };
  const newFolder = () => mkdtempSync(join(tmpdir(), 'winterdock-backend-'));
  const fileOf = (id: string) => join(folder, 'live', id, 'vfs.sqlite');
  const specOf = (id: string, spec: Partial<OpenSpec> = {}): OpenSpec => ({
    id,
    file: fileOf(id),
    policy: kind.policy,
    maxBytes: 256 * MIB,
    maxFileBytes: 64 * MIB,
    mustExist: false,
    ...spec,
  });
  return {
    kind,
    get pool() {
      return started();
    },
    fileOf,
    specOf,
    open(id, spec = {}) {
      mkdirSync(join(folder, 'live', id), { recursive: true });
      return started().open(specOf(id, spec));
    },
    exec: (command, timeoutMs = 30_000) => ({ command, timeoutMs }),
    say: async (process, command) => (await process.exec({ command })).stdout,
    atRest(id, path) {
      const resting = openAtRest(fileOf(id));
      try {
        return Buffer.from(resting.get(vfsPath(path)) ?? []).toString();
      } finally {
        resting.close();
      }
    },
    async withPool(options, work) {
      const dataFolder = newFolder();
      const made = make({ dataFolder, ...options });
      try {
        await work(made);
      } finally {
        await made.stop();
        rmSync(dataFolder, { recursive: true, force: true });
      }
    },
    async start() {
      folder = newFolder();
      pool = make({ dataFolder: folder, maxActive: 40, checkEveryMs: 100 });
      await pool.start();
    },
    async stop() {
      await pool?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
