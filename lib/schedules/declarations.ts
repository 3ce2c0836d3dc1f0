/**
 * The schedules that a workbook declares, brought in line with its plan: at docking and upgrade they are added, changed
 * and removed; what was not changed keeps its times, its history and its pause.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, messageOf, publicMessage } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { MissedPolicy, ScheduleRow, ScheduleSettings, ScheduleTiming } from '../registry/schedules.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import { componentsOfPlan, type DockedPlans, worldsOfPlan } from '../workbooks/docked.ts';
import type { PlanSchedule, WorkbookPlan } from '../workbooks/types.ts';
import { armingFrom } from './arming.ts';
import { parseRepeater } from './repeater.ts';

/** Sandboxes brought in line in one round. */
const BATCH = 100;
const AUDIT: AuditContext = {
  trigger: 'schedule',
  actor: 'schedules',
  via: 'schedule',
  requestId: null,
  address: null,
  reason: null,
};

export interface SyncParts {
  clock: Clock;
  config: Pick<Config, 'scheduleSpreadSeconds' | 'schedulesPerSandbox' | 'schedulesPerTenant'>;
  registry: Pick<Registry, 'schedules'>;
}

type Declared = Omit<ScheduleSettings, 'paused'> & { declaration: string };

/** As org repeats: `+` makes up for each missed time, `++` and `.+` for one. A cron expression skips them. */
function missedOf({ cron, repeat }: PlanSchedule): MissedPolicy {
  if (cron !== null) return 'skip';
  return repeat && parseRepeater(repeat)?.kind === '+' ? 'all' : 'once';
}

/** Every schedule of a plan, by what declares it. */
function declarationsOf(plan: WorkbookPlan): Declared[] {
  const declared = (target: 'component' | 'world') =>
    function* ({ path, schedule }: { path: string; schedule: PlanSchedule | null }): Generator<Declared> {
      if (schedule === null) return;
      const { cron, at = null, repeat = null, timezone } = schedule;
      const timing: ScheduleTiming = { cron, at, repeat, timezone: timezone ?? 'UTC' };
      const missed = missedOf(schedule);
      yield { ...timing, declaration: `${target}:${path}`, target, action: path, input: null, missed, timeoutMs: null };
    };
  return [
    ...worldsOfPlan(plan).flatMap((world) => [...declared('world')(world)]),
    ...componentsOfPlan(plan).flatMap((component) => [...declared('component')(component)]),
  ];
}

/**
 * Brings the schedules of every sandbox in line whose workbook changed: created with one, docked, upgraded, undocked or
 * imported. The registry marks them in the transaction of the change, so a killed server forgets none.
 */
export async function syncDocked(
  parts: SyncParts & { log: Logger; registry: Pick<Registry, 'instances' | 'ledger'> },
  plans: Pick<DockedPlans, 'dockedPlan'>,
): Promise<void> {
  const { clock, log, registry } = parts;
  for (const id of await registry.schedules.unsynchronised(BATCH)) {
    const row = await registry.instances.get(id);
    const gone = { id, workbook: null, workbookVersion: null };
    const audit: AuditContext = { ...AUDIT, reason: row?.workbook ?? null };
    try {
      if (row !== null && row.state !== 'deleted') {
        await syncSchedules(parts, row, (await plans.dockedPlan(row))?.plan ?? null, audit);
      }
    } catch (error) {
      log.warn({ id, error: messageOf(error) }, 'the schedules of a workbook were not taken over');
      // Anything but a quota may pass: the next round tries it again.
      if (row === null || !isWinterdockError(error) || error.code !== 'quota_exceeded') continue;
      // The sandbox goes on without them: its docking is committed.
      const line = ledgerEntry({ clock }, row, audit, 'schedule.refused', { error: publicMessage(error) });
      await registry.ledger.append([line]);
    }
    await registry.schedules.markSynchronised(row ?? gone);
  }
}

/**
 * Brings the schedules of a sandbox in line with a plan, in one transaction; null: it is docked to none any more.
 * Throws `quota_exceeded`, and nothing has changed then. Returns whether something changed.
 */
export async function syncSchedules(
  parts: SyncParts,
  { id: instance, tenant }: Pick<InstanceRow, 'id' | 'tenant'>,
  plan: WorkbookPlan | null,
  audit: AuditContext,
): Promise<boolean> {
  const { clock, config, registry } = parts;
  const now = epochSeconds(clock);
  const before = new Map((await registry.schedules.declared(instance)).map((row) => [row.declaration, row]));
  const arming = (id: string, timing: ScheduleTiming) => armingFrom(id, timing, now, config.scheduleSpreadSeconds);
  const add: Parameters<Registry['schedules']['synchronise']>[0]['add'] = [];
  const change: Parameters<Registry['schedules']['synchronise']>[0]['change'] = [];
  for (const one of plan === null ? [] : declarationsOf(plan)) {
    const row = before.get(one.declaration);
    before.delete(one.declaration);
    if (row === undefined) {
      const id = newId('sched');
      const made = {
        id,
        instance,
        tenant,
        source: 'workbook',
        paused: false,
        created: now,
        actor: audit.actor,
      } as const;
      add.push({ schedule: { ...one, ...made }, arming: arming(id, one) });
    } else if (!isSame(row, one)) {
      const { declaration: _, ...patch } = one;
      change.push({ read: row, patch, arming: arming(row.id, one) });
    }
  }
  const remove = [...before.values()].map(({ id }) => id);
  const changes = add.length + change.length + remove.length;
  if (changes === 0) return false;
  const reason = `${add.length} added, ${change.length} changed, ${remove.length} removed, as the workbook declares`;
  const line = ledgerEntry({ clock }, { id: instance, tenant }, { ...audit, reason }, 'schedule.synchronised');
  const limits = { perSandbox: config.schedulesPerSandbox, perTenant: config.schedulesPerTenant };
  await registry.schedules.synchronise({ add, change, remove }, limits, line);
  return true;
}

function isSame(row: ScheduleRow, declared: Declared): boolean {
  return (['cron', 'at', 'repeat', 'timezone', 'missed', 'target', 'action'] as const).every(
    (name) => row[name] === declared[name],
  );
}
