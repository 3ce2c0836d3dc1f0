/**
 * Ledger lines of component calls, with their durations. A line of its own for each would write the registry at the
 * rate of the calls: the calls of one component by one caller within a second are one line, which says how many they
 * were and what they took together.
 */
import { messageOf } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import type { StepResult } from '../workers/protocol/component-call.ts';
import type { Engine } from './engine.ts';
import type { AuditContext } from './sandboxes.ts';

/** How long a line may wait, in milliseconds. */
const WITHIN_MS = 1000;
/** Lines that may wait; then they are written at once. */
const MAX_LINES = 500;

interface Line {
  id: InstanceId;
  path: string;
  audit: AuditContext;
  calls: number;
  tookMs: number;
  error: string | null;
}

export class ComponentRecords {
  readonly #engine: () => Pick<Engine, 'clock' | 'log' | 'registry'>;
  readonly #lines = new Map<string, Line>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(engine: () => Pick<Engine, 'clock' | 'log' | 'registry'>) {
    this.#engine = engine;
  }

  /** Notes what the components of one call came to. Skipped ones did not run. */
  note(id: InstanceId, results: readonly (StepResult & { path: string })[], audit: AuditContext): void {
    for (const { path, state, error, tookMs } of results) {
      if (state === 'skipped') continue;
      const key = JSON.stringify([id, path, error?.kind ?? null, audit.actor, audit.via, audit.trigger]);
      const line = this.#lines.get(key);
      if (line === undefined) {
        const what = error === undefined ? null : `${error.kind}: ${error.message.slice(0, 300).toWellFormed()}`;
        this.#lines.set(key, { id, path, audit, calls: 1, tookMs, error: what });
      } else {
        line.calls += 1;
        line.tookMs += tookMs;
      }
    }
    if (this.#lines.size >= MAX_LINES) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), WITHIN_MS);
  }

  /** Writes what waits, and resolves when that is done. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const lines = [...this.#lines.values()];
    this.#lines.clear();
    if (lines.length > 0) this.#writing = this.#writing.then(() => this.#write(lines));
    return this.#writing;
  }

  async #write(lines: Line[]): Promise<void> {
    const { registry, log } = this.#engine();
    try {
      const entries: LedgerEntry[] = [];
      const tenants = new Map<InstanceId, string | null>();
      for (const line of lines) {
        if (!tenants.has(line.id)) tenants.set(line.id, await registry.instances.tenantOf(line.id));
        const tenant = tenants.get(line.id);
        if (tenant) entries.push(this.#entry(line, tenant));
      }
      await registry.ledger.append(entries);
    } catch (error) {
      // The calls themselves were answered.
      log.error({ error: messageOf(error), lines: lines.length }, 'ledger lines of component calls');
    }
  }

  #entry({ id, path, audit, calls, tookMs, error }: Line, tenant: string): LedgerEntry {
    const type = error === null ? 'component.called' : 'component.failed';
    const reason = calls === 1 ? path : `${path}, ${calls} calls`;
    return ledgerEntry(this.#engine(), { id, tenant }, audit, type, {
      tookMs: Math.round(tookMs * 100) / 100,
      reason,
      error,
    });
  }
}
