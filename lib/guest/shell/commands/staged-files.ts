/**
 * Files of packages that are written beside where they go, and put in their places once all of them are: what fails
 * before leaves what was there. Knows nothing of packages.
 */
import type { CommandCall } from './own-command.ts';

export class StagedFiles {
  readonly #call: CommandCall;
  readonly #folder: string;
  /** Where each goes, by its number in the folder. */
  readonly #targets: readonly string[];

  private constructor(call: CommandCall, folder: string, targets: readonly string[]) {
    this.#call = call;
    this.#folder = folder;
    this.#targets = targets;
  }

  /**
   * Writes them into a folder of their own, by their absolute targets. When one cannot be written, the folder goes, and
   * what was wrong is thrown.
   */
  static async write(call: CommandCall, folder: string, files: ReadonlyMap<string, Buffer>): Promise<StagedFiles> {
    const staged = new StagedFiles(call, folder, [...files.keys()]);
    await staged.drop();
    try {
      await call.changes.mkdir(folder, { recursive: true });
      for (const [at, bytes] of [...files.values()].entries()) {
        await call.turn();
        await call.changes.writeFile(`${folder}/${at}`, bytes);
      }
      return staged;
    } catch (error) {
      await staged.drop();
      throw error;
    }
  }

  /** A target that a folder is at, or that would have to lie in a file; null when all places are free. */
  blocked(): string | null {
    const { files } = this.#call;
    const parents = new Set<string>();
    for (const target of this.#targets) {
      if (files.look(target)?.kind === 'dir') return target;
      for (let at = parentOf(target); at !== '' && !parents.has(at); at = parentOf(at)) parents.add(at);
    }
    return [...parents].find((path) => (files.look(path)?.kind ?? 'dir') !== 'dir') ?? null;
  }

  /** Puts them in their places, without a pause in which the call could end. */
  async place(): Promise<void> {
    for (const [at, target] of this.#targets.entries()) {
      await this.#call.changes.mkdir(parentOf(target), { recursive: true });
      await this.#call.changes.mv(`${this.#folder}/${at}`, target);
    }
    await this.drop();
  }

  async drop(): Promise<void> {
    await this.#call.changes.rm(this.#folder, { recursive: true, force: true });
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
