/**
 * Segments that the store has and that lie on this disk as well until they are merged, within a bound: what has no room
 * is read from the store. Nothing of it has to survive.
 */
import { join } from 'node:path';
import {
  copyFileNow,
  makeFolderNow,
  removeTree,
  renameFileNow,
  unlinkFile,
  unlinkFileNow,
} from '../../base/effects.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { isCode } from '../../storage/files.ts';
import type { StoredSegment } from '../names/level-groups.ts';
import { type SegmentPlace, segmentFile, seriesName } from '../names/replica-names.ts';

/** A segment that is to be merged. */
export interface KeptSource extends StoredSegment {
  /** Absolute, on this disk; null: only in the store. */
  path: string | null;
}

export class KeptSegments {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #mostBytes: number;
  #bytes = 0;

  /** `folder`: absolute. */
  constructor({ folder, log, keptBytes }: { folder: string; log: Logger; keptBytes: number }) {
    this.#folder = folder;
    this.#log = log;
    this.#mostBytes = keptBytes;
  }

  /** Absolute, of what belongs to a series. */
  folderOf({ id, series }: Pick<SegmentPlace, 'id' | 'series'>): string {
    return join(this.#folder, id, seriesName(series));
  }

  /** Keeps a file (absolute) for a source, where there is room; without it the store has the bytes. Never throws. */
  keep(source: KeptSource, path: string): void {
    if (this.#bytes + source.bytes > this.#mostBytes) return;
    const folder = this.folderOf(source);
    const kept = join(folder, `${source.level}-${segmentFile(source.min, source.max)}`);
    try {
      makeFolderNow(folder);
      moveOrCopyNow(path, kept);
      source.path = kept;
      this.#bytes += source.bytes;
    } catch (error) {
      this.#warn(source.id, error);
    }
  }

  /** Never rejects. */
  async letGo(sources: Iterable<KeptSource>): Promise<void> {
    for (const source of sources) {
      if (source.path === null) continue;
      this.#bytes -= source.bytes;
      const { path } = source;
      source.path = null;
      await unlinkFile(path).catch((error: unknown) => this.#warn(source.id, error));
    }
  }

  /** Removes what is left of a sandbox. Never rejects. */
  async remove(id: string): Promise<void> {
    await removeTree(join(this.#folder, id)).catch((error: unknown) => this.#warn(id, error));
  }

  /** Removes what an earlier process left. */
  async clear(): Promise<void> {
    await removeTree(this.#folder);
  }

  #warn(id: string, error: unknown): void {
    this.#log.warn({ id, error: messageOf(error) }, 'what is to be merged was not kept, or not removed');
  }
}

/** Where the spool is a filesystem of its own the file stays there too, and whoever gave it removes it. */
function moveOrCopyNow(path: string, to: string): void {
  try {
    renameFileNow(path, to);
  } catch (error) {
    if (!isCode(error, 'EXDEV')) throw error;
    try {
      copyFileNow(path, to);
    } catch (refused) {
      unlinkFileNow(to);
      throw refused;
    }
  }
}
