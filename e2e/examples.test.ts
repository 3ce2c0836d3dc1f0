/** The workbooks in examples/ over HTTP, with a suspend and a killed server between the calls of each. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wasmOfWat } from '#peers/wasm.ts';
import type { Schedule, WorkflowCallAnswer } from '../lib/contract/schema.ts';
import { readExamples } from '../lib/host/examples.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

const TENANT = 'tryer';
const README = readFileSync(new URL('../examples/README.md', import.meta.url), 'utf8');

/** The group of a pattern in the examples' README, as JSON. */
function fromReadme(pattern: RegExp): object {
  const [, text] = pattern.exec(README) ?? [];
  if (text === undefined) throw new Error(`examples/README.md has nothing like ${pattern}`);
  return JSON.parse(text);
}

/** What each is called with: the orders as the README calls them. */
const INPUTS: Readonly<Record<string, object>> = {
  counters: { step: 1 },
  'data-report': {},
  nightly: {},
  orders: fromReadme(/workbook call shop --input '([^']+)'/),
};

let folder: string;
let server: ServerProcess;
/** The answers of each example: first call, after a suspend, after a killed server. */
const answers = new Map<string, WorkflowCallAnswer[]>();

async function must<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const answer = await server.call<T>(method, `/api${path}`, body, { headers });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
}

async function run(id: string): Promise<void> {
  const answer = await must<WorkflowCallAnswer>('POST', `/instances/${id}/call`, { input: INPUTS[id] ?? {} });
  answers.set(id, [...(answers.get(id) ?? []), answer]);
}

async function fileOf(id: string, path: string): Promise<string> {
  const { status, text } = await server.call('GET', `/api/instances/${id}/volumes/workspace${path}`);
  expect(status).toBe(200);
  return text;
}

/** The answers of an example, which all have to be without a failure. */
function outputsOf(id: string): Record<string, unknown>[] {
  const calls = answers.get(id) ?? [];
  expect(calls).toHaveLength(3);
  for (const { components } of calls) {
    expect(components.filter(({ state }) => state !== 'done')).toEqual([]);
  }
  return calls.map(({ outputs }) => outputs);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-examples-'));
  server = await spawnServer({ folder });
  for (const { id, source, files } of readExamples()) {
    await must('PUT', `/workbooks/${id}?tenant=${TENANT}`, source, { 'content-type': 'text/org' });
    await must('POST', '/instances', { id, tenant: TENANT, workbook: id });
    for (const { path, content } of files) await must('PUT', `/instances/${id}/volumes/workspace${path}`, content);
    await run(id);
    await must('POST', `/instances/${id}/suspend`, {});
    await run(id);
  }
  expect(await server.end('SIGKILL')).toBe('SIGKILL');
  server = await spawnServer({ folder });
  for (const { id } of readExamples()) await run(id);
});

afterAll(async () => {
  await server.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

test('there are four examples, each with a title, a paragraph, and a source that the page can edit', () => {
  const examples = readExamples();
  expect(examples.map(({ id }) => id)).toEqual(Object.keys(INPUTS));
  for (const { title, says, source } of examples) {
    expect(title.length).toBeGreaterThan(10);
    expect(says).toMatch(/^[A-Z].*\.$/);
    expect(source).toMatch(/^#\+title: /);
  }
});

test('the report adds up a CSV file in Python, and leaves out the line without an amount', async () => {
  expect(outputsOf('data-report')).toEqual(Array(3).fill({ report: '/report.md' }));
  const report = await fileOf('data-report', '/report.md');
  expect(report).toContain('| month | north | south | west |');
  expect(report).toContain('| 2026-08 | 1552.75 | 880.00 | 415.75 |');
  expect(report).toContain('Together: 9376.95');
  expect(
    answers
      .get('data-report')?.[0]
      ?.logs.map(({ text }) => text)
      .join(''),
  ).toContain('line 8 has no amount');
});

test('a counter in four languages goes on after a suspend and a killed server', () => {
  expect(outputsOf('counters')).toEqual([
    { total: 4, agree: true },
    { total: 8, agree: true },
    { total: 12, agree: true },
  ]);
});

test('the nightly workflow cleans up and packs, and its schedule is the one of its source', async () => {
  expect(outputsOf('nightly')).toEqual(Array(3).fill({ files: 2, package: '/outbox/work.json' }));
  const made = JSON.parse(await fileOf('nightly', '/outbox/work.json'));
  expect(made.files.map(({ path }: { path: string }) => path)).toEqual(['/work/boats.json', '/work/minutes.md']);
  const cached = await server.call('GET', '/api/instances/nightly/volumes/workspace/cache/tiles.tmp');
  expect(cached.status).toBe(404);
  const schedules = await must<Schedule[]>('GET', '/instances/nightly/schedules');
  expect(schedules).toMatchObject([
    { source: 'workbook', cron: '0 3 * * *', timezone: 'Europe/Berlin', component: 'nightly', paused: false },
  ]);
  expect(new Date((schedules[0]?.next_at ?? 0) * 1000).toISOString()).toMatch(/T0[12]:00:00\.000Z$/);
});

test('what the night packed leaves with a ship', async () => {
  const { status, bytes } = await server.call('POST', '/api/instances/nightly/ship', {});
  expect(status).toBe(200);
  expect(bytes.subarray(0, 2).toString()).toBe('PK');
});

test('an order feeds a workflow inside its own, and goes on with what that gives', async () => {
  expect(outputsOf('orders')).toEqual(Array(3).fill(fromReadme(/```json\n([\s\S]+?)```/)));
  const paths = answers.get('orders')?.[0]?.components.map(({ path }) => path) ?? [];
  expect(paths.toSorted()).toEqual(['orders/check', 'orders/invoice', 'orders/shipping/rate', 'orders/shipping/weigh']);
  const refused = await must<WorkflowCallAnswer>('POST', '/instances/orders/call', { input: { order: { lines: [] } } });
  expect(refused.components.map(({ path, state }) => [path, state]).toSorted()).toEqual([
    ['orders/check', 'failed'],
    ['orders/invoice', 'skipped'],
    ['orders/shipping/rate', 'skipped'],
    ['orders/shipping/weigh', 'skipped'],
  ]);
});

test('the counter in WebAssembly is what its text compiles to', async () => {
  const wat = readFileSync(new URL('../examples/counters/counter.wat', import.meta.url), 'utf8');
  const source = readExamples().find(({ id }) => id === 'counters')?.source ?? '';
  const [, base64 = ''] = /#\+begin_src wasm[^\n]*\n([A-Za-z0-9+/=\n]+)#\+end_src/.exec(source) ?? [];
  expect(Buffer.from(base64, 'base64').equals(await wasmOfWat(wat))).toBe(true);
});
