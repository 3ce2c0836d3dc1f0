/**
 * Schedules: what many that are due at the same second take from a call in another sandbox, and what a round of the
 * scheduler costs when there are many that are not due.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ledgerEntry } from '../../lib/registry/ledger-entry.ts';
import type { Registry } from '../../lib/registry/registry.ts';
import type { NewSchedule } from '../../lib/registry/schedules.ts';
import { openTestRegistry } from '../../lib/registry/testing/open-test-registry.ts';
import { systemAudit } from '../../lib/sandboxes/engine.ts';
import { instanceId } from '../../lib/testing/plain-ids.ts';
import { createCrowd, loopFor, workThrough } from './crowd.ts';
import { must } from './measure.ts';
import { figureOf, type PartResult, seriesOf, single } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { execIn, makeSandbox } from './sandboxes.ts';
import { FLOOR, KEY, type Running, startAll, startBare, startWinterdock, UNLIMITED } from './server.ts';
import { ratioOf, type Slices } from './statistics.ts';

/** Schedules of the larger registry, and of the smaller one. */
const MANY = 10_000;
const FEW = 10;
/** Of them, those that are due. */
const DUE = 10;
const NOW = 1_765_500_000;
const EXCLUDES = {
  floor: 'a server that does anything, or schedules.',
  quiet: 'anything else that runs.',
  midnight: 'the firings themselves: most wait for their turn while this is measured.',
  round: 'firing what is due.',
};

export interface ScheduleSize {
  /** Schedules that are due at the same second, each of a sandbox of its own. */
  due: number;
  slices: number;
  sliceMs: number;
  /** Seconds that making them may take. */
  leadSeconds: number;
  rounds: number;
}

const EVERYBODY = 8;

/** Makes sandboxes that sleep, and a schedule for each, all due at one second. Returns that second. */
async function makeDue(server: Running, { due, leadSeconds }: ScheduleSize): Promise<number> {
  const at = Math.floor(Date.now() / 1000) + leadSeconds;
  const ids = Array.from({ length: due }, (_, n) => `due-${n}`);
  await workThrough(createCrowd(EVERYBODY), ids, async (id, ask) => {
    const tenant = `night-${Number(id.slice(4)) % 10}`;
    await ask('POST', `${server.url}/api/instances`, KEY, JSON.stringify({ id, tenant }));
    const schedule = JSON.stringify({ at, command: 'echo fired >> log' });
    await ask('POST', `${server.url}/api/instances/${id}/schedules`, KEY, schedule);
  });
  if (Date.now() / 1000 > at) throw new Error(`${due} schedules took longer than ${leadSeconds} s to make.`);
  return at;
}

async function runsOf(server: Running): Promise<number> {
  const { body } = await must('GET', `${server.url}/metrics`, KEY);
  return Number(/^winterdock_schedule_runs_total\{result="done"\} (\d+)/m.exec(body.toString())?.[1] ?? 0);
}

async function measureMidnight(size: ScheduleSize) {
  const [server, bare] = await startAll([startWinterdock(UNLIMITED), startBare()]);
  const client = createCrowd(1);
  const slicesOf = async (call: () => Promise<number[]>): Promise<Slices> => {
    const slices: number[][] = [];
    for (let n = 0; n < size.slices; n += 1) slices.push(await call());
    return slices;
  };
  const callHot = async () =>
    (await loopFor(client, size.sliceMs, (_, ask) => execIn(server, 'awake', 'true', ask))).samples;
  try {
    await makeSandbox(server, 'awake', { tenant: 'people' });
    const at = await makeDue(server, size);
    const floor = await slicesOf(
      async () => (await loopFor(client, size.sliceMs / 4, (_, ask) => ask('POST', bare.url, KEY, '{}'))).samples,
    );
    await callHot();
    const quiet = await slicesOf(callHot);
    if (Date.now() / 1000 > at) throw new Error('They fell due before all was measured.');
    while ((await runsOf(server)) === 0) await pause(100);
    const midnight = await slicesOf(callHot);
    const firedPerSecond = (await runsOf(server)) / (Date.now() / 1000 - at);
    return { floor, quiet, midnight, firedPerSecond };
  } finally {
    await Promise.all([server.stop(), bare.stop()]);
  }
}

/** A registry with so many schedules, of which `DUE` are due. */
async function registryWith(count: number): Promise<Registry> {
  const registry = await openTestRegistry(null, {
    thresholds: { hotToWarmSeconds: 30, idleToSuspendSeconds: 900, idleToFreezeSeconds: 86_400 },
  });
  const clock = { now: () => NOW * 1000 };
  const instance = instanceId('bench');
  const row = { id: instance, tenant: 'bench' };
  const line = ledgerEntry({ clock }, row, systemAudit('request'), 'bench.made');
  const settings = { name: null, vfsPath: null, ephemeral: false, policy: 'posix', keepHot: false, labels: {} };
  const unset = { hotToWarmSeconds: null, idleToSuspendSeconds: null, idleToFreezeSeconds: null };
  const lineage = { lineageBlueprint: null, lineageSnapshot: null, lineageParent: null };
  await registry.instances.create({ ...row, ...settings, ...unset, ...lineage, workbook: null }, NOW, line);
  for (let n = 0; n < count; n += 1) {
    const schedule: NewSchedule = {
      id: `sched-${n}`,
      instance,
      tenant: 'bench',
      source: 'api',
      declaration: null,
      cron: '0 0 * * *',
      at: null,
      repeat: null,
      timezone: 'UTC',
      target: 'command',
      action: 'true',
      input: null,
      timeoutMs: null,
      missed: 'skip',
      paused: false,
      created: NOW,
      actor: 'bench',
    };
    const nextAt = n < DUE ? NOW - n : NOW + 1000 + n;
    const arming = { nextAt, notBefore: null, spread: 0, backlogUntil: null };
    await registry.schedules.add(schedule, arming, { perSandbox: count, perTenant: count }, line);
  }
  return registry;
}

async function measureRounds(rounds: number) {
  const [few, many] = [await registryWith(FEW + DUE), await registryWith(MANY)];
  /** Processor time of what a round reads, in milliseconds: of a thousand, because one takes microseconds. */
  const read = (registry: Registry) => async () => {
    const began = process.cpuUsage();
    for (let n = 0; n < 1000; n += 1) {
      await registry.schedules.due(NOW, 1000);
      await registry.schedules.earliest();
    }
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000 / 1000;
  };
  try {
    return await roundRobin(rounds, { few: once(read(few)), many: once(read(many)) });
  } finally {
    await Promise.all([few.close(), many.close()]);
  }
}

export async function measureSchedules(size: ScheduleSize): Promise<PartResult> {
  const rounds = await measureRounds(size.rounds);
  const { floor, quiet, midnight, firedPerSecond } = await measureMidnight(size);
  const beside = `hot exec of \`true\` while ${size.due} schedules are due`;
  const smallRound = `processor time of a round with ${DUE} of ${FEW + DUE} schedules due`;
  return {
    series: [
      seriesOf(FLOOR, floor, { excludes: EXCLUDES.floor }),
      seriesOf('hot exec of `true`, nothing due', quiet, { floor: FLOOR, excludes: EXCLUDES.quiet }),
      seriesOf(beside, midnight, { floor: FLOOR, excludes: EXCLUDES.midnight }),
      seriesOf(smallRound, rounds.few, { excludes: EXCLUDES.round }),
      seriesOf(`processor time of a round with ${DUE} of ${MANY} due`, rounds.many, {
        floor: smallRound,
        excludes: EXCLUDES.round,
      }),
    ],
    figures: [
      figureOf(`${beside} / nothing due`, ratioOf(midnight, quiet), {
        unit: '×',
        bar: 'schedules: hot exec at midnight',
        excludes: EXCLUDES.midnight,
      }),
      figureOf('firings meanwhile, each with its wake', single(firedPerSecond), {
        unit: '/s',
        excludes: 'those that find their sandbox awake.',
      }),
      figureOf(`a round: ${MANY} schedules / ${FEW + DUE}`, ratioOf(rounds.many, rounds.few), {
        unit: '×',
        bar: 'schedules: many over few',
        excludes: EXCLUDES.round,
      }),
    ],
  };
}
