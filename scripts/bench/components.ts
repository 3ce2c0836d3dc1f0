/** Calls of components beside a hot command, and wakes that bring state back beside wakes that do not, in turn. */
import { must, timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { execIn, poolReady, SPARE_WORKERS, suspendSandbox } from './sandboxes.ts';
import { KEY, type Running, startWinterdock } from './server.ts';
import { ratioOf } from './statistics.ts';

const EXCLUDES = {
  hot: 'a component that does work, writes files or has a state that changes, a second client, or a network.',
  wake: 'a wake from a drawer, and a first call that finds no started worker in waiting.',
};
const EXEC = 'hot exec of `true`';
const RESTORED_RECORDS = 'the same, which restores 1 MB in 20 000 objects';
/** Of one of them, as JSON. */
const RECORD_BYTES = 52;
const WITHOUT = 'first call of a suspended sandbox';

/** A module that gives back its input. */
const ECHO =
  'AGFzbQEAAAABDAJgAn9/AX5gAX8BfwMEAwABAAUDAQABBgcBfwFBgCALBxgDBm1lbW9yeQIABWFsbG9jAAEDcnVuAAIKIwMMACAArUIghiABrYQLCwAjACMAIABqJAALCAAgACABEAAL';

const component = (name: string, lang: string, source: string, args = '') =>
  `** ${name} :component:\n#+begin_src ${lang} ${args}\n${source}\n#+end_src\n`;

const STATE = `let kept = ''; export default ({ size }) => { if (size) kept = 'x'.repeat(size); return { size: kept.length }; };
export const state = { get: () => kept, set: (value) => { kept = value; } };`;

const RECORDS = `let kept = []; export default ({ count }) => {
  if (count) kept = Array.from({ length: count }, (_, id) => ({ id, name: 'record ' + id, share: id / 7 }));
  return { size: kept.length };
};
export const state = { get: () => kept, set: (value) => { kept = value; } };`;

const SOURCE = `#+TITLE: Bench
* bench :workflow:
${component('js', 'js', 'export default (input) => input;')}
${component('python', 'python', 'def run(input):\n    return input')}
${component('wasm', 'wasm', ECHO)}
${component('kept', 'js', STATE, ':persist')}
${component('records', 'js', RECORDS, ':persist')}
${component('plain', 'js', STATE)}`;

/** Calls a component and throws when it failed. */
async function call(server: Running, id: string, name: string, input: object = { a: 1 }): Promise<void> {
  const { body } = await must('POST', `${server.url}/api/instances/${id}/call/${name}`, KEY, JSON.stringify({ input }));
  const { error } = JSON.parse(body.toString());
  if (error !== undefined) throw new Error(`${name} in ${id}: ${error.message}`);
}

/** Milliseconds of the first call of a suspended sandbox, with a started worker waiting. */
async function firstCall(server: Running, id: string, name: string): Promise<number> {
  await suspendSandbox(server, id);
  await poolReady(server);
  return timed(() => call(server, id, name, {}));
}

/** `hot` and `wakes`: turns of each contender; a kept state of so many bytes. */
export async function measureComponents(size: { hot: number; wakes: number; stateBytes: number }): Promise<PartResult> {
  const server = await startWinterdock({ WB_POOL: String(SPARE_WORKERS) });
  try {
    await must('PUT', `${server.url}/api/workbooks/bench?tenant=bench`, KEY, Buffer.from(SOURCE));
    for (const id of ['hot', 'kept', 'records', 'plain'])
      await must(
        'POST',
        `${server.url}/api/instances`,
        KEY,
        JSON.stringify({ id, tenant: 'bench', workbook: 'bench' }),
      );
    for (const name of ['js', 'python', 'wasm']) await call(server, 'hot', name);
    await call(server, 'kept', 'kept', { size: size.stateBytes });
    await call(server, 'records', 'records', { count: Math.ceil(size.stateBytes / RECORD_BYTES) });
    await call(server, 'plain', 'plain', {});
    const calls = await roundRobin(size.hot, {
      exec: once(() => timed(() => execIn(server, 'hot', 'true'))),
      js: once(() => timed(() => call(server, 'hot', 'js'))),
      wasm: once(() => timed(() => call(server, 'hot', 'wasm'))),
      python: once(() => timed(() => call(server, 'hot', 'python'))),
    });
    const wakes = await roundRobin(size.wakes, {
      without: once(() => firstCall(server, 'plain', 'plain')),
      restored: once(() => firstCall(server, 'kept', 'kept')),
      records: once(() => firstCall(server, 'records', 'records')),
    });
    const hot = { floor: EXEC, excludes: EXCLUDES.hot };
    return {
      series: [
        seriesOf(EXEC, calls.exec, { excludes: EXCLUDES.hot }),
        seriesOf('hot call of a `js` component', calls.js, hot),
        seriesOf('hot call of a `wasm` component', calls.wasm, hot),
        seriesOf('hot call of a `python` component', calls.python, hot),
        seriesOf(WITHOUT, wakes.without, { excludes: EXCLUDES.wake }),
        seriesOf('the same, which restores 1 MB of state', wakes.restored, { floor: WITHOUT, excludes: EXCLUDES.wake }),
        seriesOf(RESTORED_RECORDS, wakes.records, { floor: WITHOUT, excludes: EXCLUDES.wake }),
      ],
      figures: [
        figureOf('hot `js` component / hot exec', ratioOf(calls.js, calls.exec), {
          unit: '×',
          bar: 'components: js over exec',
          excludes: EXCLUDES.hot,
        }),
        figureOf('hot `wasm` component / hot `js` component', ratioOf(calls.wasm, calls.js), {
          unit: '×',
          bar: 'components: wasm over js',
          excludes: EXCLUDES.hot,
        }),
        figureOf('hot `python` component / hot exec', ratioOf(calls.python, calls.exec), {
          unit: '×',
          bar: 'components: python over exec',
          excludes: EXCLUDES.hot,
        }),
        figureOf('first call that restores 1 MB / one that restores nothing', ratioOf(wakes.restored, wakes.without), {
          unit: '×',
          bar: 'components: restored over plain',
          excludes: EXCLUDES.wake,
        }),
        figureOf(
          'first call that restores 1 MB of objects / one that restores nothing',
          ratioOf(wakes.records, wakes.without),
          {
            unit: '×',
            bar: 'components: restored objects over plain',
            excludes: EXCLUDES.wake,
          },
        ),
      ],
    };
  } finally {
    await server.stop();
  }
}
