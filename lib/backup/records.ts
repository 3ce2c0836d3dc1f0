/** Writes into the registry what came of backups: what is made, what is in a place, what people asked for. */
import type { Clock } from '../base/clock.ts';
import type { BackupRecord } from '../registry/backups.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import { keepLastBackup } from './last-backup.ts';
import type { BackupAnswers, PlaceContent, PlacedBackup } from './work.ts';

/** Rows of backups that are made, at most. */
const LOOKED_AT = 2000;
/** Failed and removed ones that the registry keeps. */
const KEPT_ENDED = 100;
const SPARED_MS = 7 * 24 * 3600 * 1000;
const SYSTEM = 'system';

interface RecordParts {
  clock: Clock;
  registry: Pick<Registry, 'backups' | 'facts' | 'ledger'>;
}

export class BackupRecords {
  readonly #parts: RecordParts;

  constructor(parts: RecordParts) {
    this.#parts = parts;
  }

  /** Forgets the oldest of those that failed or were removed. */
  async forget(): Promise<void> {
    await this.#parts.registry.backups.forget(KEPT_ENDED);
  }

  /** What people asked for stays for a while, whatever the schedule makes beside it. */
  async spared(): Promise<string[]> {
    const { clock, registry } = this.#parts;
    const since = clock.now() - SPARED_MS;
    const made = await registry.backups.list(LOOKED_AT, { states: ['made'] });
    return made.filter((row) => isOfPeople(row) && row.askedMs > since).map(({ id }) => id);
  }

  /** It is made: records it, and what else is in its place now. `done`: null when an earlier process made it. */
  async made(
    row: BackupRecord,
    backup: PlacedBackup,
    audit: AuditContext,
    done: BackupAnswers['make'] | null,
  ): Promise<void> {
    const { clock, registry } = this.#parts;
    const { madeMs, ...content } = backup;
    const made = { ...row, ...content, endedMs: Math.max(madeMs, backup.begunMs) };
    const said = [
      `${backup.sandboxes} sandboxes${backup.keys ? ', and the key files, encrypted' : ''}`,
      ...(backup.wrong === 0 ? [] : [`${backup.wrong} not sound`]),
      ...(done === null ? ['found after a restart'] : []),
    ].join('; ');
    const tookMs = made.endedMs - backup.begunMs;
    await registry.backups.made(made, this.#line(audit, 'backup.made', { reason: `${row.id}: ${said}`, tookMs }));
    const { begunMs, sandboxes, bytes, keys, wrong } = backup;
    const last = { time: Math.floor(begunMs / 1000), sandboxes, bytes, keys, wrong, to: placeName(row.target) };
    await keepLastBackup(registry.facts, last, clock);
    if (done === null) return;
    await this.#follow(row.target, done.place, audit);
    if (done.pruneError !== null) {
      const line = this.#line(audit, 'backup.prune_failed', { reason: row.id, error: done.pruneError });
      await registry.ledger.append([line]);
    }
    await this.forget();
  }

  /** Brings the rows of a target in line with what is there. */
  async #follow(target: string, { own, ids }: PlaceContent, audit: AuditContext): Promise<void> {
    const { backups } = this.#parts.registry;
    const rows = (await backups.list(LOOKED_AT, { states: ['made'] })).filter((row) => row.target === target);
    const gone = rows.map(({ id }) => id).filter((id) => !ids.includes(id));
    if (gone.length > 0) {
      await backups.removed(gone, this.#line(audit, 'backup.removed', { reason: gone.slice(0, 20).join(', ') }));
    }
    for (const { madeMs, ...backup } of own) {
      if (rows.some(({ id }) => id === backup.id)) continue;
      const known = await backups.get(backup.id);
      // One that failed is there all the same: its server ended, or lost its claim, when it had just been made.
      if (known !== null && known.state !== 'failed') continue;
      const asked = { target, planned: null, actor: SYSTEM, reason: null, askedMs: backup.begunMs };
      const line = this.#line(audit, 'backup.found', { reason: `${backup.id} in ${placeName(target)}` });
      await backups.made({ ...asked, ...backup, endedMs: madeMs }, line);
    }
  }

  #line(audit: AuditContext, type: string, more: Partial<LedgerEntry>): LedgerEntry {
    return ledgerEntry(this.#parts, null, audit, type, more);
  }
}

/** Whether a person or a program asked for it, rather than the server itself. */
function isOfPeople({ planned, actor }: BackupRecord): boolean {
  return planned === null && actor !== SYSTEM;
}

/** A target as the ledger names it: nothing of the machine's paths but the last part. */
function placeName(target: string): string {
  return (
    target
      .split('/')
      .filter((part) => part !== '')
      .at(-1) ?? target
  );
}
