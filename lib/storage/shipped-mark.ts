/**
 * `vfs.sqlite-shipped` in the live folder of a sandbox that ships: how much of its log the server has. The server makes
 * it while the folder is its own, and writes it by its descriptor alone, so that a process that was taken over can
 * remove it or put another thing there, and mislead nobody but itself. A landing removes it. Knows nothing of what is
 * shipped where.
 */
import { closeSync } from 'node:fs';
import { unlinkFileNow } from '../base/effects.ts';
import { makeOpenNow, writeOverNow } from '../base/strangers-file.ts';
import { type Confirmed, confirmationOf, SHIPPED_SUFFIX } from '../vfs/shipped-log.ts';

export class ShippedMark {
  readonly #path: string;
  #descriptor: number | null;

  /**
   * Makes it, empty, beside a file (absolute) that no process has open and whose folder is there. Throws what the disk
   * throws.
   */
  constructor(file: string) {
    this.#path = file + SHIPPED_SUFFIX;
    unlinkFileNow(this.#path);
    this.#descriptor = makeOpenNow(this.#path);
  }

  /**
   * Lets the processes write over a log once it is in the file: everything up to there is safe. Nothing happens after
   * `close`. Throws what the disk throws.
   */
  confirm(confirmed: Confirmed): void {
    if (this.#descriptor !== null) writeOverNow(this.#descriptor, this.#path, confirmationOf(confirmed));
  }

  /** Confirms nothing any more. Idempotent. */
  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
