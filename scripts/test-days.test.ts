import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FILE_DAYS, partOf } from '../lib/testing/draw.ts';
import { ROOT } from './build.ts';
import { filesLeftOut, OF_THE_DAY, TABLES, TEST_FILES } from './test-days.ts';
import { sortTests } from './test-projects.ts';

const all = TABLES.flat();
const specs = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'e2e/*.spec.ts'], {
  cwd: ROOT,
  encoding: 'utf8',
}).split('\n');
const known = new Set([...Object.values(sortTests(ROOT)).flat(), ...specs]);

test('each file of the second level is a test, on one day of three', () => {
  expect(TABLES).toHaveLength(FILE_DAYS);
  expect(all.length).toBeGreaterThan(60);
  expect(new Set(all.map(({ file }) => file)).size).toBe(all.length);
  expect(all.filter(({ file }) => !known.has(file))).toEqual([]);
});

test('each names a test of the first level, which runs every day', () => {
  const drawn = new Set(all.map(({ file }) => file));
  expect(all.filter(({ daily }) => !known.has(daily) || drawn.has(daily))).toEqual([]);
  const missing = all.filter(({ daily, title }) => !readFileSync(join(ROOT, daily), 'utf8').includes(title));
  expect(missing.map(({ daily, title }) => `${daily} > ${title}`)).toEqual([]);
});

test('the three days cost the same, give or take a tenth, in the browser too', () => {
  for (const isOne of [() => true, (file: string) => file.endsWith('.spec.ts')]) {
    const sums = TABLES.map((table) =>
      table.filter(({ file }) => isOne(file)).reduce((sum, { seconds }) => sum + seconds, 0),
    );
    expect(Math.max(...sums) / Math.min(...sums), sums.join()).toBeLessThan(1.1);
  }
});

test('a run of everything leaves out the files of other days, and one that names files leaves out none', () => {
  const day = (number: string, files = OF_THE_DAY): string[] =>
    JSON.parse(
      execFileSync(
        process.execPath,
        [
          '--input-type=module',
          '--eval',
          `import { filesLeftOut } from ${JSON.stringify(join(ROOT, 'scripts', 'test-days.ts'))};
           process.stdout.write(JSON.stringify(filesLeftOut(process.env)));`,
        ],
        { env: { NODE_ENV: 'test', WB_TEST_DRAW: number, [TEST_FILES]: files }, encoding: 'utf8' },
      ),
    );
  const days = ['20784', '20785', '20786', '20787'].map((number) => day(number));
  expect(days[0]).toEqual(days[3]);
  for (const { file } of all) expect(days.slice(0, 3).filter((left) => left.includes(file))).toHaveLength(2);
  expect(day('all')).toEqual([]);
  expect(day('20785', '')).toEqual([]);
  expect(filesLeftOut({})).toEqual([]);
});

test('a list that is tried in parts is whole after as many rounds, whichever comes first', () => {
  const list = Array.from({ length: 17 }, (_, at) => at);
  for (const first of [0, 1, 6928]) {
    const parts = [0, 1, 2].map((round) => partOf(list, 3, first + round));
    expect(parts.flat().toSorted((one, other) => one - other)).toEqual(list);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(6);
  }
});
