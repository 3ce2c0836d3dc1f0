/**
 * `winterdock/computesdk`: a provider for ComputeSDK, `compute({ provider: winterdock() })`. Imports nothing at run
 * time but the files beside it.
 */
import { createClient } from '../client.ts';
import { ApiError } from '../error.ts';
import { type CreateOptions, Sandbox } from '../sandbox.ts';
import type { Instance, Snapshot } from '../types.ts';
import { remarkOn, wholeCwd, withRemark } from './commands.ts';
import type {
  ComputeCommandOptions,
  ComputeCommandResult,
  ComputeCreateOptions,
  ComputeFileEntry,
  ComputeFileSystem,
  ComputeSandboxInfo,
  ComputeSnapshot,
} from './computesdk-types.ts';
import { destroySandbox } from './ending.ts';
import { entryAt } from './entry.ts';
import { followLinks, isRefusal, writeOverLinks } from './links.ts';

export type {
  ComputeCommandOptions,
  ComputeCommandResult,
  ComputeCreateOptions,
  ComputeFileEntry,
  ComputeFileSystem,
  ComputeSandboxInfo,
  ComputeSnapshot,
} from './computesdk-types.ts';

const PROVIDER = 'winterdock';
/** A page of a list, as large as the server gives it. */
const PAGE = 500;

/** A sandbox as ComputeSDK has it, with our own sandbox object inside: `box.suspend()`, `box.runs` and the rest. */
export interface ComputeSandbox {
  readonly sandboxId: string;
  readonly provider: string;
  readonly filesystem: ComputeFileSystem;
  readonly box: Sandbox;
  runCommand(command: string, options?: ComputeCommandOptions): Promise<ComputeCommandResult>;
  getInfo(): Promise<ComputeSandboxInfo>;
  getUrl(options: { port: number; protocol?: string }): Promise<string>;
  destroy(): Promise<void>;
}

export interface ComputeProvider {
  readonly name: string;
  readonly sandbox: {
    create(options?: ComputeCreateOptions): Promise<ComputeSandbox>;
    getById(sandboxId: string): Promise<ComputeSandbox | null>;
    list(): Promise<ComputeSandbox[]>;
    destroy(sandboxId: string): Promise<void>;
  };
  readonly snapshot: {
    create(
      sandboxId: string,
      options?: { name?: string; metadata?: Record<string, unknown> },
    ): Promise<ComputeSnapshot>;
    list(): Promise<ComputeSnapshot[]>;
    delete(snapshotId: string): Promise<void>;
  };
}

type Defaults = Pick<ComputeCreateOptions, 'timeout' | 'directory'>;

const milliseconds = (seconds: number): Date => new Date(seconds * 1000);

function notFound(path: string): ApiError {
  return new ApiError('not_found', `"${path}" is not there.`);
}

function filesystemOf(box: Sandbox): ComputeFileSystem {
  const find = async <T>(path: string, look: (path: string) => Promise<T>): Promise<T> => {
    const found = await followLinks(box, path, {}, look);
    if (found === null) throw notFound(path);
    return found;
  };
  return {
    readFile: (path) => find(path, (real) => box.files.read(real)),
    async writeFile(path, content) {
      await writeOverLinks(box, path, content, {});
    },
    async readdir(path) {
      const entries = await find(path, (real) => box.files.list(real));
      const entryOf = ({ name, kind, size, mtime }: (typeof entries)[number]): ComputeFileEntry => {
        return { name, type: kind === 'dir' ? 'directory' : 'file', size, modified: milliseconds(mtime) };
      };
      return entries.map(entryOf);
    },
    async mkdir(path) {
      try {
        await box.files.makeDir(path);
      } catch (error) {
        // A folder that is there already is as good. What is no folder cannot be listed.
        if (!isRefusal(error, 'conflict')) throw error;
        await find(path, (real) => box.files.list(real)).catch(() => {
          throw error;
        });
      }
    },
    exists: async (path) => (await entryAt(box, path, {})) !== null,
    async remove(path) {
      try {
        await box.files.remove(path, { recursive: true });
      } catch (error) {
        // It is not there, or its sandbox is not, which asking tells.
        if (!isRefusal(error, 'not_found') || (await box.files.exists(path))) throw error;
      }
    },
  };
}

function statusOf({ state, fault }: Instance): ComputeSandboxInfo['status'] {
  if (fault !== null) return 'error';
  return state === 'active' ? 'running' : 'stopped';
}

function sandboxOf(box: Sandbox, { timeout = 0, directory }: Defaults = {}): ComputeSandbox {
  return {
    sandboxId: box.id,
    provider: PROVIDER,
    filesystem: filesystemOf(box),
    box,
    async runCommand(command, { cwd = directory, env, timeout: limit = timeout, background, onStdout, onStderr } = {}) {
      const run = { cwd: wholeCwd(cwd), env, timeoutMs: limit > 0 ? limit : undefined };
      if (background === true) {
        await box.runs.start(command, run);
        return { stdout: '', stderr: '', exitCode: 0, durationMs: 0 };
      }
      const result = await box.commands.run(command, { ...run, onStdout, onStderr });
      const { exitCode, stdout, stderr, tookMs } = result;
      return { exitCode, stdout, stderr: withRemark(stderr, remarkOn(result)), durationMs: tookMs };
    },
    async getInfo() {
      const info = await box.info();
      const { id, tenant, name, state, labels, created } = info;
      const metadata = { ...labels, tenant, name, state };
      return { id, provider: PROVIDER, status: statusOf(info), createdAt: milliseconds(created), timeout, metadata };
    },
    async getUrl({ port }) {
      throw new ApiError('validation', `Port ${port} of a sandbox cannot be reached from outside.`);
    },
    destroy: () => destroySandbox(box, 'destroyed through ComputeSDK'),
  };
}

/** Labels of what ComputeSDK calls metadata. Throws `validation` for what is no text, number or truth value. */
function labelsOf(metadata: Record<string, unknown> | undefined): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata ?? {})) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      throw new ApiError('validation', `"${key}" in the metadata is no text, number or truth value.`, {
        hint: 'It becomes a label of the sandbox.',
      });
    }
    labels[key] = String(value);
  }
  return labels;
}

function snapshotOf({ id, tag, source, tenant, bytes, created }: Snapshot): ComputeSnapshot {
  return { id, provider: PROVIDER, createdAt: milliseconds(created), metadata: { name: tag, source, tenant, bytes } };
}

/** A new sandbox that could not be finished is deleted: nobody has its id. */
async function orDeleted(box: Sandbox, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await box.delete({ reason: 'what it was to have was refused' }).catch(() => undefined);
    throw error;
  }
}

/**
 * The provider. `options`: as of `Sandbox.create`, for every sandbox that is made through it; those from a template or
 * a snapshot take the tenant of them. A `timeout` is that of commands: a sandbox is never ended by a clock, it rests.
 */
export function winterdock(options: Omit<CreateOptions, 'id' | 'signal'> = {}): ComputeProvider {
  const { client, url, key, headers, fetch, retries, ...wanted } = options;
  const dock = client ?? createClient({ url, key, headers, fetch, retries });
  const connect = (id: string) => Sandbox.connect(id, { client: dock });

  async function make({ snapshotId, templateId, signal, image, name, metadata }: ComputeCreateOptions) {
    if (image !== undefined || (snapshotId !== undefined && templateId !== undefined)) {
      const what = image === undefined ? 'both a snapshot and a template' : 'an image';
      throw new ApiError('validation', `A sandbox is not made of ${what}.`, {
        hint: 'templateId names a blueprint, snapshotId a snapshot.',
      });
    }
    const labels = { ...wanted.labels, ...labelsOf(metadata) };
    const copy = { client: dock, signal, tenant: wanted.tenant, name: name ?? wanted.name };
    if (snapshotId === undefined && templateId === undefined) return Sandbox.create({ ...wanted, ...copy, labels });
    const box =
      snapshotId === undefined
        ? await Sandbox.fromBlueprint(templateId ?? '', copy)
        : await Sandbox.fromSnapshot(snapshotId, { ...copy, policy: wanted.policy });
    await orDeleted(box, async () => {
      if (Object.keys(labels).length > 0) await dock.patchInstance(box.id, { labels }, { signal });
    });
    return box;
  }

  return {
    name: PROVIDER,
    sandbox: {
      async create(create = {}) {
        const box = await make(create);
        const { envs, timeout, directory, signal } = create;
        if (envs !== undefined) await orDeleted(box, () => dock.patchInstanceEnv(box.id, { env: envs }, { signal }));
        return sandboxOf(box, { timeout, directory });
      },
      async getById(id) {
        try {
          return sandboxOf(await connect(id));
        } catch (error) {
          if (isRefusal(error, 'not_found', 'gone')) return null;
          throw error;
        }
      },
      async list() {
        const found: ComputeSandbox[] = [];
        for await (const { id } of dock.listInstances({ limit: PAGE })) found.push(sandboxOf(new Sandbox(dock, id)));
        return found;
      },
      destroy: async (id) => sandboxOf(await connect(id)).destroy(),
    },
    snapshot: {
      create: async (id, { name } = {}) => snapshotOf(await dock.takeSnapshot(id, { tag: name })),
      async list() {
        const found: ComputeSnapshot[] = [];
        for await (const snapshot of dock.listSnapshots({ limit: PAGE })) found.push(snapshotOf(snapshot));
        return found;
      },
      delete: (id) => dock.deleteSnapshot(id),
    },
  };
}
