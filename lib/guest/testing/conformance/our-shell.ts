/**
 * Runs an invocation in our shell: a real worker on a VFS file that holds the tree. A worker serves the next invocation
 * too while its file is unchanged.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openBeside } from '../../../vfs/open.ts';
import type { Vfs } from '../../../vfs/vfs.ts';
import { createPool } from '../../../workers/pool.ts';
import { bytesOfText } from '../../../workers/protocol/byte-text.ts';
import type { InstancePool, InstanceProcess } from '../../../workers/protocol/instance.ts';
import type { ShellAnswer } from './answer.ts';
import { writeVfsFile } from './file-tree.ts';

const MIB = 1024 * 1024;
const TIMEOUT_MS = 120_000;

interface Served {
  process: InstanceProcess;
  reader: Vfs;
  version: unknown;
}

export class OurShell {
  readonly #folder = mkdtempSync(join(tmpdir(), 'winterdock-shell-'));
  readonly #template = join(this.#folder, 'template.sqlite');
  readonly #pool: InstancePool;
  #served: Served | null = null;
  readonly #isFollowed: boolean;
  #count = 0;

  /** `isFollowed`: somebody takes the output as it comes, so that Python prints line by line. */
  constructor(cacheFolder: string | undefined, { isFollowed = false }: { isFollowed?: boolean } = {}) {
    this.#isFollowed = isFollowed;
    this.#pool = createPool({ size: 1, maxActive: 4, dataFolder: this.#folder, cacheFolder });
  }

  async start(): Promise<void> {
    writeVfsFile(this.#template);
    await this.#pool.start();
  }

  async run(command: string): Promise<ShellAnswer> {
    this.#served ??= await this.#open();
    const { process, reader, version } = this.#served;
    try {
      const outcome = await process.exec(
        { command, timeoutMs: TIMEOUT_MS },
        this.#isFollowed ? { onOutput: () => {} } : {},
      );
      if (outcome.timedOut || versionOf(reader) !== version) await this.#end();
      return { stdout: latin1(outcome.stdout), stderr: latin1(outcome.stderr), exitCode: outcome.exitCode };
    } catch (error) {
      await this.#end();
      return { stdout: '', stderr: `the worker ended: ${String(error)}\n`, exitCode: -1 };
    }
  }

  async close(): Promise<void> {
    await this.#end();
    await this.#pool.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #open(): Promise<Served> {
    this.#count += 1;
    const id = `shell-${this.#count}`;
    const file = join(this.#folder, 'live', id, 'vfs.sqlite');
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(this.#template, file);
    const limits = { maxBytes: 256 * MIB, maxFileBytes: 64 * MIB };
    const process = this.#pool.open({ id, file, policy: 'posix', mustExist: true, ...limits });
    await process.opened;
    // The worker prepares its file soon after it opened it.
    await process.exec({ command: 'sleep 0.05' });
    const reader = openBeside(file);
    return { process, reader, version: versionOf(reader) };
  }

  async #end(): Promise<void> {
    const served = this.#served;
    this.#served = null;
    if (served === null) return;
    served.reader.close();
    await served.process.close({ drainMs: 1000, force: true }).catch(() => served.process.kill('killed'));
  }
}

/** Changes when another process has written to the file. */
function versionOf(reader: Vfs): unknown {
  return Object.values(reader.db.prepare('PRAGMA data_version').get() ?? {})[0];
}

function latin1(text: string): string {
  return Buffer.from(bytesOfText(text)).toString('latin1');
}
