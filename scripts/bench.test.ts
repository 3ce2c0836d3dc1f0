import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HEADLINES } from './bench/headlines.ts';
import { PART_NAMES, parseOptions, USAGE } from './bench/parts.ts';
import { type Kept, keep, merge, withHeadlines, withSections } from './bench/result.ts';
import { ROOT } from './build.ts';

const where = (taken: string) => ({ taken, node: 'v24', cpu: '2 × some' });
const found = (measured: number, p50: number) => ({
  rows: [{ what: 'a wake', figures: { samples: 3, p50, p99: 9 } }],
  bars: [{ what: 'a ratio', measured, limit: 3, unit: '×' }],
});

test('a part that did not run keeps its figures and their time, in the table too', () => {
  const before: Kept = { wakes: keep(found(1, 5), where('monday')), pages: keep(found(2, 7), where('monday')) };
  const after = merge(before, { pages: keep(found(2.5, 8), where('tuesday')) }, ['wakes', 'pages']);
  expect(after.wakes).toEqual(before.wakes);
  expect(after.pages).toMatchObject({ taken: 'tuesday', bars: [{ measured: 2.5 }] });
  const marks = (name: string) => `<!-- ${name} -->old<!-- /${name} -->`;
  const text = withSections(`before ${marks('bench:wakes')} between ${marks('bench:pages')} after`, after);
  expect(text).toMatch(
    /^before <!-- bench:wakes -->\nTaken monday.*<!-- \/bench:wakes --> between .*Taken tuesday.* after$/s,
  );
  expect(text.match(/\| a ratio \| (.*?) \|/g)).toEqual(['| a ratio | 1.00 × |', '| a ratio | 2.50 × |']);
  expect(text.match(/\| a wake .*/g)).toEqual(['| a wake | 3 | 5.00 | 9.00 |', '| a wake | 3 | 8.00 | 9.00 |']);
  expect(() => withSections(marks('bench:wakes'), after)).toThrow(/no marks of bench:pages/);
});

test('every figure of docs/performance.md, and the few of README.md, are those of docs/bench.json', () => {
  const kept: Kept = JSON.parse(readFileSync(join(ROOT, 'docs', 'bench.json'), 'utf8'));
  expect(Object.keys(kept)).toEqual(PART_NAMES);
  const performance = readFileSync(join(ROOT, 'docs', 'performance.md'), 'utf8');
  expect(withSections(performance, kept)).toBe(performance);
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  expect(HEADLINES.length).toBeLessThanOrEqual(8);
  expect(withHeadlines(readme, kept, HEADLINES)).toBe(readme);
});

test('outside their tables neither text claims a figure of its own', () => {
  for (const path of ['README.md', 'docs/performance.md']) {
    const text = readFileSync(join(ROOT, path), 'utf8')
      .replaceAll(/<!-- (bench\S*) -->[\s\S]*?<!-- \/\1 -->/g, '')
      .replaceAll(/```[\s\S]*?```/g, '');
    expect(text.match(/\d[\d.,]*\s*(?:ms|µs|×|MB\/s)(?![a-z])/g), path).toBeNull();
  }
});

test('only the parts that are named run, in their own order, and all of them without a name', () => {
  expect(parseOptions([]).parts).toEqual(PART_NAMES);
  expect(parseOptions(['--only', 'pages, wakes', '--quick'])).toMatchObject({ parts: ['wakes', 'pages'], quick: true });
  for (const name of PART_NAMES) expect(USAGE).toMatch(new RegExp(`^ +${name} `, 'm'));
});

test('an unknown part ends the run before anything is measured, and says which there are', () => {
  const run = spawnSync(
    process.execPath,
    ['--no-warnings', join(ROOT, 'scripts', 'bench.ts'), '--only', 'wakes,lunch'],
    {
      encoding: 'utf8',
    },
  );
  expect(run.status).toBe(1);
  expect(run.stderr).toContain(`There is no part "lunch". There are ${PART_NAMES.join(', ')}.`);
  expect(run.stdout).toBe('');
});
