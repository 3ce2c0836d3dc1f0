/**
 * Named moments: what a sandbox was at a moment, kept as a copy of its own until somebody removes it, or its sandbox is
 * deleted. Rows and files are those of snapshots (copies.ts). Knows nothing of the replica.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import { automaticKindOf, MOST_AUTOMATIC_MOMENTS, MOST_NAMED_MOMENTS } from '../base/moment-names.ts';
import { momentNameTaken, type NamedMomentRow } from '../registry/copies.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { elapsedMs } from '../sandboxes/engine.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import type { VfsCopy } from '../vfs/types.ts';
import type { Copies } from './copies.ts';

export interface NamedMomentsParts {
  clock: Clock;
  registry: Pick<Registry, 'copies' | 'instances'>;
  copies: Pick<Copies, 'keep' | 'sweep'>;
}

export class NamedMoments {
  readonly #parts: NamedMomentsParts;

  constructor(parts: NamedMomentsParts) {
    this.#parts = parts;
  }

  /** Those of a sandbox, the newest first. */
  of(id: InstanceId): Promise<NamedMomentRow[]> {
    return this.#parts.registry.copies.namedMoments(id);
  }

  async find(id: InstanceId, name: string): Promise<NamedMomentRow | null> {
    return (await this.of(id)).find(({ tag }) => tag === name) ?? null;
  }

  /** Throws `not_found`. */
  async get(id: InstanceId, name: string): Promise<NamedMomentRow> {
    const found = await this.find(id, name);
    if (found !== null) return found;
    throw new WinterdockError('not_found', `The sandbox "${id}" has no moment named "${name}".`);
  }

  /**
   * Keeps the file that `make` writes to the given path as the moment `timeMs` (epoch milliseconds) of a sandbox.
   * Throws `conflict` for a name that is taken or one too many, `gone` when the sandbox was deleted, `quota_exceeded`,
   * and what `make` throws; then nothing is kept.
   */
  async keep(
    source: InstanceRow,
    { name, timeMs }: { name: string; timeMs: number },
    make: (path: string) => Promise<VfsCopy>,
    cause: AuditContext,
  ): Promise<NamedMomentRow> {
    const started = performance.now();
    const { clock, registry, copies } = this.#parts;
    const kept = await copies.keep('snapshot', make, async (content) => {
      this.#admit(await this.of(source.id), source.id, name);
      const row: NamedMomentRow = {
        ...content,
        id: newId('snap'),
        tenant: source.tenant,
        source: source.id,
        tag: name,
        created: epochSeconds(clock),
        actor: cause.actor,
        deleted: null,
        momentMs: timeMs,
      };
      const what = `"${name}", as of ${new Date(timeMs).toISOString()}, sha256:${row.hash}, ${row.bytes} bytes`;
      const reason = cause.reason === null ? what : `${cause.reason} (${what})`;
      await registry.copies.addSnapshot(
        row,
        ledgerEntry(this.#parts, source, cause, 'moment.named', { reason, tookMs: elapsedMs(started) }),
      );
      return row;
    });
    // Whoever deleted it meanwhile may not have seen this row yet.
    const now = await registry.instances.get(source.id);
    if (now !== null && now.state !== 'deleted') return kept;
    await this.#remove(kept, cause);
    throw new WinterdockError('gone', `The sandbox "${source.id}" was deleted.`);
  }

  /** Throws `not_found`. */
  async remove(id: InstanceId, name: string, cause: AuditContext): Promise<void> {
    const row = await this.get(id, name);
    if (!(await this.#remove(row, cause))) await this.get(id, name);
  }

  /** Removes the oldest of those that the server named itself, as far as there are more than so many. */
  async trim(id: InstanceId, cause: AuditContext): Promise<void> {
    const own = (await this.of(id)).filter(({ tag }) => automaticKindOf(tag) !== null);
    for (const row of own.slice(MOST_AUTOMATIC_MOMENTS)) await this.#remove(row, cause);
  }

  async #remove(row: NamedMomentRow, cause: AuditContext): Promise<boolean> {
    const { clock, registry, copies } = this.#parts;
    const whose = { id: row.source, tenant: row.tenant };
    const what = `"${row.tag}", as of ${new Date(row.momentMs).toISOString()}`;
    const entry = ledgerEntry(this.#parts, whose, cause, 'moment.removed', { reason: what });
    const isRemoved = await registry.copies.deleteSnapshot(row.id, epochSeconds(clock), entry);
    await copies.sweep();
    return isRemoved;
  }

  #admit(there: readonly NamedMomentRow[], source: InstanceId, name: string): void {
    if (there.some(({ tag }) => tag === name)) throw momentNameTaken({ tag: name, source });
    const byPeople = there.filter(({ tag }) => automaticKindOf(tag) === null).length;
    if (automaticKindOf(name) !== null || byPeople < MOST_NAMED_MOMENTS) return;
    throw new WinterdockError(
      'conflict',
      `The sandbox "${source}" has ${byPeople} named moments, the most there are.`,
      {
        hint: 'Remove one that is not needed any more.',
        extra: { limit: MOST_NAMED_MOMENTS },
      },
    );
  }
}
