/**
 * Processor time of creating and renaming sandboxes, in a registry with a thousand and in one with a million. Their
 * names are in an index of trigrams, which merges what was added now and then: means of many, not medians.
 */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { Registry } from '../../lib/registry/registry.ts';
import { FILLED, FILLED_AT } from '../../lib/registry/sqlite/testing/fill.ts';
import type { LedgerEntry } from '../../lib/registry/types.ts';
import { instanceId } from '../../lib/testing/plain-ids.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { ratioOf } from './statistics.ts';

/** Writes of one turn. */
const WRITES = 100;
const EXCLUDES = 'waiting for the disk.';
const NOW = FILLED_AT + 1;
const NEW = {
  tenant: FILLED.tenant,
  vfsPath: null,
  ephemeral: false,
  policy: 'posix',
  keepHot: false,
  hotToWarmSeconds: null,
  idleToSuspendSeconds: null,
  idleToFreezeSeconds: null,
  labels: { env: FILLED.commonWord },
  workbook: null,
  lineageBlueprint: null,
  lineageSnapshot: null,
  lineageParent: null,
};

/** Both registries gain a tenth of a thousand rows a round. */
export async function measureRegistryWrites(
  registries: Record<'small' | 'large', Registry>,
  large: number,
  rounds: number,
): Promise<PartResult> {
  const result: PartResult = { series: [], figures: [] };
  const writers = { small: writerOf(registries.small), large: writerOf(registries.large) };
  for (const what of ['a new sandbox', 'a new name'] as const) {
    const found = await roundRobin(rounds, {
      small: () => processorTime(writers.small[what]),
      large: () => processorTime(writers.large[what]),
    });
    result.series.push(seriesOf(`${what}, mean of ${WRITES}, a thousand rows`, found.small, { excludes: EXCLUDES }));
    result.series.push(seriesOf(`${what}, mean of ${WRITES}, ${large} rows`, found.large, { excludes: EXCLUDES }));
    result.figures.push(
      figureOf(`${what}: ${large} rows / a thousand`, ratioOf(found.large, found.small), {
        unit: '×',
        bar: 'registry: writes, million over thousand',
        excludes: EXCLUDES,
      }),
    );
  }
  return result;
}

function writerOf({ instances }: Registry) {
  const ids: InstanceId[] = [];
  let serial = 0;
  return {
    'a new sandbox': async () => {
      serial += 1;
      const id = instanceId(`new-${(serial * 7919).toString(36)}`);
      ids.push(id);
      await instances.create({ ...NEW, id, name: `${FILLED.middlingWord} walk ${serial}` }, NOW, lineOf(id, serial));
    },
    'a new name': async () => {
      serial += 1;
      const id = ids[serial % ids.length];
      if (id === undefined) throw new Error('Nothing was created.');
      await instances.patch(id, { name: `harbour walk ${serial}` }, NOW, lineOf(id, serial));
    },
  };
}

/** Milliseconds of a write, as the mean of a turn. */
async function processorTime(write: () => Promise<void>): Promise<number[]> {
  const began = process.cpuUsage();
  for (let n = 0; n < WRITES; n += 1) await write();
  const { user, system } = process.cpuUsage(began);
  return [(user + system) / 1000 / WRITES];
}

function lineOf(instance: InstanceId, serial: number): LedgerEntry {
  return {
    timeMs: NOW * 1000,
    instance,
    tenant: FILLED.tenant,
    type: 'instance.patched',
    from: null,
    to: null,
    trigger: 'request',
    actor: 'key:bench',
    via: 'api',
    source: null,
    tookMs: null,
    reason: null,
    error: null,
    requestId: `req-bench-${serial}`,
    address: null,
  };
}
