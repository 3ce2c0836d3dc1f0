/** Sources that are made to take long, or much, or what is not theirs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_COMPONENTS, MAX_SOURCE_BYTES, outlineOf } from './outline.ts';
import { readSource } from './plan.ts';
import { SourceParser } from './source-parser.ts';

const NESTED = Array.from({ length: 2000 }, (_, n) => `${'*'.repeat(n + 1)} h${n} :workflow:\n`).join('');
const MANY = '* c :component:\n'.repeat(100_000);
/** The parser takes time that grows with the square of the lines of one heading. */
const SLOW = `* c :component:\n${'a line\n\n'.repeat(200_000)}`;
const GOOD = '* a :component:\n#+begin_src js :out n:integer\n1\n#+end_src\n';

let parser: SourceParser;
beforeAll(() => {
  parser = new SourceParser({ timeoutMs: 1500 });
});
afterAll(() => parser.stop());

const refusal = (source: string) =>
  parser.parse('acme', source).then(
    () => 'read',
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  );

test('headings that are nested too deep are refused before they are parsed', async () => {
  expect(await refusal(NESTED)).toBe('validation: Line 17: A heading is 17 levels deep; at most 16 are taken.');
  expect(await refusal(`${'*'.repeat(1_000_000)} x\n`)).toMatch(/1000000 levels deep/);
});

test('too many components, and too many headings, are refused before they are parsed', async () => {
  expect(await refusal(MANY)).toBe(`validation: Line ${MAX_COMPONENTS + 1}: There are more than 10000 components.`);
  expect(await refusal('* x\n'.repeat(100_000))).toMatch(/more than 20000 headings/);
});

test('the look before the parser takes time that grows with the length alone', () => {
  const inputs = [
    NESTED,
    MANY,
    SLOW,
    '\n'.repeat(MAX_SOURCE_BYTES),
    '*'.repeat(MAX_SOURCE_BYTES),
    '\n*'.repeat(MAX_SOURCE_BYTES / 2),
    '\n*x'.repeat(MAX_SOURCE_BYTES / 3),
    `* ${'x'.repeat(90)} :a:\n`.repeat(19_000),
    `* x${' '.repeat(MAX_SOURCE_BYTES)}:component:\n`,
    `* ${':a'.repeat(MAX_SOURCE_BYTES / 2)}:\n`,
  ];
  const began = process.cpuUsage();
  for (const text of inputs) outlineOf(text);
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(inputs.length * 100);
});

test('a source that takes the parser too long ends its process, and the next one is read', async () => {
  expect(await refusal(SLOW)).toBe('validation: Reading the source takes more time than it may: 1.5 seconds.');
  expect(await parser.parse('acme', GOOD)).toMatchObject({ components: 1, problems: [] });
});

test('a source that takes the parser too much memory ends its process, and the next one is read', async () => {
  const small = new SourceParser({ memoryBytes: 96 * 1024 * 1024 });
  try {
    const large = `* c :component:\n${'| a | b | c |\n'.repeat(20_000)}`;
    await expect(small.parse('acme', large)).rejects.toMatchObject({
      code: 'validation',
      message: 'Reading the source takes more memory than it may: 96 MiB.',
    });
    expect(await small.parse('acme', GOOD)).toMatchObject({ components: 1, problems: [] });
  } finally {
    await small.stop();
  }
});

test('who sends slow sources waits for themselves, and nobody else for them', async () => {
  const slow = [refusal(SLOW), refusal(SLOW), refusal(SLOW)];
  const began = performance.now();
  let over = 0;
  for (const each of slow) void each.then(() => (over += 1));
  expect(await parser.parse('globex', GOOD)).toMatchObject({ components: 1 });
  expect(over).toBeLessThan(3);
  const all = await Promise.all(slow);
  expect(new Set(all)).toEqual(new Set(['validation: Reading the source takes more time than it may: 1.5 seconds.']));
  // Three, one after the other, of which the first began before.
  expect(performance.now() - began).toBeGreaterThan(3 * 1500);
});

test('a tenant has at most sixteen sources waiting', async () => {
  const all = await Promise.all(Array.from({ length: 30 }, () => refusal(GOOD)));
  expect(all.filter((one) => one === 'read').length).toBeGreaterThanOrEqual(16);
  expect(all.filter((one) => one !== 'read').every((one) => one.startsWith('rate_limited'))).toBe(true);
});

test.each([
  '../../etc/passwd',
  '/etc/passwd',
  'a/b',
  'C:\\windows',
  '__proto__',
  'constructor\u0000',
  '\u202egnp.exe',
  'A'.repeat(10_000),
  '%2e%2e%2f',
  '',
])('a component cannot be called "%s"', (name) => {
  const { problems, plan } = readSource(`* ${name} :component:\n#+begin_src js\n1\n#+end_src\n`);
  expect([plan, problems[0]?.code]).toEqual([null, 'name']);
  expect(problems[0]?.name).toMatch(/^[a-z][a-z0-9_-]{0,62}$/);
  expect(JSON.stringify(problems).length).toBeLessThan(2000);
});

test('names that every object has are names like others', () => {
  const block = (name: string, args: string) => `* ${name} :component:\n#+begin_src js ${args}\n1\n#+end_src\n`;
  const { plan, problems } = readSource(
    block('constructor', ':out toString:integer') + block('valueof', ':deps constructor :in toString:integer'),
  );
  expect(problems).toEqual([]);
  expect(plan?.worlds[0]?.edges).toEqual([{ from: 'constructor', to: 'valueof', name: 'toString' }]);
  expect(readSource(block('a', ':in __proto__:any')).problems[0]?.code).toBe('type');
  expect(readSource('* a :component:\n#+begin_src constructor\n1\n#+end_src\n').problems[0]?.code).toBe('language');
});

test('a thousand problems are told, and how many more there are', () => {
  const source = Array.from({ length: 3000 }, (_, n) => `* c${n} :component:\n`).join('');
  const { problems } = readSource(source);
  expect(problems).toHaveLength(1001);
  expect(problems.at(-1)?.message).toBe('There are 2000 more problems.');
});

test('everybody depending on everybody is planned in seconds, and its cycles are told', () => {
  const names = Array.from({ length: 1000 }, (_, n) => `c${n}`);
  const deps = names.slice(0, 64).join(',');
  const source = names.map((name) => `* ${name} :component:\n#+begin_src js :deps ${deps}\n1\n#+end_src\n`).join('');
  const { plan, problems } = readSource(source);
  expect(plan).toBeNull();
  expect(problems.every(({ code }) => code === 'cycle')).toBe(true);
});
