/**
 * `winterdock/sandbox`: the sandbox object, over the client. Imports nothing at run time but the files beside it:
 * safe for the browser. The client does not import it: who does without it does not load it.
 */
import type { CallOptions } from './call.ts';
import { type ClientOptions, createClient, type WinterdockClient } from './client.ts';
import { ApiError } from './error.ts';
import type { Pages } from './pages.ts';
import { SandboxCommands } from './sandbox/commands.ts';
import { createOnce, tenantOf } from './sandbox/creation.ts';
import { SandboxFiles } from './sandbox/files.ts';
import { SandboxRuns } from './sandbox/runs.ts';
import type {
  CloneInput,
  CreateInput,
  Instance,
  ListQuery,
  Moment,
  NameMomentInput,
  RestoredMoment,
  RestoreInput,
  ResumeAnswer,
  ResumeInput,
  Snapshot,
  TakeSnapshotInput,
  VerbBodyInput,
} from './types.ts';

export type { ErrorCode } from '../base/errors.ts';
export type { CallOptions, Upload, Written } from './call.ts';
export type { ClientOptions, Instance, Page, Pages, ResumeAnswer, Snapshot, WinterdockClient } from './client.ts';
export { ApiError } from './error.ts';
export type { CommandOptions, CommandResult, SandboxCommands } from './sandbox/commands.ts';
export type { FileEntry, SandboxFiles } from './sandbox/files.ts';
export type { OnOutput, OutputCallbacks } from './sandbox/output.ts';
export type { BackgroundResult, BackgroundRun, RunOptions, SandboxRuns } from './sandbox/runs.ts';
export type { WatchedChange, WatchOptions } from './sandbox/watch.ts';

/** Where the server is and with which key: a client, or what makes one. Default: the environment, as of a client. */
export interface ConnectOptions extends ClientOptions, Pick<CallOptions, 'signal'> {
  client?: WinterdockClient;
}

/** What a new sandbox is to be. Its tenant may be left out when the key is of one. */
export interface CreateOptions extends ConnectOptions, Omit<CreateInput, 'tenant'> {
  tenant?: string;
}

/** Takes the connection out of what was given. */
function split<T extends ConnectOptions>({ client, url, key, headers, fetch, retries, signal, ...rest }: T) {
  const connection = client ?? createClient({ url, key, headers, fetch, retries });
  return { client: connection, call: { signal, retries } satisfies CallOptions, rest };
}

/** The only item of an answer of several. */
function onlyOf(made: Instance[]): Instance {
  const [instance] = made;
  if (instance === undefined) throw new ApiError('unexpected', 'The server made no sandbox.');
  return instance;
}

const found = (client: WinterdockClient, { id, policy }: Instance) => new Sandbox(client, id, policy);

/** One sandbox. `Sandbox.create` makes it, `Sandbox.connect` finds it. */
export class Sandbox {
  readonly id: string;
  /** The client that it uses, for everything else that the server does. */
  readonly client: WinterdockClient;
  readonly commands: SandboxCommands;
  readonly files: SandboxFiles;
  readonly runs: SandboxRuns;
  /** Its policy when it was made or found; null when nobody asked. */
  readonly policy: string | null;

  /** The sandbox of this id, without asking for it: `Sandbox.connect` does. */
  constructor(client: WinterdockClient, id: string, policy: string | null = null) {
    this.id = id;
    this.policy = policy;
    this.client = client;
    this.runs = new SandboxRuns(client, id);
    this.commands = new SandboxCommands(client, id, this.runs);
    this.files = new SandboxFiles(client, id);
  }

  /**
   * Makes a sandbox. It starts with its first command. With an `id` doing it again gives the same sandbox, and
   * `conflict` when that is of another tenant, policy or workbook; a lost answer never makes two.
   */
  static async create(options: CreateOptions = {}): Promise<Sandbox> {
    const { client, call, rest } = split(options);
    const tenant = rest.tenant ?? (await tenantOf(client, call));
    return found(client, await createOnce(client, { ...rest, tenant }, call));
  }

  /** A sandbox that is there already. Wakes nothing. Rejects with `not_found`, or `gone` when it was deleted. */
  static async connect(id: string, options: ConnectOptions = {}): Promise<Sandbox> {
    const { client, call } = split(options);
    return found(client, await client.getInstance(id, call));
  }

  /** A new sandbox with what a snapshot holds. */
  static async fromSnapshot(
    snapshot: string,
    options: ConnectOptions & Omit<RestoreInput, 'count'> = {},
  ): Promise<Sandbox> {
    const { client, call, rest } = split(options);
    return found(client, onlyOf(await client.restoreSnapshot(snapshot, rest, call)));
  }

  /** A new sandbox with what a blueprint holds. */
  static async fromBlueprint(
    blueprint: string,
    options: ConnectOptions & Partial<Omit<CloneInput, 'count'>> = {},
  ): Promise<Sandbox> {
    const { client, call, rest } = split(options);
    const tenant = rest.tenant ?? (await tenantOf(client, call));
    return found(client, onlyOf(await client.cloneBlueprint(blueprint, { ...rest, tenant }, call)));
  }

  /** The sandboxes that the key sees: a page when awaited, all when iterated. Wakes nothing. */
  static list(options: ConnectOptions & ListQuery = {}): Pages<Instance> {
    const { client, call, rest } = split(options);
    return client.listInstances(rest, call);
  }

  /** How it stands: its state, what comes next and when. Wakes nothing. */
  info(options?: CallOptions): Promise<Instance> {
    return this.client.getInstance(this.id, options);
  }

  /** Ends its process and keeps its files. The next command or write wakes it. */
  suspend({ reason, force, ...options }: VerbBodyInput & CallOptions = {}): Promise<Instance> {
    return this.client.suspendInstance(this.id, { reason, force }, options);
  }

  /** Wakes it, from wherever it is filed. Commands and writes do that by themselves, but for an archived one. */
  resume({ reason, force, policy, ...options }: ResumeInput & CallOptions = {}): Promise<ResumeAnswer> {
    return this.client.resumeInstance(this.id, { reason, force, policy }, options);
  }

  /** Keeps what it holds now, its `/tmp` aside, as an object of its own, for `Sandbox.fromSnapshot`. */
  snapshot({ tag, ...options }: TakeSnapshotInput & CallOptions = {}): Promise<Snapshot> {
    return this.client.takeSnapshot(this.id, { tag }, options);
  }

  /**
   * Keeps what it has now, or had at `time` (seconds since the epoch), under a name: a checkpoint before a risky step.
   * It stays until it is removed or the sandbox is deleted. Needs a server with a replica.
   */
  checkpoint(name: string, { time, reason, ...options }: NameMomentInput & CallOptions = {}): Promise<Moment> {
    return this.client.nameMoment(this.id, name, { time, reason }, options);
  }

  /**
   * Puts all of it back to a checkpoint, or to what it was at a time in seconds since the epoch. Its process ends
   * first; calls that still run make it reject. What it had is kept: see `undo`.
   */
  async restore(
    to: string | number,
    { reason, ...options }: { reason?: string } & CallOptions = {},
  ): Promise<RestoredMoment> {
    await this.#putToSleep(options);
    const which = typeof to === 'number' ? { time: to } : { moment: to };
    // With a moment it answers which one that was.
    return (await this.client.restoreInstance(this.id, { ...which, reason }, options)) as RestoredMoment;
  }

  /** Brings back what the last `restore` replaced; once more, what the one before replaced. */
  async undo({ reason, ...options }: { reason?: string } & CallOptions = {}): Promise<RestoredMoment> {
    await this.#putToSleep(options);
    return this.client.undoRestore(this.id, { reason }, options);
  }

  async #putToSleep(options: CallOptions): Promise<void> {
    const { state } = await this.client.getInstance(this.id, options);
    if (state === 'active') await this.client.suspendInstance(this.id, {}, options);
  }

  /** Deletes it with its files, from any state, hop by hop. Its id is never used again. Once deleted it stays so. */
  async delete({ reason, ...options }: { reason?: string } & CallOptions = {}): Promise<void> {
    try {
      await this.client.walkPlan(this.id, { to: 'deleted', reason }, options);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'gone') throw error;
    }
  }
}
