/**
 * The second name of a log, under which it stays whole when SQLite removes it. Knows nothing of what is in it.
 */
import { join } from 'node:path';
import { linkFileNow, makeFolderNow, unlinkFileNow } from '../../base/effects.ts';
import { messageOf } from '../../base/errors.ts';
import { lookAtNow } from '../../base/strangers-file.ts';
import { isCode } from '../../storage/files.ts';
import type { ShippedFileParts } from '../shipped-file-parts.ts';

export class KeptLog {
  readonly #parts: Pick<ShippedFileParts, 'id' | 'file' | 'spool' | 'log'>;
  #path: string | null = null;
  #links = 0;

  constructor(parts: Pick<ShippedFileParts, 'id' | 'file' | 'spool' | 'log'>) {
    this.#parts = parts;
  }

  /** Absolute, in the spool; null: the log has one name. */
  get path(): string | null {
    return this.#path;
  }

  /** Gives the log its second name, if there is one and the disk can: not with a spool on another one. Never throws. */
  keep(): void {
    const log = `${this.#parts.file}-wal`;
    if (this.#path !== null || lookAtNow(log)?.isFile() !== true) return;
    try {
      this.#path = this.#linked(log);
    } catch (error) {
      if (isCode(error, 'EXDEV')) return;
      this.#parts.log.warn({ id: this.#parts.id, error: messageOf(error) }, 'a log stays beside its file');
    }
  }

  /** Its second name (absolute). Throws what the disk throws. */
  #linked(log: string): string {
    const { spool } = this.#parts;
    this.#links += 1;
    const kept = join(spool, `log-${process.pid}-${Date.now().toString(36)}-${this.#links}`);
    const link = () => {
      makeFolderNow(spool);
      linkFileNow(log, kept);
    };
    try {
      link();
    } catch (error) {
      // A folder that is empty may be removed in between.
      if (!isCode(error, 'ENOENT')) throw error;
      link();
    }
    return kept;
  }

  /** Removes it, or leaves that to the next start. Never throws. */
  letGo(): void {
    const path = this.#path;
    this.#path = null;
    if (path === null) return;
    try {
      unlinkFileNow(path);
    } catch (error) {
      this.#parts.log.warn({ id: this.#parts.id, error: messageOf(error) }, 'a log stays in the spool');
    }
  }
}
