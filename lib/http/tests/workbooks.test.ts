/** Workbooks over HTTP: sources, plans, versions, docking, upgrades. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type {
  Event,
  Instance,
  PlanAnswer,
  Problem,
  UpgradeAnswer,
  Workbook,
  WorkbookVersion,
} from '../../contract/schema.ts';
import { hadBefore } from '../../testing/earlier.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let keyOfAcme = '';
beforeAll(async () => {
  server = await startServer();
  const made = await server.call<{ key: string }>('POST', '/api/keys', {
    name: 'acme',
    role: 'tenant',
    tenant: 'acme',
  });
  keyOfAcme = made.json.key;
});
afterAll(() => server.stop());

/** A source with one component. */
function source(
  args: string,
  body = 'export default () => ({});\nexport const state = {};',
  title = 'Counter',
): string {
  return `#+TITLE: ${title}\n* count :component:\n#+begin_src js ${args}\n${body}\n#+end_src\n`;
}

const put = <T = Workbook>(id: string, text: string | Uint8Array, headers: Record<string, string> = {}) =>
  server.call<T>('PUT', `/api/workbooks/${id}?tenant=acme`, text, { headers });
const get = <T>(path: string) => server.call<T>('GET', `/api${path}`);
const patch = <T = Instance>(id: string, body: unknown) => server.call<T>('PATCH', `/api/instances/${id}`, body);
const told = (json: Problem) => json.errors?.map(({ path, message }) => `${path}: ${message}`);
const lines = async (type: string) => (await get<Event[]>(`/events?type=${type}&limit=1`)).json[0];

test('a source is stored byte for byte, with its version, hash and plan', async () => {
  const text = `${source(':in by:integer :out n:integer :persist')}\r\nÜnïcode\u0000 ends here`;
  const made = await put('bytes', text);
  expect([made.status, made.headers.etag]).toEqual([201, '"v1"']);
  const hash = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  expect(made.json).toMatchObject({ id: 'bytes', tenant: 'acme', title: 'Counter', version: 1, hash, components: 1 });
  expect(made.json).toMatchObject({ problems: 0, docked: 0, updated_by: 'key:admin', bytes: Buffer.byteLength(text) });
  const read = await get('/workbooks/bytes?tenant=acme');
  expect([read.text, read.headers['content-type'], read.headers.etag]).toEqual([
    text,
    'text/org; charset=utf-8',
    '"v1"',
  ]);
  const unchanged = await server.call('GET', '/api/workbooks/bytes', undefined, {
    headers: { 'if-none-match': '"v1"' },
  });
  expect([unchanged.status, unchanged.text]).toEqual([304, '']);
  const plan = await get<PlanAnswer>('/workbooks/bytes/plan');
  expect(plan.json).toMatchObject({
    workbook: 'bytes',
    version: 1,
    hash,
    title: 'Counter',
    problems: [],
    components: 1,
  });
  expect(plan.json.durable).toEqual(['main/count']);
  expect(plan.json.plan?.worlds[0]).toMatchObject({
    name: 'main',
    imports: [{ name: 'by', type: 'integer', optional: false }],
    exports: [{ name: 'n', type: 'integer' }],
  });
  expect(await lines('workbook.put')).toMatchObject({ tenant: 'acme', reason: expect.stringContaining(hash) });
});

test('the same bytes are no new version; conditions hold back what somebody else changed', async () => {
  await put('same', source(''));
  const again = await put('same', source(''));
  expect([again.status, again.json.version]).toEqual([200, 1]);
  expect((await put('same', source(':out n:any'), { 'if-match': '"v1"' })).json.version).toBe(2);
  const late = await put<Problem>('same', source(':out m:any'), { 'if-match': '"v1"' });
  expect([late.status, late.json.code]).toEqual([412, 'precondition_failed']);
  expect((await put('same', source(':out m:any'), { 'if-none-match': '*' })).status).toBe(412);
  const versions = await get<WorkbookVersion[]>('/workbooks/same/versions?limit=1');
  expect([versions.json.map(({ version }) => version), versions.headers.link]).toEqual([
    [2],
    expect.stringContaining('rel="next"'),
  ]);
  expect((await get('/workbooks/same?version=1')).text).toBe(source(''));
  expect((await get<Problem>('/workbooks/same?version=9')).status).toBe(404);
});

test('a source with problems is stored, tells them all, and nothing docks to it', async () => {
  const made = await put('broken', source(':deps nobody :uses vsf'));
  expect([made.status, made.json.problems, made.json.components]).toEqual([201, 2, null]);
  const { json } = await get<PlanAnswer>('/workbooks/broken/plan');
  expect([json.plan, json.problems.map(({ code, line, column }) => [code, line, column])]).toEqual([
    null,
    [
      ['dependency', 3, 22],
      ['capability', 3, 35],
    ],
  ]);
  const refused = await server.call<Problem>('POST', '/api/instances', { tenant: 'acme', workbook: 'broken' });
  expect([refused.status, told(refused.json)]).toEqual([422, [`workbook: ${refused.json.detail}`]]);
  expect(refused.json.detail).toMatch(
    /^The workbook "broken" cannot be docked: version 1 has 2 problems\. Line 3: .*nobody/,
  );
  expect(refused.json.hint).toMatch(
    /winterdock workbook plan broken --version 1 --tenant acme, or GET \/api\/workbooks\/broken\/plan\?tenant=acme&version=1\./,
  );
});

test('a plan as one types is answered and stored nowhere', async () => {
  const before = (await get<Workbook[]>('/workbooks')).json.length;
  const answer = await server.call<PlanAnswer>('POST', '/api/workbooks/plan', source(':out n:integer'));
  expect([answer.status, answer.json.workbook, answer.json.version, answer.json.components]).toEqual([
    200,
    null,
    null,
    1,
  ]);
  expect((await get<Workbook[]>('/workbooks')).json).toHaveLength(before);
});

test('an unknown workbook is refused at create and by a change; none is what a change may say', async () => {
  const create = await server.call<Problem>('POST', '/api/instances', { tenant: 'acme', workbook: 'nowhere' });
  const words = ['workbook: The tenant "acme" has no workbook "nowhere".'];
  expect([create.status, create.json.code, told(create.json)]).toEqual([422, 'validation', words]);
  expect(create.json.hint).toContain('winterdock workbook put nowhere FILE --tenant acme');
  await server.call('POST', '/api/instances', { id: 'plain', tenant: 'acme' });
  expect(told((await patch<Problem>('plain', { workbook: 'nowhere' })).json)).toEqual(words);
  expect(told((await patch<Problem>('plain', { workbook_version: 1 })).json)).toEqual([
    'workbook_version: The sandbox "plain" is docked to no workbook, so it has no version to change.',
  ]);
  expect((await patch('plain', { workbook: null })).json).toMatchObject({ workbook: null, workbook_version: null });
  // A workbook of another tenant is none of its own.
  await server.call('PUT', '/api/workbooks/theirs?tenant=globex', source(''));
  expect((await patch<Problem>('plain', { workbook: 'theirs' })).status).toBe(422);
});

test('a version that is not there is refused with the newest one and how to list them', async () => {
  await put('few', source(''));
  await server.call('POST', '/api/instances', { id: 'of-few', tenant: 'acme', workbook: 'few' });
  const { status, json } = await patch<Problem>('of-few', { workbook_version: 9 });
  expect([status, json.detail]).toEqual([422, 'The workbook "few" has no version 9; the newest is 1.']);
  expect(json.hint).toContain('winterdock workbook versions few --tenant acme');
});

test('a sandbox is docked to the newest version and stays there; an upgrade tells first what breaks', async () => {
  await put('upgraded', source(':out n:integer :persist'));
  const made = await server.call<Instance>('POST', '/api/instances', {
    id: 'up',
    tenant: 'acme',
    workbook: 'upgraded',
  });
  expect(made.json).toMatchObject({ workbook: 'upgraded', workbook_version: 1 });
  await put('upgraded', source(':out n:string', 'export default () => ({ n: "1" });'));
  expect((await get<Instance>('/instances/up')).json.workbook_version).toBe(1);
  const check = await get<UpgradeAnswer>('/workbooks/upgraded/upgrade?from=1');
  expect(check.json).toMatchObject({ from: 1, to: 2, breaking: true });
  expect(check.json.changes.map(({ kind, breaking }) => [kind, breaking])).toEqual([
    ['changed_output', true],
    ['dropped_persist', true],
    ['changed_code', false],
  ]);
  const refused = await patch<Problem>('up', { workbook: 'upgraded' });
  expect([refused.status, refused.json.code, refused.json.changes]).toEqual([409, 'conflict', check.json.changes]);
  expect((await get<Instance>('/instances/up')).json.workbook_version).toBe(1);
  const accepted = await patch('up', { workbook: 'upgraded', accept_changes: true });
  expect([accepted.status, accepted.json.workbook_version]).toEqual([200, 2]);
  expect(await lines('instance.docked')).toMatchObject({ instance: 'up', reason: 'workbook upgraded, version 2' });
  // What breaks nothing needs no word.
  await put('upgraded', source(':out n:string', 'export default () => ({ n: "2" });'));
  expect((await patch('up', { workbook_version: 3 })).json.workbook_version).toBe(3);
});

test('a docked workbook is not deleted; one that nothing is docked to is', async () => {
  await put('docked', source(''));
  await server.call('POST', '/api/instances', { id: 'holder', tenant: 'acme', workbook: 'docked' });
  expect((await get<Workbook[]>('/workbooks?q=docked')).json).toMatchObject([{ id: 'docked', docked: 1 }]);
  const refused = await server.call<Problem>('DELETE', '/api/workbooks/docked?tenant=acme');
  expect([refused.status, refused.json.code]).toEqual([409, 'conflict']);
  await patch('holder', { workbook: null });
  expect((await server.call('DELETE', '/api/workbooks/docked?tenant=acme')).status).toBe(204);
  expect((await get('/workbooks/docked')).status).toBe(404);
  expect(await lines('workbook.deleted')).toMatchObject({ tenant: 'acme', reason: 'workbook docked, version 1' });
});

test('ids are a tenant’s own: a key of one tenant sees its own, whoever else has the id', async () => {
  await put('shared-id', source('', undefined, 'Ours'));
  await server.call('PUT', '/api/workbooks/shared-id?tenant=globex', source('', undefined, 'Theirs'));
  const as = <T>(path: string) => server.call<T>('GET', `/api${path}`, undefined, { key: keyOfAcme });
  expect((await as<PlanAnswer>('/workbooks/shared-id/plan')).json.title).toBe('Ours');
  expect((await as<Problem>('/workbooks/shared-id/plan?tenant=globex')).status).toBe(403);
  expect((await as<Workbook[]>('/workbooks')).json.every(({ tenant }) => tenant === 'acme')).toBe(true);
  const both = await get<Problem>('/workbooks/shared-id/plan');
  expect([both.status, told(both.json)]).toEqual([422, ['tenant: is missing']]);
  const mine = await server.call<Workbook>('PUT', '/api/workbooks/mine', source(''), { key: keyOfAcme });
  expect([mine.status, mine.json.tenant]).toEqual([201, 'acme']);
});

test('a name from before there were workbooks stays, and is told apart', async () => {
  await server.call('POST', '/api/instances', { id: 'old', tenant: 'acme' });
  await hadBefore(server.host, 'old', { workbook: 'book' });
  expect((await get<Instance>('/instances/old')).json).toMatchObject({ workbook: 'book', workbook_version: null });
  expect((await patch('old', { name: 'renamed' })).json).toMatchObject({ workbook: 'book', workbook_version: null });
});

test('a version without a tenant goes to the only one that has the id, and to nobody in doubt', async () => {
  const save = (id: string, text: string) => server.call<Workbook & Problem>('PUT', `/api/workbooks/${id}`, text);
  await server.call('PUT', '/api/workbooks/only-theirs?tenant=globex', source(''));
  const second = await save('only-theirs', source('', undefined, 'Second'));
  expect([second.status, second.json.tenant, second.json.version]).toEqual([200, 'globex', 2]);
  const unknown = await save('of-nobody', source(''));
  expect([unknown.status, told(unknown.json)]).toEqual([422, ['tenant: is missing']]);
  await put('of-both', source(''));
  await server.call('PUT', '/api/workbooks/of-both?tenant=globex', source(''));
  const doubt = await save('of-both', source('', undefined, 'Whose'));
  expect([doubt.status, doubt.json.detail]).toEqual([422, 'Several tenants have a workbook "of-both".']);
});

test('what is restored from a snapshot is docked as its source is, in the same tenant', async () => {
  await put('copied', source(':out n:any :persist'));
  await server.call('POST', '/api/instances', { id: 'copied-from', tenant: 'acme', workbook: 'copied' });
  await server.call('PUT', '/api/instances/copied-from/volumes/workspace/note', 'work');
  const taken = await server.call<{ id: string }>('POST', '/api/instances/copied-from/snapshots', {});
  const restore = async (body: object) =>
    (await server.call<Instance[]>('POST', `/api/snapshots/${taken.json.id}/restore`, body)).json.map(
      ({ workbook, workbook_version }) => [workbook, workbook_version],
    );
  expect(await restore({ count: 2 })).toEqual([
    ['copied', 1],
    ['copied', 1],
  ]);
  expect(await restore({ tenant: 'globex' })).toEqual([[null, null]]);
});
