/**
 * What the registry costs with few rows and with many, contenders alternating in one run. Run by itself it makes both files:
 * `node lib/registry/bench.ts [rows [folder]]`.
 */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILLED, fillRegistry } from './fill.ts';
import type { ListFilter, ListRequest } from './registry.ts';
import { openSqliteRegistry, type SqliteRegistry } from './sqlite.ts';

export interface RegistryCost {
  what: string;
  samples: number;
  /** Median milliseconds with few and with many rows. */
  smallMs: number;
  largeMs: number;
}

const SMALL_ROWS = 1000;
const WARM_UP = 30;
const COUNT_CAP = 10_000;
const PAGE = { sort: 'updated', reverse: false, limit: 100 } as const satisfies Partial<ListRequest>;
const THRESHOLDS = { idleToSuspendSeconds: 900, idleToFreezeSeconds: 86_400 };

type Question = (registry: SqliteRegistry) => () => unknown;

const page =
  (filter: ListFilter, order: Partial<ListRequest> = {}): Question =>
  (registry) =>
  () =>
    registry.list({ ...PAGE, ...order, ...filter });

const count =
  (filter: ListFilter): Question =>
  (registry) =>
  () =>
    registry.count(filter, COUNT_CAP);

const { tenant, state, label, rareWord, commonWord, middlingWord } = FILLED;
const QUESTIONS: Readonly<Record<string, Question>> = {
  'page of everything': page({}),
  'page by tenant': page({ tenant }),
  'page by state': page({ state }),
  'page by tenant and state': page({ tenant, state }),
  'page by label': page({ label }),
  'page by tenant and label': page({ tenant, label }),
  'page by rare text': page({ text: rareWord }),
  'page by common text': page({ text: commonWord }),
  'page by text of a tenth': page({ text: middlingWord }),
  'page by that and tenant': page({ text: middlingWord, tenant }),
  'page by state, sorted by name': page({ state }, { sort: 'name' }),
  'page by tenant, sorted by bytes': page({ tenant }, { sort: 'bytes' }),
  'counts by state': (registry) => () => registry.countsByState(),
  'count by tenant': count({ tenant }),
  'count by label': count({ label }),
  'count by rare text': count({ text: rareWord }),
  'count by common text': count({ text: commonWord }),
  'due with nothing due': (registry) => () => registry.due(2_000_000_000, 100),
  'get by id': (registry) => {
    const page = registry.list({ ...PAGE, limit: 500 });
    if (page instanceof Promise) throw new Error('This registry answers at once.');
    const ids = page.rows.map((row) => row.id);
    let turn = 0;
    return () => registry.get(ids[turn++ % ids.length] ?? '');
  },
};

/** Asks both registries the same questions in turn, `samples` times each. */
export function compareRegistries(small: SqliteRegistry, large: SqliteRegistry, samples: number): RegistryCost[] {
  return Object.entries(QUESTIONS).map(([what, question]) => {
    const contenders = [question(small), question(large)].map((ask) => ({ ask, tookMs: [] as number[] }));
    for (let round = -WARM_UP; round < samples; round += 1) {
      for (const { ask, tookMs } of contenders) {
        const started = performance.now();
        ask();
        if (round >= 0) tookMs.push(performance.now() - started);
      }
    }
    const [smallMs, largeMs] = contenders.map(({ tookMs }) => tookMs.sort((a, b) => a - b)[samples >> 1] ?? 0);
    return { what, samples, smallMs: smallMs ?? 0, largeMs: largeMs ?? 0 };
  });
}

if (import.meta.main) {
  const [rows = '1000000', folder = tmpdir()] = process.argv.slice(2);
  const opened = [SMALL_ROWS, Number(rows)].map((size) => {
    const path = join(folder, `registry-${size}.sqlite`);
    if (!existsSync(path)) fillRegistry(path, size);
    return openSqliteRegistry({ path, thresholds: THRESHOLDS });
  });
  const [small, large] = opened;
  if (small === undefined || large === undefined) throw new Error('Two registries are compared.');
  for (const { what, smallMs, largeMs } of compareRegistries(small, large, 300)) {
    const ratio = (largeMs / smallMs).toFixed(2);
    process.stdout.write(`${what.padEnd(34)} ${smallMs.toFixed(4)} ms  ${largeMs.toFixed(4)} ms  × ${ratio}\n`);
  }
  for (const registry of opened) await registry.close();
}
