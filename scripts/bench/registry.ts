/**
 * The registry with a thousand rows beside one with a million: what a page, the counts and an idle tick cost must not
 * grow with what exists.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ListFilter } from '../../lib/registry/instances.ts';
import type { Registry } from '../../lib/registry/registry.ts';
import { FILLED, FILLED_AT, fillLedger, fillRegistry } from '../../lib/registry/sqlite/testing/fill.ts';
import { openTestRegistry } from '../../lib/registry/testing/open-test-registry.ts';
import type { Thresholds } from '../../lib/registry/types.ts';
import { instanceId } from '../../lib/testing/plain-ids.ts';
import type { BarName } from './bars.ts';
import { timed } from './measure.ts';
import { measureRegistryWrites } from './registry-writes.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { percentileOf, ratioOf } from './statistics.ts';

/** Rows of the smaller registry. */
export const SMALL = 1000;
const PAGE = 100;
const COUNT_CAP = 10_000;
/** As a list with a text counts. */
const TEXT_COUNT_CAP = 1000;
const FLOOR = 'one row by its id, 1000 rows';
const EXCLUDES = 'HTTP, a page’s HTML, or a registry that does not fit into memory.';
const YEAR = 31_536_000;
const MONTH = 30 * 86_400;
/** As many tenants as the small registry has. */
const FEW_TENANTS = 8;
/** Nothing falls due by itself. */
export const LONG_IDLE: Thresholds = {
  hotToWarmSeconds: 0,
  idleToSuspendSeconds: 2 * YEAR,
  idleToFreezeSeconds: 2 * YEAR,
};
/** Ids that the engine would name: none of the filled ones runs. */
const WARM = Array.from({ length: 200 }, (_, n) => instanceId(`warm-${n}`));

async function page(registry: Registry, filter: ListFilter): Promise<void> {
  await registry.instances.list({ ...filter, sort: 'updated', reverse: false, limit: PAGE });
  await total(registry, filter);
}

function total(registry: Registry, filter: ListFilter): Promise<unknown> {
  return registry.instances.total(filter, filter.text === undefined ? COUNT_CAP : TEXT_COUNT_CAP);
}

const LAST_HOUR = Math.floor(FILLED_AT / 3600);
const WEEK_BEGIN = LAST_HOUR - 7 * 24;
/** Lines of the ledger that are counted at a time. */
const COUNTED_LINES = 2000;

const COMMON_LABEL = { key: 'env', value: FILLED.commonWord };

type Question = (registry: Registry) => Promise<unknown> | unknown;

const ASKED: Record<string, Question> = {
  'a page of everything': (registry) => page(registry, {}),
  'a page by tenant': (registry) => page(registry, { tenant: FILLED.tenant }),
  'a page by state': (registry) => page(registry, { state: FILLED.state }),
  'a page by label': (registry) => page(registry, { label: FILLED.label }),
  'a page by a rare word': (registry) => page(registry, { text: FILLED.rareWord }),
  'a page by a common word': (registry) => page(registry, { text: FILLED.commonWord }),
  'a page by a rare middle part': (registry) => page(registry, { text: FILLED.rareWord.slice(3, 9) }),
  'a page by a common middle part': (registry) => page(registry, { text: FILLED.commonWord.slice(1) }),
  'the counts': async (registry) => {
    await registry.instances.countsByState();
    await registry.instances.countsByFault();
  },
  'a tick with nothing due': (registry) => registry.instances.due(FILLED_AT + 60, PAGE),
  'a page of the idle': (registry) =>
    registry.instances.list({
      state: 'suspended',
      until: FILLED_AT,
      sort: 'updated',
      reverse: false,
      limit: PAGE,
    }),
  'a page of what idled for a month': (registry) => page(registry, { until: FILLED_AT - MONTH }),
  'a page of what idled for a month, of a tenant': (registry) =>
    page(registry, { until: FILLED_AT - MONTH, tenant: FILLED.tenant }),
  'a page of what idled for a month, by label': (registry) =>
    page(registry, { until: FILLED_AT - MONTH, label: FILLED.label }),
  'a page of what is warm': (registry) => page(registry, { state: 'active', ids: WARM }),
  'a page of what is cold': (registry) => page(registry, { notState: 'active' }),
  'a page of tenants': (registry) => registry.quotas.tenants({}, FEW_TENANTS),
  'what was due of a tenant': (registry) => registry.instances.dueUntil(FILLED_AT + 60, PAGE, [FILLED.tenant]),
  'wakes of a quarter of an hour in the ledger': (registry) =>
    registry.ledger.page({ type: 'transition', since: FILLED_AT - 900, until: FILLED_AT }, PAGE),
  'a page by label and state': (registry) => page(registry, { label: COMMON_LABEL, state: FILLED.state }),
  'a page of what idled for a month, by label and state': (registry) =>
    page(registry, { label: COMMON_LABEL, state: FILLED.state, until: FILLED_AT - MONTH }),
  'the lines of a request in the ledger': (registry) => registry.ledger.page({ requestId: 'req-7' }, PAGE),
};

/** These pages pass rows that do not match, and only a row itself says so: those of the small registry are few. */
const PASSING: Record<string, Question> = {
  'a page by a middle part in a tenth': (registry) => page(registry, { text: FILLED.middlingWord.slice(1, 4) }),
  'a page of what idled for a month, by a middle part in a tenth': (registry) =>
    page(registry, { until: FILLED_AT - MONTH, text: FILLED.middlingWord.slice(1, 4) }),
};

/** The pages and counts of sandboxes; `passes`: one of them passes rows that do not match. */
export const LISTS: Record<string, { ask: Question; passes: boolean }> = Object.fromEntries(
  Object.entries({ ...ASKED, ...PASSING }).flatMap(([what, ask]) =>
    what.includes('ledger') ? [] : [[what, { ask, passes: what in PASSING }]],
  ),
);

/** What is computed without anything that is remembered, out of the large registry, in milliseconds. */
const HOLDING: Record<string, (registry: Registry, round: number) => Promise<unknown>> = {
  // Each span is narrower than all before it: no total is known.
  'the first total of what idled for a month': (registry, round) =>
    total(registry, { until: FILLED_AT - MONTH - round }),
  'the first total of a label and a tenant': (registry, round) =>
    total(registry, { until: FILLED_AT + YEAR - round, label: FILLED.label, tenant: FILLED.tenant }),
  'the first total of label, tenant, state and idle time': (registry, round) =>
    total(registry, {
      until: FILLED_AT - MONTH - round,
      label: COMMON_LABEL,
      tenant: FILLED.tenant,
      state: FILLED.state,
    }),
  'the first total of a middle part and idle time': (registry, round) =>
    total(registry, { until: FILLED_AT - MONTH - round, text: FILLED.middlingWord.slice(1, 4) }),
  'a week of the server’s usage': (registry) => registry.usage.ofTenant(null, WEEK_BEGIN, LAST_HOUR),
  'a week of a tenant’s usage': (registry) => registry.usage.ofTenant(FILLED.tenant, WEEK_BEGIN, LAST_HOUR),
};

/** Fills two registries and asks both the same in turn. `large` is the number of rows of the larger one. */
export async function measureRegistry(large: number, rounds: number): Promise<PartResult> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-registry-'));
  const open = (rows: number) => {
    const path = join(folder, `${rows}.sqlite`);
    fillRegistry(path, rows);
    fillLedger(path, rows);
    return openTestRegistry(path, { thresholds: LONG_IDLE });
  };
  const registries = { small: await open(SMALL), large: await open(large) };
  const result: PartResult = { series: [], figures: [] };
  const floor: (readonly number[])[] = [];
  try {
    const { rows: firstRows } = await registries.small.instances.list({ sort: 'updated', reverse: false, limit: 1 });
    const [first] = firstRows;
    if (first === undefined) throw new Error('The small registry has no row.');
    const questions = (asked: Record<string, Question>, bar: BarName) =>
      Object.entries(asked).map(([what, ask]) => ({ what, ask, bar }));
    for (const { what, ask, bar } of [
      ...questions(ASKED, 'registry: million over thousand'),
      ...questions(PASSING, 'registry: rows passed'),
    ]) {
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
          bar,
          excludes: EXCLUDES,
        }),
      );
    }
    for (const ofOne of [
      await measureHolding(registries.large, rounds),
      await measureRegistryWrites(registries, large, Math.ceil(rounds / 20)),
    ]) {
      result.series.push(...ofOne.series);
      result.figures.push(...ofOne.figures);
    }
    result.series.unshift(seriesOf(FLOOR, floor, { excludes: EXCLUDES }));
  } finally {
    await registries.small.close();
    await registries.large.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return result;
}

/** How long the server's thread is held by what a page or a chart asks for. */
async function measureHolding(registry: Registry, rounds: number): Promise<PartResult> {
  while ((await registry.usage.countLedger(COUNTED_LINES, 0)) > 0);
  const result: PartResult = { series: [], figures: [] };
  for (const [what, ask] of Object.entries(HOLDING)) {
    const slices: number[][] = [];
    for (let round = 0; round < rounds; round += 1) slices.push([await timed(() => ask(registry, round))]);
    result.series.push(seriesOf(what, slices, { floor: FLOOR, excludes: EXCLUDES }));
    result.figures.push(
      figureOf(`${what}, median`, percentileOf(slices, 0.5), {
        unit: 'ms',
        bar: 'registry: thread held',
        excludes: EXCLUDES,
      }),
    );
  }
  return result;
}
