/**
 * `npm run soak -- --minutes N --seed S`: runs random operations and faults on a real server with a small disk. Every
 * step is logged as a line of JSON; `--replay FILE` repeats such a log, `--without fill,jump` leaves kinds of faults
 * out. When something is wrong it exits with 1 and keeps the data folder. `npm run soak -- --tests` runs every test
 * instead, whatever day it is.
 */
import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Day } from '../lib/testing/soak/commands.ts';
import { live } from '../lib/testing/soak/life.ts';
import { ROOT } from './build.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    replay: { type: 'string' },
    log: { type: 'string' },
    without: { type: 'string', default: '' },
    tests: { type: 'boolean', default: false },
  },
});

if (values.tests) {
  const args = [join(ROOT, 'bin', 'run.cjs'), join(ROOT, 'scripts', 'test.ts')];
  const { status } = spawnSync(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, WB_TEST_DRAW: 'all' },
  });
  process.exit(status ?? 1);
}

interface LogLine {
  seed?: number;
  day?: Day;
}

const replayed = values.replay === undefined ? null : readLog(values.replay);
const seed = replayed?.seed ?? Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const folder = values.log ?? join('node_modules', '.cache', 'soak');
const name = join(folder, `${seed}-${process.pid}`);
mkdirSync(folder, { recursive: true });
const log = createWriteStream(`${name}.jsonl`);
process.stdout.write(`seed ${seed}, log ${name}.jsonl\n`);

/** The days of a log, and the seed that made them. */
function readLog(path: string): { seed: number; days: Day[] } {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"number"'))
    .map((line) => JSON.parse(line) as LogLine);
  return { seed: lines[0]?.seed ?? 0, days: lines.flatMap(({ day }) => (day === undefined ? [] : [day])) };
}

const lived = await live({
  seed,
  forMs: replayed === null ? Number(values.minutes) * 60_000 : Number.POSITIVE_INFINITY,
  ...(replayed === null ? {} : { days: replayed.days }),
  without: values.without.split(','),
  log: (line) => log.write(`${JSON.stringify(line)}\n`),
  found: async (world) => {
    await world.end('SIGKILL');
    spawnSync('cp', ['-a', world.folder, `${name}-data`]);
  },
});
log.end();
process.stdout.write(`${JSON.stringify({ ...lived, findings: lived.findings.length }, null, 2)}\n`);
for (const finding of lived.findings) process.stdout.write(`FOUND ${finding}\n`);
process.exitCode = lived.findings.length === 0 ? 0 : 1;
