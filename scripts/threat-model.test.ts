import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The parts of the document that claim nothing: advice to whoever runs it, and the names of the tests themselves. */
const NO_CLAIMS = ['What this asks of you', 'Tests'];

const lines = readFileSync(`${ROOT}docs/threat-model.md`, 'utf8').split('\n');
const notes = new Map<string, { file: string; title: string }>();
/** Notes whose number another one has: who reads the document is led to the first of them alone. */
const doubled: string[] = [];
/** Every line below the introduction that is no note, with the part that it is in. */
const body: { part: string; line: string }[] = [];
let part: string | null = null;
for (const line of lines) {
  const [, note, file, title] = /^\[\^(\d+)\]: `([^`]+)` (.+)$/.exec(line) ?? [];
  part = /^## (.+)$/.exec(line)?.[1] ?? part;
  if (note !== undefined && file !== undefined && title !== undefined) {
    if (notes.has(note)) doubled.push(note);
    notes.set(note, { file, title });
  } else if (part !== null && line !== '' && !line.startsWith('#')) body.push({ part, line });
}
/** The table of what each wall holds is compared with what an escaped worker does in walls.test.ts. */
const claims = body.filter(
  ({ part, line }) => !NO_CLAIMS.includes(part) && !(part === 'The second wall' && line.startsWith('|')),
);
const sentences = claims.filter(({ line }) => line.startsWith('- ')).map(({ line }) => line);

test('every sentence of the threat model is a claim with a test, and there is no prose beside them', () => {
  expect(sentences.length).toBeGreaterThan(150);
  expect(sentences.filter((line) => !/^- [^.]+(?:\.(?=\S)[^.[]+)*\.(?:\[\^\d+\])+$/.test(line))).toEqual([]);
  const others = claims.filter(({ line }) => !line.startsWith('- '));
  expect(others.filter(({ line }) => !/^In `[^`]+`(?:, `[^`]+`)*\.$/.test(line))).toEqual([]);
  expect(
    body.filter(({ part, line }) => part === 'Tests' || (NO_CLAIMS.includes(part) && !line.startsWith('- '))),
  ).toEqual([]);
});

test('every note of the threat model has a number of its own', () => {
  expect(doubled).toEqual([]);
});

test('every test that the threat model names is there, under its title, and is named for something', () => {
  const used = new Set(sentences.flatMap((line) => [...line.matchAll(/\[\^(\d+)\]/g)].map((match) => match[1])));
  expect([...used].filter((note) => !notes.has(note ?? ''))).toEqual([]);
  expect([...notes.keys()].filter((note) => !used.has(note))).toEqual([]);
  const missing = [...notes.values()].filter(({ file, title }) => {
    if (!existsSync(ROOT + file)) return true;
    const code = readFileSync(ROOT + file, 'utf8').replaceAll("\\'", "'");
    return !["'", '`', '"'].some((quote) => code.includes(`${quote}${title}${quote},`));
  });
  expect(missing).toEqual([]);
});

test('every file that the threat model names is there', () => {
  const named = claims.flatMap(({ line }) =>
    line.startsWith('In ') ? [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '') : [],
  );
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter((file) => !existsSync(ROOT + file))).toEqual([]);
});
