/**
 * The shell, held against the recorded answers of GNU's bash: the shape of the table, and a part of it and of the
 * trials that takes some seconds. `npm run shell:conformance` runs them whole.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareAnswers, normalized } from './answer.ts';
import { drawInvocations } from './generator.ts';
import { OurShell } from './our-shell.ts';
import { Reference } from './reference.ts';
import { FRAMEWORK_SUBJECTS, readTable, readTrials } from './table.ts';

/** The share of the part that is the same; what is not is listed in docs/shell.md. */
const FLOOR = 0.95;
const PART = 2;
const MOST_PER_FORM = 12;
const LEAST = 400;
/** A change of files costs a worker each. */
const WRITES =
  />(?! *\/dev\/null|&)|-i\b|\b(?:touch|mkdir|cp|mv|rm|ln|gzip|gunzip|patch|split|mktemp|tee|tar c|install)\b|-delete|-o\b/;
const MOST_WRITES = 8;

const table = readTable();
const trials = readTrials();
const recorded = new Reference();
const shell = new OurShell(process.env.WB_CACHE);

beforeAll(() => shell.start());
afterAll(() => shell.close());

/** Always the same part, spread over the whole table and over the trials. */
function part(): string[] {
  const chosen = [...table, ...trials]
    .map(({ command }) => command)
    .filter(
      (command) => Number.parseInt(createHash('sha256').update(command).digest('hex').slice(0, 6), 16) % PART === 0,
    );
  const writes = chosen.filter((command) => WRITES.test(command)).slice(0, MOST_WRITES);
  return chosen.filter((command) => !WRITES.test(command) || writes.includes(command));
}

test('the table is as large as it says, with few of each form, and a third of it is from recorded runs', () => {
  expect(table.length).toBeGreaterThanOrEqual(LEAST);
  expect(new Set(table.map(({ command }) => command)).size).toBe(table.length);
  const forms = Map.groupBy(table, ({ subject, form }) => `${subject}: ${form}`);
  expect([...forms].filter(([, group]) => group.length > MOST_PER_FORM).map(([name]) => name)).toEqual([]);
  const fromFrameworks = table.filter(({ subject }) => FRAMEWORK_SUBJECTS.includes(subject));
  expect(fromFrameworks.length * 3).toBeGreaterThanOrEqual(table.length);
  const all = [...table, ...trials];
  expect(new Set(all.map(({ command }) => command)).size).toBe(all.length);
  expect(all.filter(({ command }) => recorded.get(command) === null)).toEqual([]);
});

test('a part of the table and of the trials is answered as bash answers it, the rest is listed, and nothing is empty success', async () => {
  const list = readFileSync(new URL('../../../../docs/shell.md', import.meta.url), 'utf8');
  const different: string[] = [];
  const empty: string[] = [];
  const commands = part();
  for (const command of commands) {
    const real = recorded.get(command);
    if (real === null) throw new Error(`Its answer was not recorded: ${command}`);
    const verdict = compareAnswers(command, normalized(await shell.run(command)), real);
    if (verdict === 'empty success') empty.push(command);
    if (verdict !== 'same') different.push(command);
  }
  expect(empty).toEqual([]);
  expect(different.filter((command) => !list.includes(command.replace(/^/gm, '      ')))).toEqual([]);
  expect(commands.length).toBeGreaterThan(270);
  expect(1 - different.length / commands.length).toBeGreaterThanOrEqual(FLOOR);
});

test('the same seed draws the same invocations', () => {
  expect(drawInvocations(7, 50)).toEqual(drawInvocations(7, 50));
  expect(drawInvocations(7, 50)).not.toEqual(drawInvocations(8, 50));
});
