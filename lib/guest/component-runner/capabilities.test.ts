/** What a component did not declare is refused in each language, by name; what it prints is nobody's to declare. */
import { describe, expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';
import { callOne, componentOf } from './testing/component.ts';

const { open } = stage();
type Language = 'js' | 'ts' | 'python' | 'sh';

const js = (expression: string) => `export default () => { try { return ${expression}; } catch { return 'caught'; } };`;
const python = (expression: string, imports: string) => `import ${imports}
def run(input):
    try:
        return ${expression}
    except BaseException:
        return "caught"
`;

const USES: readonly (readonly [Language, 'clock' | 'random', string])[] = [
  ...['Date.now()', 'new Date().getTime()', 'Date()', 'new (class extends Date {})().getTime()'].map(
    (code) => ['js', 'clock', js(code)] as const,
  ),
  ['js', 'clock', js('new (new Date(0).constructor)().getTime()')],
  ['js', 'clock', 'const at = new Date(); export default () => 1;'],
  ['js', 'random', js('Math.random()')],
  ['ts', 'random', js('Math.random() as number')],
  ['python', 'clock', python('time.time()', 'time')],
  ['python', 'clock', python('time.monotonic()', 'time')],
  ['python', 'clock', python('datetime.datetime.now().year', 'datetime')],
  ['python', 'random', python('random.random()', 'random')],
  ['python', 'random', python('random.Random().random()', 'random')],
  ['python', 'random', python('list(os.urandom(4))', 'os')],
  ['python', 'random', python('random.SystemRandom().random()', 'random')],
  ['python', 'random', python('str(uuid.uuid4())', 'uuid')],
  ['python', 'random', python('secrets.token_hex(4)', 'secrets')],
  ['python', 'random', python('choice([1, 2])', 'os\nfrom random import choice')],
  ...['date +%s', 'date -d tomorrow +%s', 'echo $EPOCHSECONDS', 'echo $((SECONDS))', "printf '%(%s)T\\n'"].map(
    (code) => ['sh', 'clock', code] as const,
  ),
  ['sh', 'clock', "awk 'BEGIN { print systime() }'"],
  ...['echo $RANDOM', 'echo $((RANDOM % 6))', 'shuf -i 1-9 -n 1', 'echo "\\"$(uuidgen)\\""'].map(
    (code) => ['sh', 'random', code] as const,
  ),
  ['sh', 'random', "head -c 4 /dev/urandom | od -An -tu4 | tr -d ' '"],
  ['sh', 'random', "awk 'BEGIN { print rand() }'"],
];

describe.each(['js', 'ts', 'python', 'sh'] as const)('a %s component', (language) => {
  test('that uses what it did not declare is refused by name, also where it catches that, and may when it declares it', async () => {
    const process = open(`uses-${language}`);
    for (const [index, [, use, source]] of USES.filter(([of]) => of === language).entries()) {
      const path = `main/it${index}`;
      const refused = await callOne(process, componentOf(language, source, { path }));
      expect([source, refused.result]).toMatchObject([source, { state: 'failed' }]);
      expect([source, refused.result.error]).toEqual([
        source,
        {
          kind: 'capability',
          message: expect.stringContaining(`uses ${use} and does not declare it: add ":uses ${use}"`),
        },
      ]);
      const other = use === 'clock' ? 'random' : 'clock';
      const another = await callOne(process, componentOf(language, source, { path, uses: [other] }));
      expect([source, another.result.error?.kind]).toEqual([source, 'capability']);
      const granted = await callOne(process, componentOf(language, source, { path, uses: [use] }));
      expect([source, granted.result.error]).toEqual([source, undefined]);
      expect([source, granted.value]).not.toEqual([source, 'caught']);
    }
    await process.kill('killed');
  });
});

test('what is printed is in the log of the call, and nothing has to be declared for it', async () => {
  const process = open('prints');
  for (const [language, source] of [
    ['js', 'console.log("said"); export default () => { console.error("so"); return 1; };'],
    ['python', 'import sys\ndef run(input):\n    print("said")\n    print("so", file=sys.stderr)\n    return 1\n'],
    ['sh', 'echo said >&2; echo so >&2; echo 1'],
  ] as const) {
    const { value, logs } = await callOne(process, componentOf(language, source, { path: `main/${language}` }));
    expect([language, value, logs]).toEqual([language, 1, 'said\nso\n']);
  }
  await process.kill('killed');
});

test('what needs neither clock nor random numbers is not refused', async () => {
  const process = open('neither');
  for (const [language, source, value] of [
    [
      'js',
      'export default () => new Date(2026, 0, 1) instanceof Date && [new Date(0).toISOString(), Date.UTC(1970, 0, 1)];',
      ['1970-01-01T00:00:00.000Z', 0],
    ],
    [
      'python',
      `import time, random, statistics, tempfile, logging, datetime
def run(input):
    time.sleep(0.01)
    print(datetime.datetime(2026, 1, 1), time.gmtime(0).tm_year)
    return [random.Random(7).randint(1, 6), statistics.mean([1, 3])]
`,
      [3, 2],
    ],
    ['sh', 'sleep 0.1; date -u -d 1970-01-02 +%s', 86400],
  ] as const) {
    const { value: given, result } = await callOne(
      process,
      componentOf(language, source, { path: `main/${language}` }),
    );
    expect([language, result.error, given]).toEqual([language, undefined, value]);
  }
  await process.kill('killed');
});

test('fetch is refused by a policy without it, and where it is not declared; languages without it say so', async () => {
  const posix = open('no-fetch');
  for (const language of ['js', 'sh', 'python', 'wasm'] as const)
    expect((await callOne(posix, componentOf(language, '1', { uses: ['fetch'] }))).result.error).toEqual({
      kind: 'capability',
      message: 'The policy "posix" has no fetch, which "main/it" declares to use.',
    });
  await posix.kill('killed');
  const network = open('with-fetch', { policy: 'network' });
  expect(
    (await callOne(network, componentOf('python', 'def run(i): return 1', { uses: ['fetch'] }))).result.error,
  ).toEqual({
    kind: 'capability',
    message: '"main/it" declares to use fetch, which python components do not have: js, ts, sh have it.',
  });
  for (const [language, source] of [
    ['js', 'export default async () => { try { await fetch("https://a.example/"); } catch {} return 1; };'],
    ['sh', 'curl -s https://a.example/; echo 1'],
  ] as const)
    expect((await callOne(network, componentOf(language, source))).result.error).toEqual({
      kind: 'capability',
      message: expect.stringContaining('add ":uses fetch"'),
    });
  await network.kill('killed');
});
