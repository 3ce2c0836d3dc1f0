/** What every registry guarantees of guests' variables and of secrets. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import { type EnvironmentKind, effectiveVariables } from '../environments.ts';
import type { Registry } from '../registry.ts';
import { entry, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

const BY = { now: START, actor: 'key:test' };

export function guestSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const set = (kind: EnvironmentKind, owner: string, values: Record<string, string | null>, remove: string[] = []) =>
    registry.environments.change(
      { kind, owner, tenant: 'acme' },
      { set: values, remove },
      BY,
      entry({ type: 'env.changed' }),
    );
  const put = (instance: string, name: string, tenant = 'acme', most = 9) =>
    registry.secrets.put(
      {
        tenant,
        instance,
        name,
        url: 'https://api.example.com/',
        header: 'authorization',
        format: '{}',
        sealed: 'v1.x',
      },
      BY,
      most,
      entry({ type: 'secret.set' }),
    );

  test('a sandbox’s variables are its tenant’s, under its blueprint’s, under its own', async () => {
    await makeInstance(registry, 'a', 'created', { lineageBlueprint: 'base' });
    await makeInstance(registry, 'b');
    expect(await registry.environments.of('a')).toEqual([]);
    await set('instance', 'a', { C: 'own' });
    await set('blueprint', 'base', { B: 'base', C: 'base' });
    await set('tenant', 'acme', { A: 'acme', B: 'acme', C: 'acme' });
    await set('tenant', 'globex', { A: 'globex' });
    const effective = async (id: string) =>
      effectiveVariables(await registry.environments.of(id)).map(({ name, value, from }) => [name, value, from]);
    expect(await effective('a')).toEqual([
      ['A', 'acme', 'tenant'],
      ['B', 'base', 'blueprint'],
      ['C', 'own', 'instance'],
    ]);
    expect((await effective('b')).map(([, value]) => value)).toEqual(['acme', 'acme', 'acme']);
    await set('instance', 'a', { D: '' }, ['C', 'UNKNOWN']);
    expect((await registry.environments.get('instance', 'a'))?.variables).toEqual({ D: '' });
    expect((await effective('a')).at(2)).toEqual(['C', 'base', 'blueprint']);
  });

  test('a name that wants a value takes that of any owner, and is no value of its own', async () => {
    await makeInstance(registry, 'a', 'created', { lineageSnapshot: 'snap-1' });
    await set('instance', 'a', { HERE: 'x' });
    await registry.environments.want({ kind: 'instance', owner: 'a', tenant: 'acme' }, ['HERE', 'LATER'], BY);
    await registry.environments.want({ kind: 'snapshot', owner: 'snap-1', tenant: 'acme' }, ['TAKEN', 'NEVER'], BY);
    await set('tenant', 'acme', { LATER: 'acme', TAKEN: 'acme' });
    const found = effectiveVariables(await registry.environments.of('a'));
    expect(found.map(({ name, value, from }) => [name, value, from])).toEqual([
      ['HERE', 'x', 'instance'],
      ['LATER', 'acme', 'tenant'],
      ['NEVER', null, 'snapshot'],
      ['TAKEN', 'acme', 'tenant'],
    ]);
  });

  test('there are a hundred variables at most, and 32 KiB of them, and what is refused changes nothing', async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`V${n}`, 'x']));
    await set('tenant', 'acme', many);
    await expect(set('tenant', 'acme', { ONE: 'more' })).rejects.toMatchObject({ code: 'validation' });
    await set('tenant', 'acme', { ONE: 'more' }, ['V0']);
    await set('tenant', 'globex', { A: 'x'.repeat(32 * 1024 - 1) });
    await expect(set('tenant', 'globex', { A: 'é'.repeat(16 * 1024) })).rejects.toMatchObject({ code: 'validation' });
    expect((await registry.environments.get('tenant', 'globex'))?.variables.A).toHaveLength(32 * 1024 - 1);
    expect((await registry.ledger.page({ type: 'env.changed' }, 9)).rows).toHaveLength(3);
  });

  test('a secret is stored and replaced under its name, and there are so many at most of one owner', async () => {
    await makeInstance(registry, 'a');
    const first = await put('', 'ONE', 'acme', 1);
    expect(first).toMatchObject({ created: true, row: { createdBy: 'key:test', lastUsed: null } });
    await registry.secrets.used(first.row, START + 5);
    expect((await registry.secrets.list('acme', ''))[0]?.lastUsed).toBe(START + 5);
    expect(await put('', 'ONE', 'acme', 1)).toMatchObject({ created: false, row: { lastUsed: null } });
    await expect(put('', 'TWO', 'acme', 1)).rejects.toMatchObject({ code: 'quota_exceeded' });
    await put('a', 'TWO', 'acme', 1);
    await put('', 'ONE', 'globex');
    const names = (rows: { tenant: string; instance: string; name: string }[]) =>
      rows.map(({ tenant, instance, name }) => `${tenant}/${instance}/${name}`);
    expect(names(await registry.secrets.usable('acme', 'a'))).toEqual(['acme//ONE', 'acme/a/TWO']);
    expect(names(await registry.secrets.usable('acme', 'b'))).toEqual(['acme//ONE']);
    expect(names(await registry.secrets.usable('globex', 'a'))).toEqual(['globex//ONE']);
    expect(await registry.secrets.remove({ tenant: 'globex', instance: 'a', name: 'TWO' }, entry())).toBe(false);
    expect(await registry.secrets.remove({ tenant: 'acme', instance: '', name: 'ONE' }, entry())).toBe(true);
    expect(names(await registry.secrets.all())).toEqual(['acme/a/TWO', 'globex//ONE']);
  });

  test('what a deleted sandbox had is gone with it, and it gets nothing more', async () => {
    await makeInstance(registry, 'a', 'archived');
    await put('a', 'ONE');
    await put('', 'TWO');
    await set('instance', 'a', { A: 'x' });
    await makeInstance(registry, 'gone', 'deleted');
    await expect(put('gone', 'ONE')).rejects.toMatchObject({ code: 'gone' });
    await expect(set('instance', 'gone', { A: 'x' })).rejects.toMatchObject({ code: 'gone' });
    await expect(put('never', 'ONE')).rejects.toMatchObject({ code: 'gone' });
    const row = await registry.instances.get('a');
    if (row === null) throw new Error('no row');
    await registry.instances.commit(transitionTo(row, 'deleted'));
    expect((await registry.secrets.all()).map(({ name }) => name)).toEqual(['TWO']);
    expect(await registry.environments.get('instance', 'a')).toBeNull();
  });

  test('a tenant that is being forgotten gets no variable and no secret, and loses those it has', async () => {
    await put('', 'ONE');
    await put('', 'ONE', 'globex');
    await set('tenant', 'acme', { A: 'x' });
    const forgetting = { job: 'job-1', tenant: 'acme', actor: 'key:test', via: 'api' as const, started: START };
    await registry.tenantForgettings.begin(forgetting, entry());
    await expect(put('', 'TWO')).rejects.toMatchObject({ code: 'conflict' });
    await expect(
      registry.environments.want({ kind: 'blueprint', owner: 'x', tenant: 'acme' }, ['A'], BY),
    ).rejects.toMatchObject({ code: 'conflict' });
    await registry.tenantForgettings.removeRecords('acme');
    expect((await registry.secrets.all()).map(({ tenant }) => tenant)).toEqual(['globex']);
    expect(await registry.environments.get('tenant', 'acme')).toBeNull();
  });

  test('sealed texts are replaced where they are still those that were read, and nothing else of a row changes', async () => {
    await makeInstance(registry, 'a');
    await put('', 'ONE');
    await put('a', 'TWO');
    const [one, two] = await registry.secrets.all();
    const changes = [
      { tenant: 'acme', instance: '', name: 'ONE', from: 'v1.x', sealed: 'v1.y' },
      { tenant: 'acme', instance: 'a', name: 'TWO', from: 'v1.other', sealed: 'v1.y' },
      { tenant: 'acme', instance: '', name: 'NONE', from: 'v1.x', sealed: 'v1.y' },
    ];
    expect(await registry.secrets.reseal(changes)).toBe(1);
    expect(await registry.secrets.all()).toEqual([{ ...one, sealed: 'v1.y' }, two]);
  });

  test('a fact is stored together with its ledger line, if it has one', async () => {
    const before = await registry.ledger.lastSeq();
    await registry.facts.write('small', { n: 1 }, START);
    expect(await registry.ledger.lastSeq()).toBe(before);
    await registry.facts.write('small', { n: 2 }, START, entry({ type: 'test.fact' }));
    expect(await registry.facts.read('small')).toEqual({ n: 2 });
    expect((await registry.ledger.page({ type: 'test.fact' }, 10)).rows).toHaveLength(1);
  });
}
