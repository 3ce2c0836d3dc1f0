/**
 * Objects that the store says it has not. One answer proves nothing: a list, a replica or a mount may be behind. Until
 * it is established that an object is missing, whoever asks for it is told to come again; then the sandbox gets the
 * fault.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { objectNameOf } from '../../base/cloud-address.ts';
import { messageOf, WinterdockError } from '../../base/errors.ts';
import { waysOut } from '../../lifecycle/ways-out.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { type Engine, systemAudit } from '../engine.ts';
import { fileOf } from '../files/file-locations.ts';

/** Whether an object is missing for certain. Throws `storage_unavailable` when nothing can be known. */
export type IsMissing = (name: string, signal: AbortSignal) => Promise<boolean>;

/** The longest that somebody waits for an answer that may be quick, in milliseconds. */
const PATIENCE_MS = 100;
const RETRY_SECONDS = 30;

export class MissingObjects {
  readonly #engine: Engine;
  readonly #isMissing: IsMissing;
  readonly #asked = new Map<string, Promise<boolean>>();

  constructor(engine: Engine, isMissing: IsMissing) {
    this.#engine = engine;
    this.#isMissing = isMissing;
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#asked.values());
  }

  /** The error for who needs the object of a row, which the store has said that it has not. */
  async errorFor(row: InstanceRow, cause: unknown): Promise<WinterdockError> {
    const name = objectNameOf(row.stored?.address ?? '');
    const established = await Promise.race([this.#ask(row, name).catch(() => false), pause(PATIENCE_MS, false)]);
    if (established) return lost(row, cause);
    return new WinterdockError('storage_unavailable', `The store did not find the file of "${row.id}".`, {
      hint: 'It is asked again, for a minute, before the file counts as lost. Try again then.',
      retryAfterSeconds: RETRY_SECONDS,
      cause,
    });
  }

  #ask(row: InstanceRow, name: string): Promise<boolean> {
    const before = this.#asked.get(name);
    if (before !== undefined) return before;
    const asking = this.#isMissing(name, this.#engine.stop)
      .then(async (isMissing) => {
        if (isMissing) await this.#raise(row);
        return isMissing;
      })
      .finally(() => this.#asked.delete(name));
    this.#asked.set(name, asking);
    asking.catch((error: unknown) =>
      this.#engine.log.debug({ id: row.id, error: messageOf(error) }, 'not established'),
    );
    return asking;
  }

  /** Gives the sandbox its fault, unless it has moved on, or its file is back. */
  async #raise({ id, generation, stored }: InstanceRow): Promise<void> {
    const row = await this.#engine.registry.instances.get(id);
    if (row === null || row.generation !== generation || row.pending !== null || row.fault !== null) return;
    if (row.stored?.address !== stored?.address || (await fileOf(this.#engine, row).stat()) !== null) return;
    const { message: reason } = lost(row, null);
    const audit = systemAudit('reconcile');
    const raised = ledgerEntry(this.#engine, row, audit, 'fault.raised', { reason: 'missing', error: reason });
    await this.#engine.registry.instances.setFault(id, { fault: 'missing', reason }, raised, row);
  }
}

function lost({ id, stored }: InstanceRow, cause: unknown): WinterdockError {
  return new WinterdockError('missing_file', `The store has lost the file of "${id}", ${stored?.address}.`, {
    hint: waysOut('missing'),
    cause,
  });
}
