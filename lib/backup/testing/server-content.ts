/** For tests: a real server with sandboxes in every state, and the backup and restore commands as people run them. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { commandOnFolder } from '../../registry/testing/registry-of-tests.ts';
import { type ServerProcess, spawnServer } from '../../testing/process.ts';
import { programOf } from '../../testing/program.ts';

const script = (name: string) => programOf(fileURLToPath(new URL(`../../../scripts/${name}.ts`, import.meta.url)));

export interface CommandResult {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one of the commands on a data folder. */
export function run(
  name: 'backup' | 'restore' | 'ledger-verify' | 'doctor' | 'migrate-registry',
  folder: string,
  args: string[],
  settings: Record<string, string> = {},
): CommandResult {
  const start = (ofTests: Record<string, string>) =>
    spawnSync(process.execPath, [script(name), ...args], {
      env: { ...process.env, WB_DATA: folder, INIT_CWD: folder, ...ofTests, ...settings },
      encoding: 'utf8',
    });
  const { status, stdout, stderr } = 'WB_REGISTRY' in settings ? start({}) : commandOnFolder(folder, start);
  return { status, stdout, stderr };
}

/** The same without waiting, for what is to be killed or to run beside something. */
export function commandOf(name: 'backup' | 'restore' | 'migrate-registry', args: string[]): [string, string[]] {
  return [process.execPath, [script(name), ...args]];
}

async function ok(answer: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
}

/** What each sandbox of the world has in /workspace/what. */
const HELD: Readonly<Record<string, string>> = {
  awake: 'awake',
  suspended: 'suspended',
  frozen: 'frozen',
  archived: 'archived',
  ofSnapshot: 'suspended',
  ofBlueprint: 'frozen',
  resumedClone: 'suspended',
};

export interface ServerContent {
  snapshot: string;
  /** What sandboxes are called here, by their ids. */
  names: Record<string, string>;
}

/** Makes one sandbox of every kind, a snapshot and a blueprint. */
export async function populate({ call }: Pick<ServerProcess, 'call'>): Promise<ServerContent> {
  const post = (path: string, body: unknown = {}) => ok(call('POST', `/api${path}`, body));
  const made = async (path: string) =>
    (await call<{ id: string }[]>('POST', `/api${path}`, { tenant: 'acme' })).json[0]?.id ?? '';
  const written = async (id: string) => {
    await post('/instances', { id, tenant: 'acme', name: `n-${id}`, labels: { kind: id } });
    await ok(call('PUT', `/api/instances/${id}/volumes/workspace/what`, id));
  };
  await post('/instances', { id: 'created', tenant: 'acme' });
  await post('/instances', { id: 'memory', tenant: 'acme', vfs_path: ':memory:' });
  await post('/instances/memory/exec', { command: 'echo gone > x' });
  for (const id of ['awake', 'suspended', 'frozen', 'archived', 'deleted']) await written(id);
  const { id: snapshot } = (await call<{ id: string }>('POST', '/api/instances/suspended/snapshots', {})).json;
  await post('/blueprints', { name: 'base', from_instance: 'frozen' });
  const ofSnapshot = await made(`/snapshots/${snapshot}/restore`);
  const resumedClone = await made(`/snapshots/${snapshot}/restore`);
  const ofBlueprint = await made('/blueprints/base/clone');
  await post(`/instances/${resumedClone}/resume`);
  for (const id of ['suspended', 'frozen', resumedClone]) await post(`/instances/${id}/suspend`);
  await post('/instances/frozen/freeze');
  for (const id of ['archived', 'deleted']) await post(`/instances/${id}/archive`);
  await ok(call('DELETE', '/api/instances/deleted', {}));
  return {
    snapshot,
    names: { [ofSnapshot]: 'ofSnapshot', [resumedClone]: 'resumedClone', [ofBlueprint]: 'ofBlueprint' },
  };
}

/** Every sandbox by its id with its state and fault. */
async function statesOf(
  { call }: Pick<ServerProcess, 'call'>,
  { names }: ServerContent,
): Promise<Record<string, string>> {
  const of = async (query: string) =>
    (
      await call<{ id: string; state: string; fault: string | null }[]>(
        'GET',
        `/api/instances?limit=200&tenant=acme${query}`,
      )
    ).json;
  const rows = [...(await of('')), ...(await of('&state=deleted'))];
  return Object.fromEntries(
    rows.map(({ id, state, fault }) => [names[id] ?? id, fault === null ? state : `${state} ${fault}`]),
  );
}

/**
 * Proves that a server has the whole world: every sandbox readable and able to run, nothing set aside, the ledger
 * proved.
 */
export async function expectWhole(server: Pick<ServerProcess, 'call'>, world: ServerContent): Promise<void> {
  const { call } = server;
  const idOf = (name: string) => Object.entries(world.names).find(([, known]) => known === name)?.[0] ?? name;
  expect(await statesOf(server, world)).toEqual({
    created: 'created',
    memory: 'deleted',
    awake: 'suspended',
    suspended: 'suspended',
    frozen: 'frozen',
    archived: 'archived',
    deleted: 'deleted',
    ofSnapshot: 'created',
    ofBlueprint: 'created',
    resumedClone: 'suspended',
  });
  for (const [name, held] of Object.entries(HELD)) {
    const id = idOf(name);
    const read = await call('GET', `/api/instances/${id}/volumes/workspace/what`);
    expect([name, read.status, read.text]).toEqual([name, 200, held]);
  }
  for (const [name, held] of Object.entries(HELD)) {
    const id = idOf(name);
    if (id === 'archived') expect((await call('POST', `/api/instances/${id}/resume`, {})).status).toBe(200);
    const ran = await call('POST', `/api/instances/${id}/exec`, { command: 'cat what' });
    expect([name, ran.status, String(ran.json.stdout)]).toEqual([name, 200, held]);
  }
  const made = await call<{ id: string }[]>('POST', `/api/snapshots/${world.snapshot}/restore`, { tenant: 'acme' });
  const later = `/api/instances/${made.json[0]?.id}/exec`;
  expect((await call('POST', later, { command: 'cat what' })).json.stdout).toBe('suspended');
  for (const type of ['orphan.set_aside', 'fault.raised']) {
    expect((await call('GET', `/api/events?type=${type}`)).json).toEqual([]);
  }
  expect((await call('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
}

export { spawnServer };
