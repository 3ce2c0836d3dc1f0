/** Components and workflows over HTTP: calls, streams, wakes, the ledger, refusals. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ComponentCallAnswer, Event, Instance, Problem, WorkflowCallAnswer } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const COUNTER = 'let n = 0; export default () => ({ n: ++n });';
const STATE = 'export const state = { get: () => n, set: (value) => { n = value; } };';

const SOURCE = `#+TITLE: Calls
* main :workflow:
:PROPERTIES:
:IMPORTS: seed:integer
:EXPORTS: total
:END:
** first :component:
#+begin_src js :in seed:integer :out rows:integer[]
export default ({ seed }) => { console.log('seed', seed); if (seed < 0) throw new Error('negative'); return { rows: [seed, seed + 1] }; };
#+end_src
** other :component:
#+begin_src js :out word:string
export default () => ({ word: 'x' });
#+end_src
** nested :workflow:
:PROPERTIES:
:DEPS: first
:IMPORTS: rows:integer[]
:EXPORTS: sum
:END:
*** add :component:
#+begin_src ts :in rows:integer[] :out sum:integer
export default ({ rows }: { rows: number[] }) => ({ sum: rows.reduce((a, b) => a + b, 0) });
#+end_src
** last :component:
#+begin_src js :deps nested,other :in sum:integer word:string :out total:string
export default ({ sum, word }) => ({ total: word + sum });
#+end_src
* counters :workflow:
** kept :component:
#+begin_src js :persist
${COUNTER} ${STATE}
#+end_src
** lost :component:
#+begin_src js
${COUNTER}
#+end_src
** writes :component:
#+begin_src js :uses vfs
export default () => { vfs.put('/made', 'x'); return 1; };
#+end_src
** undeclared :component:
#+begin_src js
export default () => vfs.get('/made');
#+end_src
`;

async function dock(id: string, more: object = {}): Promise<void> {
  await server.call('PUT', '/api/workbooks/calls?tenant=acme', SOURCE);
  const made = await server.call<Instance>('POST', '/api/instances', {
    id,
    tenant: 'acme',
    workbook: 'calls',
    ...more,
  });
  expect(made.status).toBe(201);
}

const call = <T = ComponentCallAnswer>(id: string, component: string, input?: object) =>
  server.call<T>('POST', `/api/instances/${id}/call/${component}`, input === undefined ? {} : { input });
const run = <T = WorkflowCallAnswer>(id: string, body: object) =>
  server.call<T>('POST', `/api/instances/${id}/call`, body);

test('components find the variables of their sandbox, those of now, also where they are kept', async () => {
  const source = `#+TITLE: Env
* main :workflow:
** injs :component:
#+begin_src js
const first = env.STAGE; export default () => { const said = first + env.STAGE + env.NONE; env.NONE = 'x'; return { said }; };
#+end_src
** inpy :component:
#+begin_src python
import os
def run(input):
    said = os.environ["STAGE"] + str(os.environ.get("NONE"))
    os.environ["NONE"] = "x"
    return {"said": said}
#+end_src
** insh :component:
#+begin_src sh
printf '{"said":"%s"}' "$STAGE$NONE"
#+end_src
`;
  const stored = await server.call('PUT', '/api/workbooks/env?tenant=acme', source);
  expect(stored.text).toContain('"problems":0');
  await server.call('POST', '/api/instances', { id: 'with-env', tenant: 'acme', workbook: 'env' });
  const said = async () => {
    const all = [];
    for (const name of ['injs', 'inpy', 'insh']) {
      const { output, error } = (await call('with-env', name)).json;
      all.push(error?.message ?? (output as { said: string } | undefined)?.said);
    }
    return all;
  };
  await server.call('PATCH', '/api/instances/with-env/env', { env: { STAGE: 'one' } });
  expect(await said()).toEqual(['oneoneundefined', 'oneNone', 'one']);
  await server.call('PATCH', '/api/instances/with-env/env', { env: { STAGE: 'two' } });
  expect(await said()).toEqual(['onetwoundefined', 'twoNone', 'two']);
});

test('a component is called by name or path; it wakes the sandbox, and memory ends with the start', async () => {
  await dock('one');
  const first = await call('one', 'lost');
  expect([first.status, first.json.output, first.json.woke]).toEqual([200, { n: 1 }, 'cold']);
  expect((await call('one', 'counters%2Flost')).json).toMatchObject({
    output: { n: 2 },
    woke: 'hot',
    timed_out: false,
  });
  expect((await call('one', 'kept')).json.output).toEqual({ n: 1 });
  await server.call('POST', '/api/instances/one/suspend', {});
  expect((await call('one', 'lost')).json).toMatchObject({ output: { n: 1 }, woke: 'cold' });
  expect((await call('one', 'kept')).json.output).toEqual({ n: 2 });
  await server.call('POST', '/api/instances/one/suspend', {});
  await server.call('POST', '/api/instances/one/freeze', {});
  expect((await call('one', 'kept')).json.output).toEqual({ n: 3 });
});

test('what a component does wrong is in its answer; what is not there is refused', async () => {
  await dock('wrong');
  expect((await call('wrong', 'first', { seed: -1 })).json).toMatchObject({
    error: { kind: 'component', component: 'main/first', message: expect.stringContaining('Error: negative') },
    logs: [{ stream: 'stdout', text: 'seed -1\n', component: 'main/first' }],
  });
  expect((await call('wrong', 'first', { seed: 'x' })).json.error).toMatchObject({ kind: 'input' });
  expect((await call('wrong', 'undeclared')).json.error).toMatchObject({
    kind: 'capability',
    message: expect.stringContaining(':uses vfs'),
  });
  expect((await call<Problem>('wrong', 'nobody')).status).toBe(404);
  expect((await call<Problem>('wrong', '..%2F..%2Fetc')).status).toBe(404);
  await server.call('POST', '/api/instances', { id: 'bare', tenant: 'acme' });
  expect((await call<Problem>('bare', 'first')).json).toMatchObject({ code: 'conflict' });
  expect((await run<Problem>('bare', {})).json).toMatchObject({ code: 'conflict' });
});

test('a workflow runs in the order of its dependencies, a nested one fed by its parent', async () => {
  await dock('flow');
  const { status, json } = await run('flow', { world: 'main', input: { seed: 3 } });
  expect([status, json.outputs]).toEqual([200, { total: 'x7' }]);
  expect(json.components.map(({ path, state }) => [path, state]).sort()).toEqual([
    ['main/first', 'done'],
    ['main/last', 'done'],
    ['main/nested/add', 'done'],
    ['main/other', 'done'],
  ]);
  const failed = await run('flow', { world: 'main', input: { seed: -1 } });
  const states = new Map(failed.json.components.map(({ path, state, because }) => [path, because ?? state]));
  expect(Object.fromEntries(states)).toEqual({
    'main/first': 'failed',
    'main/other': 'done',
    'main/nested/add': 'main/first failed',
    'main/last': 'main/nested/add was skipped',
  });
  expect(failed.json.outputs).toEqual({});
  expect((await run<Problem>('flow', {})).json).toMatchObject({
    code: 'validation',
    candidates: ['main', 'counters'],
    hint: 'Give the field "world" one of main, counters.',
  });
  expect((await run<Problem>('flow', { world: 'main' })).json).toMatchObject({ code: 'validation' });
  expect((await run<Problem>('flow', { world: 'none' })).status).toBe(404);
});

test('who follows a call sees its wake, its components and its logs as they happen', async () => {
  await dock('stream');
  const { text, headers } = await server.call(
    'POST',
    '/api/instances/stream/call',
    { world: 'main', input: { seed: 1 } },
    {
      headers: { accept: 'text/event-stream' },
    },
  );
  expect(headers['content-type']).toContain('text/event-stream');
  const events = [...text.matchAll(/^event: (\w+)\ndata: (.+)$/gm)].map(([, event, data]) => [
    event,
    JSON.parse(data ?? ''),
  ]);
  expect(events[0]).toEqual(['woke', { woke: 'cold', from: 'created', took_ms: expect.any(Number) }]);
  expect(events).toContainEqual(['running', { path: 'main/first' }]);
  expect(events).toContainEqual(['log', { stream: 'stdout', text: 'seed 1\n', component: 'main/first' }]);
  expect(events).toContainEqual(['component', expect.objectContaining({ path: 'main/last', state: 'done' })]);
  expect(events.at(-1)).toEqual(['result', expect.objectContaining({ outputs: { total: 'x3' } })]);
});

test('each call is in the ledger with its duration, and in the event log of the workspace', async () => {
  await dock('log');
  await call('log', 'writes');
  await call('log', 'first', { seed: -1 });
  for (let at = 0; at < 3; at += 1) await call('log', 'lost');
  const written = async () => {
    const { json } = await server.call<Event[]>('GET', '/api/instances/log/events?limit=50');
    return json.filter(({ type }) => type.startsWith('component.'));
  };
  await expect.poll(async () => (await written()).length).toBeGreaterThanOrEqual(3);
  const lines = await written();
  expect(lines.find(({ reason }) => reason === 'counters/writes')).toMatchObject({
    type: 'component.called',
    took_ms: expect.any(Number),
    actor: 'key:admin',
  });
  expect(lines.find(({ type }) => type === 'component.failed')).toMatchObject({
    reason: 'main/first',
    error: expect.stringContaining('negative'),
  });
  expect(lines.filter(({ reason }) => reason?.startsWith('counters/lost')).length).toBeGreaterThan(0);
  const log = async () => (await server.call('GET', '/api/instances/log/volumes/workspace/events.org')).text;
  await expect.poll(async () => [...(await log()).matchAll(/^\* /gm)].length).toBe(5);
  expect(await log()).toContain(':COMPONENT: counters/writes');
});

test('compute runs components and nothing else', async () => {
  await dock('compute', { policy: 'compute' });
  expect((await call('compute', 'writes')).json.output).toBe(1);
  const exec = await server.call<Problem>('POST', '/api/instances/compute/exec', { command: 'true' });
  expect([exec.status, exec.json.code]).toEqual([403, 'capability']);
  const evaluated = await server.call<Problem>('POST', '/api/instances/compute/eval', { language: 'js', code: '1' });
  expect([evaluated.status, evaluated.json.code]).toEqual([403, 'capability']);
});

test('components with fetch reach what the policy and the lists allow, and no more', async () => {
  const upstream = createServer((request, response) => void response.end(`got ${request.url}`));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const source = `#+TITLE: Fetching
* main :workflow:
** js :component:
#+begin_src js :uses fetch :in path:string :out got:string
export default async ({ path }) => ({ got: await (await fetch('${origin}' + path)).text() });
#+end_src
** sh :component:
#+begin_src sh :uses fetch :in path:string :out said:string
curl -sS "${origin}$(jq -r .path)" | jq -R '{said: .}'
#+end_src
`;
  await server.call('PUT', '/api/workbooks/fetching?tenant=acme', source);
  const made = { tenant: 'acme', workbook: 'fetching', policy: 'network' };
  expect((await server.call('POST', '/api/instances', { ...made, id: 'fetching' })).status).toBe(201);
  const url = `${origin}/open/`;
  const ofTenant = await server.call('PUT', '/api/tenants/acme/network', { rules: [{ url, private: true }] });
  const own = await server.call('PUT', '/api/instances/fetching/network', { rules: [{ url }] });
  expect([ofTenant.status, own.status]).toEqual([200, 200]);
  for (const [name, output] of [
    ['js', 'got'],
    ['sh', 'said'],
  ] as const) {
    const open = (await call('fetching', name, { path: '/open/a' })).json;
    expect([name, open.error, open.output]).toEqual([name, undefined, { [output]: 'got /open/a' }]);
    const closed = (await call('fetching', name, { path: '/closed' })).json;
    expect([name, closed.error?.kind]).toMatchObject([name, expect.stringMatching(/^(?:component|output)$/)]);
  }
  upstream.close();
});

test('a running start keeps the version that it began with; the next one has the new one', async () => {
  await dock('versions');
  expect((await call('versions', 'lost')).json.output).toEqual({ n: 1 });
  await server.call('PUT', '/api/workbooks/calls?tenant=acme', SOURCE.replaceAll('++n', 'n += 10'));
  await server.call('PATCH', '/api/instances/versions', { workbook: 'calls', accept_changes: true });
  expect((await call('versions', 'lost')).json.output).toEqual({ n: 2 });
  await server.call('POST', '/api/instances/versions/suspend', {});
  expect((await call('versions', 'lost')).json.output).toEqual({ n: 10 });
});
