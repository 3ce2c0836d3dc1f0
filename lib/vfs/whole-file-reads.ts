/**
 * Files that a call reads before it changes them as a whole, a database for example: what others commit of one in
 * between must not be lost. Knows nothing of contents.
 */
import type { VfsPath } from './paths.ts';
import { conflict } from './tree-errors.ts';
import type { VfsAddress } from './types.ts';
import type { Volume } from './volumes.ts';

interface GuardedFiles {
  /** 0 for none. */
  committedVersion(address: VfsAddress): number;
  /** Whether the call has changes of its own that are not committed. */
  hasChanged(address: VfsAddress): boolean;
}

export class WholeFileReads {
  readonly #files: GuardedFiles;
  /** With the version that each had when the call read it. */
  readonly #guards = new Map<string, VfsAddress & { version: number }>();

  constructor(files: GuardedFiles) {
    this.#files = files;
  }

  add(path: VfsPath, volume: Volume): void {
    const address = { volume, path };
    if (this.#guards.has(keyOf(address)) && this.#files.hasChanged(address)) return;
    this.#guards.set(keyOf(address), { ...address, version: this.#files.committedVersion(address) });
  }

  /** Whether others have committed a guarded file since. */
  isOutdated(path: VfsPath, volume: Volume): boolean {
    const guard = this.#guards.get(keyOf({ volume, path }));
    return guard !== undefined && guard.version !== this.#files.committedVersion(guard);
  }

  /** Throws `conflict` when others have committed a guarded file that the call has changed. */
  require(): void {
    for (const guard of this.#guards.values()) {
      if (guard.version === this.#files.committedVersion(guard) || !this.#files.hasChanged(guard)) continue;
      throw conflict(
        guard,
        'was changed by another call meanwhile; nothing that the command wrote since the last commit is kept',
      );
    }
  }

  /** Those that the commit under way changes. Call the result once it is done: they are as the call knows them. */
  renewed(): () => void {
    const own = [...this.#guards.values()].filter((guard) => this.#files.hasChanged(guard));
    return () => {
      for (const guard of own) guard.version = this.#files.committedVersion(guard);
    };
  }

  clear(): void {
    this.#guards.clear();
  }
}

function keyOf({ volume, path }: VfsAddress): string {
  return `${volume}:${path}`;
}
