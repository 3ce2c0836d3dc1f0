/** What every registry guarantees of agents. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { instanceId, type PlainIds } from '../../testing/plain-ids.ts';
import type { AgentRow } from '../agents.ts';
import type { Registry } from '../registry.ts';
import { entry, type RegistryUnderTest, START } from './fixtures.ts';

const agent = (name: string, over: Partial<AgentRow> = {}): AgentRow => ({
  tenant: 'acme',
  name,
  id: `id of ${name}`,
  version: 1,
  snapshot: `snap-${name}`,
  making: null,
  replaced: null,
  description: null,
  model: null,
  env: { A: '1' },
  created: START,
  updated: START,
  updatedBy: 'key:test',
  ...over,
});

export function agentSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  test('an agent reads back complete, is its tenant’s own, and is changed with its ledger line', async () => {
    const { agents, ledger } = registry;
    await agents.add(agent('Writer', { description: 'writes' }));
    await agents.add(agent('Writer', { tenant: 'globex', id: 'another' }));
    await expect(agents.add(agent('Writer'))).rejects.toMatchObject({ code: 'conflict' });
    expect(await agents.get({ tenant: 'acme', name: 'Writer' })).toEqual(agent('Writer', { description: 'writes' }));
    expect(await agents.get({ tenant: 'acme', name: 'writer' })).toBe(null);
    const line = entry({ type: 'agent.deployed' });
    const changed = await agents.change({ tenant: 'acme', name: 'Writer' }, { version: 2, env: {} }, line);
    expect(changed).toEqual(agent('Writer', { description: 'writes', version: 2, env: {} }));
    expect(await agents.change({ tenant: 'acme', name: 'never' }, { version: 2 }, line)).toBe(null);
    expect((await ledger.page({ type: 'agent.deployed' }, 10)).rows.length).toBe(1);
    expect(await agents.get({ tenant: 'globex', name: 'Writer' })).toMatchObject({ id: 'another', version: 1 });
    expect(await agents.remove({ tenant: 'acme', name: 'Writer' })).toBe(true);
    expect(await agents.remove({ tenant: 'acme', name: 'Writer' })).toBe(false);
    expect(await agents.get({ tenant: 'globex', name: 'Writer' })).toMatchObject({ id: 'another' });
  });

  test('agents are listed in pages, by tenant and name, without those that are being made', async () => {
    const { agents } = registry;
    for (const name of ['b', 'a', 'C']) await agents.add(agent(name));
    await agents.add(agent('half', { snapshot: null, making: instanceId('filled') }));
    await agents.add(agent('left', { replaced: 'snap-old' }));
    await agents.add(agent('a', { tenant: 'globex' }));
    const first = await agents.list(['acme'], 3);
    expect(first.rows.map(({ name }) => name)).toEqual(['C', 'a', 'b']);
    const second = await agents.list(['acme'], 3, first.next ?? '');
    expect([second.rows.map(({ name }) => name), second.next]).toEqual([['left'], null]);
    expect((await agents.list(null, 9)).rows.map(({ tenant }) => tenant)).toEqual([...Array(4).fill('acme'), 'globex']);
    expect((await agents.list(['globex', 'acme'], 9)).rows.length).toBe(5);
    expect((await agents.unfinished()).map(({ name }) => name).sort()).toEqual(['half', 'left']);
    await expect(agents.list(null, 9, 'odd')).rejects.toMatchObject({ code: 'validation' });
  });
}
