/** What the storage page says of a row's size, beside what SQLite needs for rows as servers have them. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { KeptSeries } from '../registry/maintenance.ts';
import { placeNewRegistry } from '../registry/testing/new-registry.ts';
import { type KeptLimits, keptSeries } from './kept-series.ts';

const ROWS = 2000;
const NOW_MS = 1_765_500_000_000;

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const sandbox = (n: number) => `sess-${(n * 7919) % 500}-eu`;
const tenant = (n: number) => `northwind-${n % 20}`;
const time = (n: number) => NOW_MS + n * 350;
const person = (n: number) => `user:${'abcdefghijklmnop'.repeat(2).slice(n % 7, (n % 7) + 24)}`;
/** A source and its plan, of a workbook with a few components. */
const source = 'export default ({ lines }) => ({ total: lines.length });\n'.repeat(60);
const port = { name: 'lines', type: 'object[]', optional: false };
const component = {
  name: 'count',
  path: 'etl/count',
  lang: 'js',
  deps: ['check'],
  in: [port, port],
  out: [port],
  uses: ['vfs'],
};
const plan = JSON.stringify({ worlds: [{ name: 'etl', components: Array(6).fill(component) }] });

/** The table of each series, and the n-th row in it. */
const SERIES: Record<KeptSeries, [table: string, row: (n: number) => Record<string, unknown>]> = {
  ledger: [
    'events',
    (n) => ({
      seq: n + 1,
      time_ms: time(n),
      instance: sandbox(n),
      tenant: tenant(n),
      type: n % 3 === 0 ? 'instance.changed' : 'transition',
      from: n % 3 === 0 ? null : 'active',
      to: n % 3 === 0 ? null : 'suspended',
      trigger: n % 2 === 0 ? 'request' : 'idle',
      actor: n % 2 === 0 ? person(n) : 'ladder',
      via: 'api',
      took_ms: 12.25 + n,
      reason: n % 4 === 0 ? 'the season of March figures is over' : null,
      request_id: n % 2 === 0 ? hex(16) : null,
      address: n % 2 === 0 ? '192.0.2.17' : null,
      hash: hex(32),
    }),
  ],
  sandbox_hours: [
    'sandbox_hours',
    (n) => ({
      instance_row: (n % 400) + 1,
      hour: 490_000 + Math.floor(n / 400),
      cpu_ms: 900 + n,
      calls: n % 50,
      memory_bytes: 60_000_000 + n,
      bytes: 1_200_000 + n,
    }),
  ],
  tenant_hours: [
    'tenant_hours',
    (n) => ({
      tenant: tenant(n),
      hour: 490_000 + Math.floor(n / 20),
      cpu_ms: 90_000 + n,
      calls: 1000 + n,
      memory_bytes: 900_000_000 + n,
      bytes: 9_000_000_000 + n,
      wakes: n % 300,
      faults: 0,
      active_change: n % 5,
      active_ms: 1_800_000 + n,
    }),
  ],
  network_hours: [
    'network_hours',
    (n) => ({
      instance: sandbox(n),
      tenant: tenant(n),
      hour: 490_000 + Math.floor(n / 40),
      host: `https://api-${n}.northwind.example.com`,
      calls: 10 + n,
      refused: n % 3,
      bytes_out: 9000 + n,
      bytes_in: 400_000 + n,
    }),
  ],
  cpu_days: ['cpu_by_day', (n) => ({ tenant: tenant(n), day: 20_400 + Math.floor(n / 20), seconds: 81.25 + n })],
  wake_times: [
    'wake_times',
    (n) => ({
      day: 20_400 + Math.floor(n / 42),
      path: 'cold',
      source: ['local', 'cold', 'archive'][n % 3],
      bound_ms: 2 ** (Math.floor(n / 3) % 14),
      n: 10 + n,
      sum_ms: 250.5 + n,
    }),
  ],
  jobs: [
    'jobs',
    (n) => ({
      id: `job-${hex(8)}`,
      verb: 'archive',
      reason: 'the season of March figures is over',
      asked: JSON.stringify({ filter: { tenant: tenant(n), state: 'frozen', label: 'env:prod' } }),
      tenants: JSON.stringify([tenant(n)]),
      actor: person(n),
      via: 'console',
      address: '192.0.2.17',
      state: 'done',
      created: Math.floor(time(n) / 1000),
      finished: Math.floor(time(n) / 1000) + 60,
      chosen: 412,
      done: 400,
      skipped: 12,
    }),
  ],
  job_results: [
    'job_results',
    (n) => ({
      job: Math.floor(n / 400) + 1,
      position: n % 400,
      outcome: n % 10 === 0 ? 'skipped' : 'done',
      reason: n % 10 === 0 ? 'It is archived already.' : null,
      time_ms: time(n),
    }),
  ],
  runs: [
    'runs',
    (n) => ({
      id: `run-${hex(8)}`,
      instance: sandbox(n),
      tenant: tenant(n),
      language: 'bash',
      command: 'python3 scripts/collect.py --since yesterday > report.md',
      cwd: '/work/season',
      terminal: n % 2 === 0 ? `term-${hex(6)}` : null,
      created_ms: time(n),
      started_ms: time(n) + 3,
      ended_ms: time(n) + 900,
      ending: 'done',
      exit_code: 0,
      took_ms: 897.5,
      woke: 'hot',
      output_bytes: 1200,
      actor: person(n),
    }),
  ],
  schedule_runs: [
    'schedule_runs',
    (n) => ({
      id: `run-${hex(8)}`,
      schedule: `sched-${n % 40}-${'0123456789ab'}`,
      planned: Math.floor(time(n) / 1000),
      missed: 0,
      started_ms: time(n),
      took_ms: 897.5,
      result: 'done',
      exit_code: 0,
      woke: 'cold',
      actor: person(n),
    }),
  ],
  webhook_deliveries: [
    'webhook_deliveries',
    (n) => ({
      id: `hook-${(n % 10) + 1}abcdef012345.${n}`,
      webhook: `hook-${(n % 10) + 1}abcdef012345`,
      line: n + 1,
      type: 'instance.changed',
      state: 'delivered',
      attempts: 1,
      created_ms: time(n),
      attempted_ms: time(n) + 40,
      took_ms: 31.5,
      status: n % 10 === 0 ? 500 : 204,
      error: n % 10 === 0 ? 'It answers 500.' : null,
    }),
  ],
  workbook_versions: [
    'workbook_versions',
    (n) => ({
      tenant: tenant(n),
      id: `etl-${n % 10}`,
      version: n + 1,
      title: 'An order, with its postage worked out',
      hash: hex(32),
      bytes: source.length,
      components: 4,
      problems: 0,
      created: Math.floor(time(n) / 1000),
      created_by: person(n),
      source,
      plan,
      problem_list: '[]',
      builder: 3,
    }),
  ],
};

/** Bytes of a row in a filled table with its indexes, by series. */
async function measure(): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-kept-'));
  try {
    const path = join(folder, 'data', 'registry.sqlite');
    await placeNewRegistry(path);
    const database = new Database(path);
    database.pragma('synchronous = off');
    const size = database.prepare<[string], { bytes: number }>(
      'select sum(pgsize) as bytes from dbstat where name in (select name from sqlite_schema where tbl_name = ?)',
    );
    const measured = Object.entries(SERIES).map(([name, [table, row]]) => {
      const before = size.get(table)?.bytes ?? 0;
      const columns = Object.keys(row(0));
      const insert = database.prepare(
        `insert into ${table} (${columns.map((column) => `"${column}"`)}) values (${columns.map(() => '?')})`,
      );
      database.transaction(() => {
        for (let n = 0; n < ROWS; n++) insert.run(Object.values(row(n)));
      })();
      return [name, Math.round(((size.get(table)?.bytes ?? 0) - before) / ROWS)];
    });
    database.close();
    return Object.fromEntries(measured);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('what a row is said to take is within a factor of two of what it takes', async () => {
  const measured = await measure();
  const rows = Object.fromEntries(Object.keys(SERIES).map((name) => [name, 1])) as Record<KeptSeries, number>;
  const said = keptSeries(rows, {} as KeptLimits, 1000);
  expect(said.map(({ name }) => name).toSorted()).toEqual(Object.keys(SERIES).toSorted());
  const wrong = said.filter(({ name, about_bytes: bytes }) => {
    const share = bytes / (measured[name] ?? 0);
    return !(share >= 0.5 && share <= 2);
  });
  expect(wrong.map(({ name, about_bytes }) => `${name}: ${about_bytes}, measured ${measured[name]}`)).toEqual([]);
});
