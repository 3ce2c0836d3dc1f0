/**
 * `npm run bench [-- --check] [-- --quick]`: measures what the README claims, contenders alternating in one run, as ratios. Prints a table,
 * writes docs/bench.json, and with --check exits non-zero when a bar is missed. --quick takes fewer samples and writes nothing.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureBundles } from './bench/bundles.ts';
import { measureCopies } from './bench/copies.ts';
import { measureLive } from './bench/live.ts';
import { alternate, type Figures, figures, must, timed } from './bench/measure.ts';
import { measurePages } from './bench/pages.ts';
import { measureRegistry } from './bench/registry.ts';
import { KEY, type Running, startBare, startWinterdock } from './bench/server.ts';
import { ROOT } from './build.ts';

const { values: flags } = parseArgs({ options: { check: { type: 'boolean' }, quick: { type: 'boolean' } } });
const ROUNDS = flags.quick ? 30 : 200;
const MIB = 1024 * 1024;
const LARGE_MIB = flags.quick ? 50 : 500;
const FILE_MIB = 50;
const HOT = 20;
const POOL = 2;
const TRUE = JSON.stringify({ command: 'true' });

interface Bar {
  what: string;
  measured: number;
  limit: number | null;
  unit: string;
}

const bars: Bar[] = [];
const rows: { what: string; figures: Figures }[] = [];

const at = (server: Running, path: string) => `${server.url}/api/instances${path}`;

/** Waits until the pool is full: what is measured is a wake, not the start of the worker after it. */
async function poolReady(server: Running): Promise<void> {
  for (;;) {
    const { body } = await must('GET', `${server.url}/metrics`, KEY);
    if (Number(/^winterdock_pool_ready (\d+)/m.exec(body.toString())?.[1] ?? 0) >= POOL) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function makeSandbox(server: Running, id: string, mebibytes: number): Promise<void> {
  await must('POST', at(server, ''), KEY, JSON.stringify({ id, tenant: 'bench' }));
  for (let written = 0, n = 0; written < mebibytes; n += 1) {
    const size = Math.min(FILE_MIB, mebibytes - written);
    await must('PUT', at(server, `/${id}/volumes/workspace/data-${n}`), KEY, randomBytes(size * MIB));
    written += size;
  }
}

async function freeze(server: Running, id: string): Promise<void> {
  await must('POST', at(server, `/${id}/suspend`), KEY, '{}');
  await must('POST', at(server, `/${id}/freeze`), KEY, '{}');
}

/** Milliseconds of the first `exec` of a frozen sandbox, over HTTP, with a started worker waiting. */
async function firstExec(server: Running, id: string): Promise<number> {
  await freeze(server, id);
  await poolReady(server);
  return timed(() => must('POST', at(server, `/${id}/exec`), KEY, TRUE));
}

async function measureWakes(): Promise<void> {
  const [server, bare] = await Promise.all([startWinterdock({ WB_POOL: String(POOL) }), startBare()]);
  try {
    await makeSandbox(server, 'hot', 1);
    await makeSandbox(server, 'small', 1);
    await makeSandbox(server, 'large', LARGE_MIB);
    for (const id of ['hot', 'small', 'large']) await must('POST', at(server, `/${id}/exec`), KEY, TRUE);
    const found = await alternate(ROUNDS, {
      bare: () => timed(() => must('POST', bare.url, KEY, TRUE)),
      hot: () => timed(() => must('POST', at(server, '/hot/exec'), KEY, TRUE)),
      small: () => firstExec(server, 'small'),
      large: () => firstExec(server, 'large'),
    });
    rows.push({ what: 'bare Node HTTP + one fsync', figures: found.bare });
    rows.push({ what: 'hot exec of `true`', figures: found.hot });
    rows.push({ what: 'first exec of a frozen 1 MB sandbox', figures: found.small });
    rows.push({ what: `first exec of a frozen ${LARGE_MIB} MB sandbox`, figures: found.large });
    bars.push({ what: 'hot exec / bare HTTP + fsync', measured: found.hot.p50 / found.bare.p50, limit: 3, unit: '×' });
    bars.push({
      what: 'first exec of a frozen sandbox / hot exec',
      measured: found.small.p50 / found.hot.p50,
      limit: 3,
      unit: '×',
    });
    bars.push({
      what: `frozen ${LARGE_MIB} MB / frozen 1 MB`,
      measured: found.large.p50 / found.small.p50,
      limit: 1.3,
      unit: '×',
    });
    await measureSustained(server);
  } finally {
    await Promise.all([server.stop(), bare.stop()]);
  }
}

/** Wakes as fast as they come, four at a time, each with a worker of its own: bounded by starting processes. */
async function measureSustained(server: Running): Promise<void> {
  const ids = Array.from({ length: flags.quick ? 12 : 60 }, (_, n) => `wake-${n}`);
  for (const id of ids) {
    await makeSandbox(server, id, 0);
    await must('POST', at(server, `/${id}/exec`), KEY, TRUE);
    await freeze(server, id);
  }
  await poolReady(server);
  const waiting = [...ids];
  const took = await timed(() =>
    Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
          await must('POST', at(server, `/${id}/exec`), KEY, TRUE);
          await must('POST', at(server, `/${id}/suspend`), KEY, '{}');
        }
      }),
    ),
  );
  bars.push({
    what: 'sustained wakes, first exec and suspension each',
    measured: ids.length / (took / 1000),
    limit: null,
    unit: '/s',
  });
}

/** Proportional set size of the processes of hot sandboxes that have each run a command, in MB (10^6 bytes). */
async function measureMemory(): Promise<void> {
  const server = await startWinterdock({ WB_POOL: '0' });
  try {
    for (let n = 0; n < HOT; n += 1) {
      await makeSandbox(server, `hot-${n}`, 0);
      await must('POST', at(server, `/hot-${n}/exec`), KEY, JSON.stringify({ command: 'echo hello > note; cat note' }));
    }
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ');
    const workers = children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('instance/worker'));
    if (workers.length !== HOT) throw new Error(`${workers.length} workers instead of ${HOT}`);
    const pss = workers.map(
      (pid) => Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) * 1.024e-3,
    );
    bars.push({
      what: `PSS of the largest of ${HOT} hot sandboxes`,
      measured: Math.max(...pss),
      limit: 27,
      unit: 'MB',
    });
    bars.push({ what: 'PSS of a hot sandbox, median', measured: figures(pss).p50, limit: null, unit: 'MB' });
  } finally {
    await server.stop();
  }
}

await measureWakes();
await measureMemory();
const copies = await measureCopies(LARGE_MIB, flags.quick ? 1 : 2);
rows.push(...copies.rows);
bars.push(...copies.bars);
const bundles = await measureBundles(LARGE_MIB, 1);
rows.push(...bundles.rows);
bars.push(...bundles.bars);
const live = await measureLive(flags.quick ? 10_000 : 30_000, flags.quick ? 1 : 3);
bars.push(...live.bars);
const registry = await measureRegistry(flags.quick ? 20_000 : 1_000_000, ROUNDS);
rows.push(...registry.rows);
bars.push(...registry.bars);
const pages = await measurePages(flags.quick ? 20_000 : 1_000_000, flags.quick ? 10 : 60);
rows.push(...pages.rows);
bars.push(...pages.bars);

/** The README's table is the last full run's. */
function writeReadme(): void {
  const path = join(ROOT, 'README.md');
  const table = [
    '| | measured | bar |',
    '|---|---:|---:|',
    ...bars.map(
      ({ what, measured, limit, unit }) =>
        `| ${what} | ${measured.toFixed(2)} ${unit} | ${limit === null ? '–' : `≤ ${limit} ${unit}`} |`,
    ),
    '',
    '| | p50 ms | p99 ms |',
    '|---|---:|---:|',
    ...rows
      .slice(0, 4)
      .map(({ what, figures: found }) => `| ${what} | ${found.p50.toFixed(2)} | ${found.p99.toFixed(2)} |`),
  ].join('\n');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(/(<!-- bench -->)[\s\S]*?(<!-- \/bench -->)/, `$1\n${table}\n$2`));
}

const round = (value: number) => Math.round(value * 1000) / 1000;
const cpu = cpus()[0]?.model ?? 'unknown';
process.stdout.write(`\n${cpus().length} × ${cpu}, Node ${process.version}\n\n`);
process.stdout.write('| | samples | p50 ms | p99 ms |\n|---|---:|---:|---:|\n');
for (const { what, figures: found } of rows) {
  process.stdout.write(`| ${what} | ${found.samples} | ${found.p50.toFixed(3)} | ${found.p99.toFixed(3)} |\n`);
}
process.stdout.write('\n| | measured | bar |\n|---|---:|---:|\n');
for (const { what, measured, limit, unit } of bars) {
  process.stdout.write(
    `| ${what} | ${measured.toFixed(2)} ${unit} | ${limit === null ? '–' : `≤ ${limit} ${unit}`} |\n`,
  );
}
if (!flags.quick) {
  const result = {
    taken: new Date().toISOString(),
    node: process.version,
    cpu: `${cpus().length} × ${cpu}`,
    rows: rows.map(({ what, figures: found }) => ({
      what,
      samples: found.samples,
      p50_ms: round(found.p50),
      p99_ms: round(found.p99),
    })),
    bars: bars.map((bar) => ({ ...bar, measured: round(bar.measured) })),
  };
  writeFileSync(join(ROOT, 'docs', 'bench.json'), `${JSON.stringify(result, null, 2)}\n`);
}
if (!flags.quick) writeReadme();
const missed = bars.filter(({ measured, limit }) => limit !== null && measured > limit);
for (const { what } of missed) process.stderr.write(`Over the bar: ${what}\n`);
if (flags.check && missed.length > 0) process.exit(1);
