/**
 * A jail: real programs of one sandbox behind a user, namespaces, a filter of system calls and limits of their own. It
 * begins, runs commands, is frozen and thawed, and ends with everything in it, however its server ends. Knows nothing
 * of sandboxes, and nothing of what its folders are.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { messageOf, WinterdockError } from '../../base/errors.ts';
import { withoutSignalsUnlessStarted } from '../../base/unstarted.ts';
import { type JailCommand, type JailCommandResult, JailCommands } from './commands.ts';
import { type JailSpec, jailStart } from './jail-command.ts';
import type { JailGroup, JailGroups, JailLimits } from './jail-groups.ts';

const STDERR_TAIL = 2000;
/** Until its first process takes commands. */
const MAX_START_MS = 120_000;

/** Why a jail is no more: it was closed, or it ended in another way, with what is known of that. */
interface JailEnd {
  cause: 'closed' | 'exited';
  detail: string;
}

export class Jail {
  readonly id: string;
  /** Resolves when nothing of it is left. Rejects when its processes do not end. */
  readonly ended: Promise<JailEnd>;
  readonly #child: ChildProcess;
  readonly #group: JailGroup;
  readonly #commands: JailCommands;
  readonly #tail: () => string;
  #isClosed = false;
  #problem: Error | null = null;

  private constructor(id: string, child: ChildProcess, group: JailGroup) {
    this.id = id;
    this.#child = child;
    this.#group = group;
    // Without descriptors left there are no pipes at all.
    const input = (child.stdin as Writable | null | undefined) ?? new PassThrough().destroy();
    const output = (child.stdout as Readable | null | undefined) ?? new PassThrough().destroy();
    const channel = { input, output };
    this.#commands = new JailCommands(channel, (pid) => group.endSome((pids) => begunBy(pid, pids)));
    this.#tail = tailOf(child.stderr);
    this.ended = this.#watch();
    this.ended.catch(() => {});
  }

  /**
   * Builds a jail and resolves when it takes commands. Throws `capacity` with the reason when it does not come to that;
   * nothing is left of it then.
   */
  static async open(spec: JailSpec, groups: JailGroups, limits: JailLimits): Promise<Jail> {
    const group = groups.make(spec.id, limits);
    let child: ChildProcess;
    try {
      child = begin(spec, group);
    } catch (error) {
      await group.end();
      throw error;
    }
    const jail = new Jail(spec.id, child, group);
    const timer = setTimeout(() => jail.#commands.close(new Error('it was not ready in time')), MAX_START_MS);
    try {
      await jail.#commands.ready;
      return jail;
    } catch (error) {
      const { detail } = await jail.ended;
      throw new WinterdockError('capacity', `A jail was not built: ${detail || messageOf(error)}.`, {
        retryAfterSeconds: 5,
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs a command: see `JailCommands.run`. */
  run(command: JailCommand): Promise<JailCommandResult> {
    return this.#commands.run(command);
  }

  /** Sends a signal to the process groups of all commands that run. */
  signalAll(name: NodeJS.Signals): void {
    this.#commands.signalAll(name);
  }

  /** Commands that have not ended; what they left in the background is not counted. */
  get running(): number {
    return this.#commands.running;
  }

  /** Whether it takes commands. */
  get isOpen(): boolean {
    return this.#commands.isOpen;
  }

  /** All its processes, by their ids here: its first one, the one that waits for that outside, and the guest's. */
  get processes(): number[] {
    return this.#group.processes();
  }

  /** How many of its processes the kernel has ended for want of memory. */
  get outOfMemory(): number {
    return this.#group.outOfMemory();
  }

  /** Stops all that runs in it; resolves when nothing does. Commands wait until `thaw`. */
  freeze(): Promise<void> {
    return this.#group.freeze();
  }

  thaw(): Promise<void> {
    return this.#group.thaw();
  }

  /** Ends everything in it; resolves when nothing of it is left. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#commands.close(new Error('it was closed'));
    await this.ended;
  }

  async #watch(): Promise<JailEnd> {
    const exited = once(this.#child, 'exit').catch((error: unknown) => {
      this.#problem = error as Error;
    });
    const broken = this.#commands.broken.then((problem) => {
      this.#problem ??= problem;
    });
    await Promise.race([exited, broken]);
    await this.#group.end();
    await exited;
    this.#commands.close(new Error('it has ended'));
    if (this.#isClosed) return { cause: 'closed', detail: '' };
    const detail = this.#tail() || messageOf(this.#problem ?? new Error('it has ended'));
    return { cause: 'exited', detail };
  }
}

/** Starts the command of a jail. Its input and output are its channel. */
function begin(spec: JailSpec, group: JailGroup): ChildProcess {
  const { file, args, inputs } = jailStart(spec, group.entries);
  const stdio = ['pipe', 'pipe', 'pipe', ...inputs.map(() => 'pipe' as const)] as const;
  const child = withoutSignalsUnlessStarted(
    spawn(file, args, { stdio: [...stdio], env: { NODE_ENV: 'production' }, cwd: '/' }),
  );
  for (const [at, bytes] of inputs.entries()) {
    const input = child.stdio[3 + at] as Writable | null | undefined;
    // One that ends before it has read everything says why in another way.
    input?.on('error', () => {});
    input?.end(bytes);
  }
  return child;
}

function tailOf(stream: Readable | null | undefined): () => string {
  let tail = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-STDERR_TAIL);
  });
  return () => tail.trim();
}

/**
 * Of these processes those of a command: of its session, or begun by one that is. `first`: the id of its first process
 * in its jail, as the jail says it; a wrong one leads to other processes of the jail at most.
 */
function begunBy(first: number, pids: readonly number[]): number[] {
  const all = pids.map((pid) => ({ pid, ...placeOf(pid) }));
  const chosen = new Set(all.filter((one) => one.session === first).map(({ pid }) => pid));
  for (let before = -1; before !== chosen.size; ) {
    before = chosen.size;
    for (const { pid, parent } of all) if (chosen.has(parent)) chosen.add(pid);
  }
  return [...chosen];
}

/** The session of a process, as its own namespace counts, and its parent, as this one counts. */
function placeOf(pid: number): { session: number; parent: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const session = /^NSsid:\s+(?:.*\s)?(\d+)$/m.exec(status)?.[1];
    return { session: Number(session ?? 0), parent: Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1] ?? 0) };
  } catch {
    // It has ended.
    return { session: 0, parent: 0 };
  }
}
