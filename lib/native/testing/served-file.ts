/**
 * A file that a process of its own serves at a mount, for tests. Whatever a test leaves is ended and unmounted by
 * `endServedFiles`, without an answer of the server: who waits for one that has stopped could not be ended any more.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

const SERVE = join(import.meta.dirname, 'serve.ts');
const BROKEN = join(import.meta.dirname, 'broken.ts');
/** More than any test writes. */
const MAX_BYTES = 1024 * 1024 * 1024;

const all = new Set<ServedFile>();

/** Ends everything that tests of this process have started. */
export async function endServedFiles(): Promise<void> {
  for (const served of all) await served.end();
}

export class ServedFile {
  /** Holds the file, the mount, and whatever a test puts there. */
  readonly folder = mkdtempSync(join(tmpdir(), 'winterdock-served-'));
  readonly file = join(this.folder, 'vfs.sqlite');
  readonly mount = join(this.folder, 'mount');
  readonly workspace = join(this.mount, 'workspace');
  readonly #variant: string | undefined;
  readonly #maxBytes: number;
  #child: ChildProcess | null = null;
  #lines: Interface | null = null;

  constructor({ variant, maxBytes = MAX_BYTES }: { variant?: string; maxBytes?: number } = {}) {
    this.#variant = variant;
    this.#maxBytes = maxBytes;
    mkdirSync(this.mount);
    all.add(this);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts a server; resolves when it serves. */
  async start(): Promise<void> {
    const args = ['--no-warnings', '--import', BROKEN, SERVE, this.file, this.mount, String(this.#maxBytes)];
    const env = { ...process.env, ...(this.#variant === undefined ? {} : { WB_TEST_BROKEN: this.#variant }) };
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout });
    const line = await this.#nextLine();
    if (line !== 'serving') throw new Error(`The server says: ${line}`);
  }

  commit(): Promise<void> {
    return this.#ask('commit');
  }

  /** Puts the file to rest and opens it again, in the same process. */
  remount(): Promise<void> {
    return this.#ask('remount');
  }

  /** Puts the file to rest and ends the server. */
  async close(): Promise<void> {
    await this.#ask('close');
    this.#child?.stdin?.end();
    await this.#gone();
  }

  /** Kills the server, and takes away the mount that it leaves. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#gone();
    spawnSync('umount', ['-l', '-f', '-i', '-n', this.mount]);
  }

  /** Ends everything; removes everything. */
  async end(): Promise<void> {
    // Before the server ends, so that nobody waits for it.
    spawnSync('umount', ['-l', '-f', '-i', '-n', this.mount], { stdio: 'ignore' });
    this.#child?.kill('SIGKILL');
    await this.#gone();
    rmSync(this.folder, { recursive: true, force: true });
    all.delete(this);
  }

  async #ask(command: string): Promise<void> {
    const answered = this.#nextLine();
    this.#child?.stdin?.write(`${command}\n`);
    const line = await answered;
    if (line !== 'done') throw new Error(`${command}: ${line}`);
  }

  async #nextLine(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return 'it has ended';
    this.#lines?.once('line', resolve);
    child.once('exit', (code, signal) => resolve(`it ended with ${code ?? signal}`));
    return promise;
  }

  async #gone(): Promise<void> {
    const child = this.#child;
    if (child !== null && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    this.#child = null;
  }
}
