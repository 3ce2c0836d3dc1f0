/** The age of the newest backup, as a metric. */
import { Gauge, type Registry as PromRegistry } from 'prom-client';
import { readBackupSettings } from '../backup/backup-settings.ts';
import type { Clock } from '../base/clock.ts';
import type { Registry } from '../registry/registry.ts';

/** Rows that are looked at for the newest one that is there. */
const LOOKED_AT = 200;

/**
 * Adds it. Where backups are made by a schedule and none was made yet, it counts from when the schedule was set;
 * without either there is no value.
 */
export function addBackupAge(
  registers: PromRegistry[],
  { registry, clock }: { registry: Pick<Registry, 'backups' | 'facts'>; clock: Clock },
): void {
  new Gauge({
    name: 'winterdock_backup_age_seconds',
    help: 'Seconds since the moment that the newest backup of this registry is of.',
    registers,
    async collect() {
      this.reset();
      const { enabled, target, changed } = await readBackupSettings(registry.facts);
      const made = await registry.backups.list(LOOKED_AT, { states: ['made'] });
      const newest = made.reduce((last, row) => (row.target === target ? Math.max(last, row.begunMs ?? 0) : last), 0);
      const since = newest > 0 ? newest : enabled ? changed * 1000 : null;
      if (since !== null) this.set(Math.max(0, (clock.now() - since) / 1000));
    },
  });
}
