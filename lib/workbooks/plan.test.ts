import { expect, test } from 'vitest';
import { findComponent } from './docked.ts';
import { readSource } from './plan.ts';

const KEEPING = 'export default (input) => input;\nexport const state = { get: () => 0, set: () => {} };';

/** A component heading with its block. */
function component(
  name: string,
  args = '',
  body = 'export default (input) => input;',
  stars = '**',
  lang = 'js',
): string {
  return `${stars} ${name} :component:\n#+begin_src ${lang} ${args}\n${body}\n#+end_src\n`;
}

const found = (source: string) =>
  readSource(source).problems.map(({ code, line, column, name }) => `${code} ${line}:${column} ${name ?? ''}`.trim());

test('a source with worlds, components and a sub-workflow becomes its plan', () => {
  const source = `#+TITLE: Monthly report
Some words.
* etl :workflow:
:PROPERTIES:
:SCHEDULE: 0 3 * * *
:TIMEZONE: Europe/Zurich
:END:
** About
Prose between a world and its component changes nothing.
${component('read', ':uses vfs :in path?:string :out rows:object[]', 'def run(i):\n  return {"rows": []}', '***', 'py')}
${component('sum', ':deps read :in rows:array :out total:integer :persist', KEEPING, '**', 'TypeScript')}
** render :workflow:
:PROPERTIES:
:DEPS: sum
:END:
${component('page', ':in total:number limit?:integer :out html:string :persist', KEEPING, '***')}
* extra :component:
SCHEDULED: <2026-07-01 Wed 03:00 +1d>
#+begin_src sh
echo '{}'
#+end_src
`;
  const { title, plan, problems, durable, components } = readSource(source);
  expect(problems).toEqual([]);
  expect({ title, durable, components }).toEqual({
    title: 'Monthly report',
    durable: ['etl/sum', 'etl/render/page'],
    components: 4,
  });
  const [etl, main] = plan?.worlds ?? [];
  expect(etl).toMatchObject({
    name: 'etl',
    path: 'etl',
    line: 3,
    schedule: { cron: '0 3 * * *', timezone: 'Europe/Zurich' },
    imports: [
      { name: 'path', type: 'string', optional: true },
      { name: 'limit', type: 'integer', optional: true },
    ].slice(0, 1),
    exports: [{ name: 'html', type: 'string', optional: false }],
    edges: [
      { from: 'read', to: 'sum', name: 'rows' },
      { from: 'sum', to: 'render', name: 'total' },
    ],
  });
  expect(etl?.components[0]).toMatchObject({
    name: 'read',
    path: 'etl/read',
    lang: 'python',
    uses: ['vfs'],
    src: 'def run(i):\n  return {"rows": []}\n',
    persist: false,
  });
  expect(etl?.components[1]).toMatchObject({ lang: 'ts', deps: ['read'], persist: true });
  expect(etl?.workflows[0]).toMatchObject({
    path: 'etl/render',
    deps: ['sum'],
    imports: [
      { name: 'total', type: 'number' },
      { name: 'limit', type: 'integer', optional: true },
    ],
    components: [{ path: 'etl/render/page' }],
  });
  expect(main).toMatchObject({
    name: 'main',
    components: [{ name: 'extra', lang: 'sh', schedule: { cron: null, at: 1_782_874_800, repeat: '+1d' } }],
  });
});

test('every problem is told at once, with its place and what would mend it', () => {
  const source = `* w :workflow:
${component('Read Rows', ':uses vsf :out rows:object[] :colour red')}
${component('sum', ':deps read-rows,reed :in rows:string :out total:integer')}
${component('sum', ':deps other :in nothing:string :out total:integer', 'x', '**', 'cobol')}
** other :component:
No block here.
** two :component:
#+begin_src js :in x :out y:nummber
1
#+end_src
#+begin_src js
2
#+end_src
** cut :component:
#+begin_src js
1
** after
`;
  const { plan, problems } = readSource(source);
  expect(plan).toBeNull();
  expect(found(source)).toEqual([
    'name 2:1 read-rows',
    'capability 3:22 read-rows',
    'syntax 3:45 read-rows',
    'dependency 8:32 sum',
    'type 8:41 sum',
    'duplicate 12:1 sum',
    'language 13:1 sum',
    'input 13:35 sum',
    'output_taken 13:55 sum',
    'component_body 17:1 other',
    'type 20:20 two',
    'type 20:27 two',
    'component_body 23:1 two',
    'syntax 27:1 cut',
  ]);
  expect(problems[0]?.mend).toBe('Call it read-rows.');
  expect(problems[1]?.mend).toMatch(/^Did you mean vfs\?/);
  expect(problems.every(({ message, mend }) => message.endsWith('.') && /[.?]$/.test(mend))).toBe(true);
});

test.each([
  ['two that wait for each other', ':deps b', ':deps a', ['cycle 2:1 a']],
  ['one that waits for itself', ':deps a', '', ['cycle 2:1 a']],
])('%s are a cycle', (_what, a, b, problems) => {
  expect(found(`* w :workflow:\n${component('a', a)}${component('b', b)}`)).toEqual(problems);
});

test('a long chain has no cycle', () => {
  const chain = Array.from({ length: 1000 }, (_, i) =>
    component(`c${i}`, i === 0 ? ':out o0:any' : `:deps c${i - 1} :in o${i - 1}:any :out o${i}:any`),
  );
  const { plan, problems } = readSource(`* w :workflow:\n${chain.join('')}`);
  expect(problems).toEqual([]);
  expect(plan?.worlds[0]?.edges).toHaveLength(999);
});

test.each([
  ['integer', 'number', true],
  ['number', 'integer', false],
  ['object[]', 'array', true],
  ['array', 'string[]', true],
  ['integer[]', 'number[]', true],
  ['string[]', 'object[]', false],
  ['string', 'bytes', false],
  ['bytes', 'any', true],
  ['any', 'object', true],
])('an output of %s may be an input of %s: %s', (output, input, meets) => {
  const source = `* w :workflow:\n${component('a', `:out x:${output}`)}${component('b', `:deps a :in x:${input}`)}`;
  expect(found(source)).toEqual(meets ? [] : ['type 7:28 b']);
});

test('what is under a COMMENT heading is not there', () => {
  expect(found(`* COMMENT old :workflow:\n${component('a', ':deps x')}* w :workflow:\n${component('b')}`)).toEqual([]);
});

test('a second main world, a component in a component and a component that is a workflow are refused', () => {
  expect(found(`${component('a', '', '1', '*')}${component('b', '', '1', '**')}`)).toEqual(['component_body 5:1 b']);
  expect(found(`${component('a', '', '1', '*')}* main :workflow:\n${component('b')}`)).toEqual(['duplicate 5:1 main']);
  expect(found('* a :component:workflow:\n')).toEqual(['syntax 1:1 a', 'component_body 1:1'].toSorted().toReversed());
});

test('a wrong time zone, cron or timestamp is a problem at its place', () => {
  const world = (lines: string) => `* w :workflow:\n${lines}\n${component('a')}`;
  const drawer = (lines: string) => world(`:PROPERTIES:\n${lines}\n:END:`);
  expect(found(drawer(':SCHEDULE: 0 25 * * *'))).toEqual(['schedule 3:12 w']);
  expect(found(drawer(':SCHEDULE: @daily\n:TIMEZONE: Mars/Olympus'))).toEqual(['schedule 4:12 w']);
  expect(found(world('SCHEDULED: <2026-02-31 Tue 03:00>'))).toEqual(['schedule 2:12 w']);
});

test.each(['+1x', '+0d', 'every day', '1d', '+1d or so'])(
  'a timestamp with “%s” is a problem, and not one that is due once',
  (behind) => {
    const source = `* w :workflow:\nSCHEDULED: <2026-11-23 Mon 03:00 ${behind}>\n${component('a')}`;
    expect(found(source)).toEqual(['schedule 2:12 w']);
    expect(readSource(source).problems[0]?.message).toContain(behind);
  },
);

test.each([
  ['2026-11-23 Mon', null],
  ['2026-11-23 03:00', null],
  ['2026-11-23 Mon 03:00-04:30 ++2w', '++2w'],
  ['2026-11-23 Mon .+1d/3d', '.+1d'],
  ['2026-11-23 Mon 03:00 +1m --2d', '+1m'],
  ['2026-11-23 lun. 03:00 -1d', null],
])('a timestamp <%s> is due as org has it', (stamp, repeat) => {
  const { plan } = readSource(`* w :workflow:\nSCHEDULED: <${stamp}>\n${component('a')}`);
  expect(plan?.worlds[0]?.schedule).toMatchObject({ repeat });
});

test('a cron expression that is never due is a problem', () => {
  const drawer = ':PROPERTIES:\n:SCHEDULE: 0 0 30 2 *\n:END:';
  const { problems } = readSource(`* w :workflow:\n${drawer}\n${component('a')}`);
  expect(problems).toMatchObject([{ code: 'schedule', line: 3, column: 12 }]);
  expect(problems[0]?.message).toContain('it is never due');
});

test('what is scheduled and needs inputs is a problem: a firing gives none', () => {
  const drawer = ':PROPERTIES:\n:SCHEDULE: 0 3 * * *\n:END:';
  const world = (args: string) => found(`* w :workflow:\n${drawer}\n${component('a', args)}`);
  expect(world(':in x:string')).toEqual(['schedule 3:12 w']);
  expect(world(':in x?:string')).toEqual([]);
  const one = (args: string) =>
    found(`* w :workflow:\n** b :component:\nSCHEDULED: <2026-11-23 Mon>\n#+begin_src js ${args}\n1\n#+end_src\n`);
  expect(one(':in x:string')).toEqual(['schedule 3:12 b']);
  expect(one(':in x?:string')).toEqual([]);
});

test('a sh component keeps no state, and says so before it runs', () => {
  expect(found(component('a', ':persist', 'true', '*', 'sh'))).toEqual(['syntax 2:16 a']);
  expect(found(component('a', ':persist no', 'true', '*', 'bash'))).toEqual([]);
});

test('a component that keeps its state has one, in every form that its language has for it', () => {
  const js = (body: string, lang = 'js') => found(component('a', ':persist', body, '*', lang));
  const lacking = ['component_body 2:1 a'];
  for (const body of [
    'export const state = { get() {}, set() {} }; export default () => 1;',
    'let n = 0\nexport default () => n\nexport const state = { get: () => n, set: (kept) => { n = kept } }',
    'export default () => 1; const kept = {}; export { kept as state };',
    'export default () => 1; const state = {}; export{state}',
    'export const one = 1, state = {};',
    'export const { state, ...others } = made();',
    'export let [first, state] = made();',
    'export class state { static get() {} static set() {} }',
    'export function state() {}',
    'export /* what is kept */ const state = {};',
  ]) {
    expect([body, js(body), js(body, 'ts')]).toEqual([body, [], []]);
  }
  expect(js('export const state: { get(): number } = made();', 'ts')).toEqual([]);
  for (const body of [
    'export default () => 1;',
    'const state = {}; export default () => state;',
    'export const status = {};',
    'export const estate = {};',
  ]) {
    expect([body, js(body), js(body, 'ts')]).toEqual([body, lacking, lacking]);
  }
  const { problems } = readSource(component('a', ':persist'));
  expect(problems[0]).toMatchObject({ message: '“a” says :persist and exports no “state”.', line: 2 });
  const run = 'def run(i): return {}';
  expect(js(run, 'python')).toEqual(lacking);
  expect(js(`${run}\ndef get_state(): return 1`, 'py')).toEqual(lacking);
  expect(js(`${run}\ndef get_state(): return 1\ndef set_state(value): pass`, 'python')).toEqual([]);
  expect(js(`from kept import *\n${run}`, 'python')).toEqual([]);
  expect(found(component('a', ':persist no'))).toEqual([]);
  // An empty one has one problem, not two.
  expect(js('')).toEqual(['component_body 2:1 a']);
  // A text made to take long does not.
  const started = process.cpuUsage();
  for (const piece of ['export const ', 'export{', 'export ', 'from a import', '\n']) js(piece.repeat(40_000), 'js');
  expect(process.cpuUsage(started).user / 1e6).toBeLessThan(20);
});

test('a time in a zone is that zone’s, also where the clocks change', () => {
  const at = (zone: string, stamp: string) => {
    const source = `* w :workflow:\nSCHEDULED: <${stamp}>\n:PROPERTIES:\n:TIMEZONE: ${zone}\n:END:\n${component('a')}`;
    return new Date((readSource(source).plan?.worlds[0]?.schedule?.at ?? 0) * 1000).toISOString();
  };
  expect(at('Europe/Zurich', '2026-07-01 Wed 03:00 +1d')).toBe('2026-07-01T01:00:00.000Z');
  expect(at('Europe/Zurich', '2026-03-29 Sun 02:30')).toBe('2026-03-29T01:30:00.000Z');
  expect(at('Europe/Zurich', '2026-10-25 Sun 02:30')).toBe('2026-10-25T00:30:00.000Z');
  expect(at('America/New_York', '2026-01-01 Thu')).toBe('2026-01-01T05:00:00.000Z');
});

test('a wasm component has a module in base64 or a file', () => {
  const wasm = (args: string, body: string) => found(component('a', args, body, '*', 'wasm'));
  expect(wasm('', 'AGFzbQEA\nAAA=')).toEqual([]);
  expect(wasm('', 'bm90IHdhc20=')).toEqual(['component_body 2:1 a']);
  expect(wasm(':file /lib/a.wasm', '')).toEqual([]);
  expect(wasm(':file /lib/a.wasm :persist memory', '')).toEqual([]);
  expect(found(component('a', ':persist memory'))).toEqual([expect.stringMatching(/^syntax /)]);
  expect(wasm(':file ../../etc/passwd', '')).toEqual(['component_body 2:1 a']);
});

test('a component is found by its name when it has it alone, else by its path', () => {
  const { plan } = readSource(`* w :workflow:\n${component('a')}${component('b')}* v :workflow:\n${component('a')}`);
  if (plan === null) throw new Error('It has a plan.');
  expect(findComponent(plan, 'b').path).toBe('w/b');
  expect(findComponent(plan, 'v/a').path).toBe('v/a');
  expect(() => findComponent(plan, 'a')).toThrow(/name of 2 components/);
  expect(() => findComponent(plan, '__proto__')).toThrow(/no component/);
});
