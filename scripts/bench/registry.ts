/**
 * The registry with a thousand rows beside one with a million: what a page, the counts and an idle tick cost must not
 * grow with what exists.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ListFilter } from '../../lib/registry/instances.ts';
import type { Registry } from '../../lib/registry/registry.ts';
import { openSqliteRegistry } from '../../lib/registry/sqlite/open.ts';
import { FILLED, FILLED_AT, fillRegistry } from '../../lib/registry/sqlite/testing/fill.ts';
import { timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { ratioOf } from './statistics.ts';

const SMALL = 1000;
const PAGE = 100;
const COUNT_CAP = 10_000;
const FLOOR = 'one row by its id, 1000 rows';
const EXCLUDES = 'HTTP, a page’s HTML, or a registry that does not fit into memory.';
const YEAR = 31_536_000;

async function page(registry: Registry, filter: ListFilter): Promise<void> {
  await registry.instances.list({ ...filter, sort: 'updated', reverse: false, limit: PAGE });
  await registry.instances.count(filter, COUNT_CAP);
}

const ASKED: Record<string, (registry: Registry) => Promise<unknown> | unknown> = {
  'a page of everything': (registry) => page(registry, {}),
  'a page by tenant': (registry) => page(registry, { tenant: FILLED.tenant }),
  'a page by state': (registry) => page(registry, { state: FILLED.state }),
  'a page by label': (registry) => page(registry, { label: FILLED.label }),
  'a page by a rare word': (registry) => page(registry, { text: FILLED.rareWord }),
  'a page by a common word': (registry) => page(registry, { text: FILLED.commonWord }),
  'the counts': async (registry) => {
    await registry.instances.countsByState();
    await registry.instances.countsByFault();
  },
  'a tick with nothing due': (registry) => registry.instances.due(FILLED_AT + 60, PAGE),
};

/** Fills two registries and asks both the same in turn. `large` is the number of rows of the larger one. */
export async function measureRegistry(large: number, rounds: number): Promise<PartResult> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-registry-'));
  const open = (rows: number) => {
    const path = join(folder, `${rows}.sqlite`);
    fillRegistry(path, rows);
    return openSqliteRegistry({
      path,
      thresholds: { hotToWarmSeconds: 0, idleToSuspendSeconds: 2 * YEAR, idleToFreezeSeconds: 2 * YEAR },
    });
  };
  const registries = { small: open(SMALL), large: open(large) };
  const result: PartResult = { series: [], figures: [] };
  const floor: (readonly number[])[] = [];
  try {
    const { rows: firstRows } = await registries.small.instances.list({ sort: 'updated', reverse: false, limit: 1 });
    const [first] = firstRows;
    if (first === undefined) throw new Error('The small registry has no row.');
    for (const [what, ask] of Object.entries(ASKED)) {
      const found = await roundRobin(rounds, {
        floor: once(() => timed(() => registries.small.instances.get(first.id))),
        small: once(() => timed(() => ask(registries.small))),
        large: once(() => timed(() => ask(registries.large))),
      });
      floor.push(...found.floor);
      const options = { floor: FLOOR, excludes: EXCLUDES };
      result.series.push(seriesOf(`${what}, ${SMALL} rows`, found.small, options));
      result.series.push(seriesOf(`${what}, ${large} rows`, found.large, options));
      result.figures.push(
        figureOf(`${what}: ${large} rows / ${SMALL}`, ratioOf(found.large, found.small), {
          unit: '×',
          bar: 'registry: million over thousand',
          excludes: EXCLUDES,
        }),
      );
    }
    result.series.unshift(seriesOf(FLOOR, floor, { excludes: EXCLUDES }));
  } finally {
    await registries.small.close();
    await registries.large.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return result;
}
