import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HEADLINES } from './bench/headlines.ts';
import { PART_NAMES, parseBenchOptions, USAGE } from './bench/parts.ts';
import { plotOf } from './bench/plot.ts';
import { figureOf, type Kept, keptPart, mergeParts, seriesOf, single } from './bench/result.ts';
import { exclusionList, figureTable, picturePath, seriesTable, withHeadlines, withSections } from './bench/tables.ts';
import { ROOT } from './build.ts';

const where = (taken: string) => ({ taken, node: 'v24', cpu: '2 × some' });
const EXCLUDES = 'anything but this.';
const found = (measured: number, p50: number) => ({
  series: [
    seriesOf('the floor', [[1], [1]], { excludes: EXCLUDES }),
    seriesOf('a wake', [[p50], [p50]], { floor: 'the floor', excludes: EXCLUDES }),
  ],
  figures: [
    figureOf(
      'a ratio',
      { measured, low: 0.5, high: 4 },
      { unit: '×', bar: 'wakes: large over small', excludes: EXCLUDES },
    ),
  ],
});

test('a part that did not run keeps its figures and their time, in the table too', () => {
  const before: Kept = { wakes: keptPart(found(1, 5), where('monday')), pages: keptPart(found(2, 7), where('monday')) };
  const after = mergeParts(before, { pages: keptPart(found(2.5, 8), where('tuesday')) }, ['wakes', 'pages']);
  expect(after.wakes).toEqual(before.wakes);
  expect(after.pages).toMatchObject({ taken: 'tuesday', figures: [{ measured: 2.5 }] });
  const marks = (name: string) => `<!-- ${name} -->old<!-- /${name} -->`;
  const names = ['wakes', 'pages', 'warm'];
  const text = withSections(names.map((name) => marks(`bench:${name}`)).join(' and '), after, names);
  expect(text).toMatch(
    /^<!-- bench:wakes -->\nTaken monday.*<!-- \/bench:wakes --> and .*Taken tuesday.*-->\nNot taken yet\.\n<!-- \/bench:warm -->$/s,
  );
  expect(text.match(/\| a ratio \| (.*?) \|/g)).toEqual(['| a ratio | 1.00 × |', '| a ratio | 2.50 × |']);
  expect(() => withSections(marks('bench:wakes'), after, names)).toThrow(/no marks of bench:pages/);
});

test('a table has the spread, the bar with its goal, and each series over its floor', () => {
  const { figures, series } = found(1.25, 5);
  expect(figureTable(figures)).toContain('| a ratio | 1.25 × | 0.50 to 4.00 | ≤ 1.3 × (goal 1.1) |');
  expect(seriesTable(series)).toContain('| the floor | 2 | 1.00 | 1.00 to 1.00 | – | – | – |');
  expect(seriesTable(series)).toContain('| a wake | 2 | 5.00 | 5.00 to 5.00 | – | – | 5.00 × |');
});

test('what figures do not measure is said once for all that share it', () => {
  const { figures, series } = found(1, 5);
  expect(exclusionList({ figures, series }).split('\n').at(-1)).toBe(`- All of them: ${EXCLUDES}`);
  const other = figureOf('a rate', single(3), { unit: '/s', excludes: 'a network.' });
  expect(exclusionList({ figures: [other], series })).toContain('- a rate: a network.\n- the floor; a wake: anything');
});

test('every figure of docs/performance.md, its pictures, and the few of README.md, are those of docs/bench.json', () => {
  const kept: Kept = JSON.parse(readFileSync(join(ROOT, 'docs', 'bench.json'), 'utf8'));
  expect(Object.keys(kept)).toEqual(PART_NAMES.filter((name) => name in kept));
  const performance = readFileSync(join(ROOT, 'docs', 'performance.md'), 'utf8');
  expect(withSections(performance, kept, PART_NAMES)).toBe(performance);
  for (const [name, { series, figures }] of Object.entries(kept)) {
    const plot = plotOf(name, series);
    if (plot !== null) expect(readFileSync(join(ROOT, 'docs', picturePath(name)), 'utf8'), name).toBe(plot.svg);
    for (const { what, excludes } of [...series, ...figures]) expect(excludes, what).toMatch(/^\S.*\.$/);
  }
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  expect(HEADLINES.length).toBeLessThanOrEqual(9);
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
  expect(parseBenchOptions([]).parts).toEqual(PART_NAMES);
  expect(parseBenchOptions(['--only', 'pages, wakes', '--quick'])).toMatchObject({
    parts: ['wakes', 'pages'],
    quick: true,
  });
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
