/** What every registry guarantees of owners: tokens in every compare-and-set, hosts and their terms. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { HostDetails } from '../hosts.ts';
import type { Registry } from '../registry.ts';
import type { RowOwner } from '../types.ts';
import { entry, FILE, intent, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

const ONE: RowOwner = { host: 'one', term: 1, token: 'of one' };
const AGAIN: RowOwner = { ...ONE, token: 'of one, later' };
const TWO: RowOwner = { host: 'two', term: 2, token: 'of two' };

export function ownerSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const line = (type: string) => entry({ type });
  const ownerOf = async (id: string) => {
    const row = await registry.instances.get(id);
    return [row?.ownerHost, row?.ownerTerm, row?.ownerToken];
  };

  test('an intent gives a row its owner, and nobody else’s transition, return or intent is taken then', async () => {
    const row = await makeInstance(registry, 'a', 'suspended');
    expect(await ownerOf('a')).toEqual([null, null, null]);
    expect(await registry.instances.begin('a', intent(row), { owner: ONE, writeId: 'w1' })).toBe(true);
    expect(await ownerOf('a')).toEqual(['one', 1, 'of one']);
    expect((await registry.instances.get('a'))?.writeId).toBe('w1');
    const before = await registry.instances.get('a');
    for (const owner of [AGAIN, TWO, undefined]) {
      const by = owner === undefined ? {} : { owner };
      expect(await registry.instances.begin('a', intent(row), by)).toBe(false);
      await expect(registry.instances.commit(transitionTo(row, 'active', by))).rejects.toMatchObject({
        code: 'conflict',
      });
      await expect(registry.instances.abandon('a', {}, [], owner)).rejects.toMatchObject({ code: 'conflict' });
    }
    expect(await registry.instances.get('a')).toEqual(before);
    const active = await registry.instances.commit(transitionTo(row, 'active', { owner: ONE, writeId: 'w2' }));
    expect(active).toMatchObject({ ownerHost: 'one', ownerTerm: 1, ownerToken: 'of one', writeId: 'w2' });
    expect(await registry.instances.begin('a', intent(active, { verb: 'suspend' }), { owner: TWO })).toBe(false);
    expect(await registry.instances.begin('a', intent(active, { verb: 'suspend' }), { owner: AGAIN })).toBe(false);
    expect(await registry.instances.begin('a', intent(active, { verb: 'suspend' }), { owner: ONE })).toBe(true);
    expect(await registry.instances.abandon('a', {}, [], ONE)).toMatchObject({ ownerToken: 'of one', pending: null });
  });

  test('a fault that was decided by an earlier owner’s row, and bytes that it measured, are not written', async () => {
    const row = await makeInstance(registry, 'a', 'suspended');
    const { instances, ledger } = registry;
    const fault = { fault: 'missing', reason: 'it was not there' } as const;
    await instances.touch([{ id: 'a', updated: START, bytes: 5, owner: { ...ONE, token: null } }]);
    await instances.begin('a', intent(row), { owner: TWO });
    const lines = await ledger.lastSeq();
    expect(await instances.setFault('a', fault, entry(), row)).toBe(false);
    await instances.touch([{ id: 'a', updated: START + 9, bytes: 7, owner: ONE }]);
    expect(await instances.get('a')).toMatchObject({ fault: null, bytes: 5, updated: START + 9, ownerHost: 'two' });
    const active = await instances.commit(transitionTo(row, 'active', { owner: TWO }));
    expect(await instances.setFault('a', fault, entry(), row)).toBe(false);
    await instances.touch([{ id: 'a', updated: START, bytes: 8, owner: { ...TWO, token: null } }]);
    expect([(await instances.get('a'))?.bytes, await ledger.lastSeq()]).toEqual([active.bytes, lines + 1]);
    expect(await instances.setFault('a', fault, entry(), active)).toBe(true);
    await instances.touch([{ id: 'a', updated: START, bytes: 9, owner: TWO }]);
    expect(await instances.get('a')).toMatchObject({ fault: 'missing', bytes: 9 });
  });

  test('at rest no row has a token, and its host only while that one alone has the file', async () => {
    const tagged = { ...FILE, tag: 'in a store' };
    const copy = `snapshots/${'ab'.repeat(32)}.sqlite`;
    for (const [id, to, over, host] of [
      ['local', 'suspended', { vfsPath: 'live/local/vfs.sqlite', file: FILE }, 'one'],
      ['stored', 'suspended', { vfsPath: 'cold/stored', file: tagged }, null],
      ['shared', 'suspended', { vfsPath: copy, file: FILE }, null],
      ['empty', 'suspended', { vfsPath: null }, null],
      ['gone', 'archived', { vfsPath: null }, null],
    ] as const) {
      const row = await makeInstance(registry, id, 'suspended');
      await registry.instances.begin(id, intent(row), { owner: ONE });
      const active = await registry.instances.commit(transitionTo(row, 'active', { owner: ONE }));
      await registry.instances.commit(transitionTo(active, to, { ...over, owner: ONE }));
      expect([id, await ownerOf(id)]).toEqual([id, [host, host && 1, null]]);
    }
    const local = await registry.instances.get('local');
    if (local === null) throw new Error('no row');
    expect(await registry.instances.begin('local', intent(local), { owner: TWO })).toBe(false);
    expect(await registry.instances.begin('local', intent(local), { owner: AGAIN })).toBe(true);
    expect(await registry.instances.abandon('local', {}, [], AGAIN)).toMatchObject({
      ownerHost: 'one',
      ownerToken: null,
    });
  });

  test('a host asks for its own rows and nobody’s', async () => {
    const ids = ['of-one', 'of-two', 'of-nobody'] as const;
    for (const [at, id] of ids.entries()) {
      const row = await makeInstance(registry, id, 'suspended');
      const owner = [ONE, TWO][at];
      if (owner === undefined) await registry.instances.commit(transitionTo(row, 'active'));
      else {
        await registry.instances.begin(id, intent(row), { owner });
        await registry.instances.commit(transitionTo(row, 'active', { owner }));
      }
    }
    const unsettled = async (host?: string) => (await registry.instances.unsettled(host)).map(({ id }) => id).sort();
    expect(await unsettled()).toEqual([...ids].sort());
    expect(await unsettled('one')).toEqual(['of-nobody', 'of-one']);
    expect(await unsettled('three')).toEqual(['of-nobody']);
    const due = async (host?: string) =>
      (await registry.instances.due(START + 900, 10, host)).map(({ row }) => row.id).sort();
    expect(await due()).toEqual([...ids].sort());
    expect(await due('two')).toEqual(['of-nobody', 'of-two']);
    expect(await registry.instances.clampUpdated(START - 100, 60, 10, 'one')).toBe(2);
    expect((await registry.instances.get('of-two'))?.updated).toBe(START);
    expect(await registry.instances.clampUpdated(START - 100, 60, 10)).toBe(1);
  });

  test('the first host has term 1 for ever, a new name and a restored registry begin a new one', async () => {
    const alone = (name: string) => registry.hosts.begin(name, START * 1000, { alone: true });
    expect([await alone('one'), await alone('one')]).toEqual([1, 1]);
    const row = await makeInstance(registry, 'a', 'suspended');
    await registry.instances.begin('a', intent(row), { owner: ONE });
    expect(await alone('renamed')).toBe(2);
    // What was the former name's is this one's, with its token.
    expect(await ownerOf('a')).toEqual(['renamed', 1, 'of one']);
    expect(await alone('one')).toBe(3);
    await registry.hosts.endTerms(START * 1000);
    expect(await ownerOf('a')).toEqual([null, null, null]);
    expect([await alone('one'), await alone('one')]).toEqual([4, 4]);
  });

  test('hosts beside each other have terms of their own and take nothing of each other', async () => {
    const beside = (name: string) => registry.hosts.begin(name, START * 1000, { alone: false });
    expect([await beside('one'), await beside('two'), await beside('one'), await beside('two')]).toEqual([1, 2, 1, 2]);
    const row = await makeInstance(registry, 'a', 'suspended');
    await registry.instances.begin('a', intent(row), { owner: ONE });
    expect(await beside('three')).toBe(3);
    expect(await ownerOf('a')).toEqual(['one', 1, 'of one']);
    await registry.hosts.endTerms(START * 1000);
    expect([await beside('two'), await beside('one')]).toEqual([4, 5]);
  });

  test('how many sandboxes a host has is counted, of those that are somebody’s', async () => {
    for (const [id, owner] of [
      ['a', ONE],
      ['b', ONE],
      ['c', { host: 'two', term: 2, token: 'of two' }],
    ] as const) {
      const row = await makeInstance(registry, id, 'suspended');
      await registry.instances.begin(id, intent(row), { owner });
    }
    await makeInstance(registry, 'nobodys');
    expect((await registry.hosts.owned()).toSorted((a, b) => a.host.localeCompare(b.host))).toEqual([
      { host: 'one', sandboxes: 2 },
      { host: 'two', sandboxes: 1 },
    ]);
  });

  test('what is on a disk and nobody’s is that of the first host that begins beside others, and of no later one', async () => {
    const beside = (name: string) => registry.hosts.begin(name, START * 1000, { alone: false });
    for (const id of ['a', 'b']) await makeInstance(registry, id, 'suspended');
    await makeInstance(registry, 'without-file');
    await registry.hosts.endTerms(START * 1000);
    expect([await ownerOf('a'), await ownerOf('without-file')]).toEqual([
      [null, null, null],
      [null, null, null],
    ]);
    expect([await beside('one'), await beside('two')]).toEqual([2, 3]);
    expect([await ownerOf('a'), await ownerOf('b'), await ownerOf('without-file')]).toEqual([
      ['one', 2, null],
      ['one', 2, null],
      [null, null, null],
    ]);
  });

  test('hosts that begin at the same time have terms of their own', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const terms = await Promise.all(names.map((name) => registry.hosts.begin(name, START * 1000, { alone: false })));
    expect(terms.toSorted()).toEqual([1, 2, 3, 4]);
    await registry.hosts.endTerms(START * 1000);
    const again = await Promise.all(names.map((name) => registry.hosts.begin(name, START * 1000, { alone: false })));
    expect(again.toSorted()).toEqual([5, 6, 7, 8]);
    expect((await registry.hosts.list()).map(({ name }) => name)).toEqual(names.toSorted());
  });

  test('a term after a restore is later than every term that is known of elsewhere', async () => {
    const alone = () => registry.hosts.begin('one', START * 1000, { alone: true });
    await alone();
    await registry.hosts.endTerms(START * 1000, 7);
    expect(await alone()).toBe(8);
    await registry.hosts.endTerms(START * 1000, 3);
    expect(await alone()).toBe(9);
  });

  test('a term after a restore is later than what orders the series of any row', async () => {
    const row = await makeInstance(registry, 'a', 'created');
    const order = { was: row, is: { seriesTerm: 20, seriesHostTerm: 2 } };
    expect(await registry.instances.begin('a', intent(row), { owner: TWO, order })).toBe(true);
    await registry.hosts.endTerms(START * 1000, 3);
    expect(await registry.hosts.begin('one', START * 1000, { alone: true })).toBe(21);
  });

  test('a row is taken from a host that is dead, and not from one that has renewed or begun since it was seen', async () => {
    const { instances, hosts, ledger } = registry;
    const row = await makeInstance(registry, 'a', 'frozen');
    await hosts.begin('one', START * 1000, { alone: false });
    const said = { url: null, capacity: { active: 1, memoryBytes: null }, version: '1', labels: {}, leaseMs: 10_000 };
    await hosts.describe('one', { ...said, token: 'of a start', publicKey: 'did:key:one' });
    await instances.begin('a', intent(row, { to: 'active' }), { owner: ONE });
    const read = (await instances.get('a')) ?? row;
    const seen = { name: 'one', token: 'of a start', renewals: 0 };
    const taken = entry({ instance: 'a', type: 'instance.taken_over' });
    const lines = await ledger.lastSeq();
    for (const [from, as] of [
      [{ ...seen, renewals: 1 }, read],
      [{ ...seen, token: 'of another' }, read],
      [{ ...seen, token: null }, read],
      [{ ...seen, name: 'nobody' }, read],
      [seen, row],
      [seen, { ...read, generation: read.generation + 1 }],
      [seen, { ...read, ownerToken: 'of another' }],
    ] as const)
      expect(await instances.takeOver({ row: as, from, by: null, ledger: [taken] })).toBeNull();
    await hosts.renew('one', 'of a start', START * 1000);
    expect(await instances.takeOver({ row: read, from: seen, by: null, ledger: [taken] })).toBeNull();
    expect([await instances.get('a'), await ledger.lastSeq()]).toEqual([read, lines]);

    const dead = { ...seen, renewals: 1 };
    const order = { seriesTerm: 5, seriesHostTerm: 2 };
    const by = { intent: intent(read, { verb: 'restore', to: 'frozen' }), order, owner: TWO };
    const one = await instances.takeOver({ row: read, from: dead, by, ledger: [taken] });
    expect(one).toMatchObject({ ...order, ownerHost: 'two', ownerTerm: 2, ownerToken: TWO.token, state: 'frozen' });
    expect(one?.pending).toMatchObject({ verb: 'restore' });
    // Its answer was lost.
    expect(await instances.takeOver({ row: read, from: dead, by, ledger: [taken] })).toEqual(one);
    expect(await ledger.lastSeq()).toBe(lines + 1);
    await expect(instances.abandon('a', {}, [], ONE)).rejects.toMatchObject({ code: 'conflict' });

    await hosts.begin('two', START * 1000, { alone: false });
    const handedBack = { name: 'two', token: null, renewals: 0 };
    const free = await instances.takeOver({ row: one ?? read, from: handedBack, by: null, ledger: [] });
    expect(free).toMatchObject({ ...order, ownerHost: null, ownerTerm: null, ownerToken: null, pending: null });
    expect(await instances.get('a')).toEqual(free);
    expect((await instances.stillHeld(['a'] as never, new Map([['a', 'of two']]) as never)).length).toBe(0);
  });

  test('an acquisition sets what orders the series of a row in the statement of its intent, if that is as it was read', async () => {
    const row = await makeInstance(registry, 'a', 'created');
    expect(row).toMatchObject({ seriesTerm: null, seriesHostTerm: null });
    const [was, is] = [row, { seriesTerm: 1, seriesHostTerm: 1 }];
    const stale = { was: { seriesTerm: 1, seriesHostTerm: null }, is };
    expect(await registry.instances.begin('a', intent(row), { owner: ONE, order: stale })).toBe(false);
    expect(await registry.instances.begin('a', intent(row), { owner: ONE, order: { was, is } })).toBe(true);
    const abandoned = await registry.instances.abandon('a', {}, [], ONE);
    expect(abandoned).toMatchObject({ ...is, ownerHost: null, pending: null });
    // Another host's number is there by now.
    expect(await registry.instances.begin('a', intent(row), { owner: TWO, order: { was, is } })).toBe(false);
    const next = { was: abandoned, is: { seriesTerm: 2, seriesHostTerm: 2 } };
    expect(await registry.instances.begin('a', intent(row), { owner: TWO, order: next })).toBe(true);
    expect(await registry.instances.get('a')).toMatchObject(next.is);
  });

  test('a host says what it is, and only the start that holds its name renews and hands back', async () => {
    const { hosts } = registry;
    const details: HostDetails = {
      url: 'http://10.0.0.5:3000',
      capacity: { active: 20, memoryBytes: null },
      version: '1.2.3',
      labels: { zone: 'a' },
      leaseMs: 10_000,
      token: 'of one start',
      publicKey: 'did:key:z6Mk',
    };
    expect(await hosts.list()).toEqual([]);
    // A host that has not begun has no row to describe.
    await hosts.describe('one', details);
    expect(await hosts.renew('one', 'of one start', 1)).toBe(false);
    await hosts.begin('two', START * 1000, { alone: false });
    await hosts.begin('one', START * 1000, { alone: false });
    await hosts.describe('one', details);
    const row = { name: 'one', term: 2, sinceMs: START * 1000, isDraining: false, drain: null };
    const unrenewed = { renewals: 0, renewedMs: null };
    const [one, two] = await hosts.list();
    expect(one).toEqual({ ...row, ...unrenewed, ...details });
    expect(two).toMatchObject({ name: 'two', term: 1, version: null, capacity: null, labels: null, token: null });

    expect(await hosts.renew('one', 'of one start', 5000)).toBe(true);
    expect(await hosts.renew('one', 'of one start', 4000)).toBe(true);
    for (const [name, token] of [
      ['one', 'of another'],
      ['two', 'of one start'],
      ['three', 'of one start'],
    ] as const)
      expect([name, await hosts.renew(name, token, 6000)]).toEqual([name, false]);
    expect((await hosts.list())[0]).toMatchObject({ renewals: 2, renewedMs: 4000 });

    // The next start of the name: renewals are counted on, and the former start has lost it.
    await hosts.describe('one', { ...details, version: '1.2.4', token: 'of the next', labels: {} });
    expect(await hosts.renew('one', 'of one start', 7000)).toBe(false);
    await hosts.giveBack('one', 'of one start');
    expect((await hosts.list())[0]).toMatchObject({ version: '1.2.4', token: 'of the next', renewals: 2, labels: {} });
    expect(await hosts.renew('one', 'of the next', 7000)).toBe(true);
    await hosts.giveBack('one', 'of the next');
    await hosts.giveBack('one', 'of the next');
    expect((await hosts.list())[0]).toMatchObject({ token: null, renewals: 3, renewedMs: 7000 });
    expect(await hosts.renew('one', 'of the next', 8000)).toBe(false);
    // What is set of it stays when it begins anew, unless it says otherwise.
    expect(await hosts.setLabels('one', { zone: 'b' }, line('host.labelled'))).toBe(true);
    await hosts.describe('one', { ...details, labels: null });
    expect((await hosts.list())[0]).toMatchObject({ labels: { zone: 'b' }, token: details.token });
    await hosts.describe('one', { ...details, labels: null, version: '1.2.5' });
    expect((await hosts.list())[0]).toMatchObject({ labels: { zone: 'b' }, version: '1.2.5' });
    await hosts.describe('one', details);
    expect((await hosts.list())[0]).toMatchObject({ labels: { zone: 'a' } });
    // A term that nobody has begun is no host.
    await hosts.endTerms(START * 1000);
    expect(await hosts.list()).toEqual([]);
  });

  test('a host is emptied until somebody says otherwise, whatever it says at its next start, with a line each time', async () => {
    const { hosts, ledger } = registry;
    await hosts.begin('one', START * 1000, { alone: false });
    const drain = { job: 'job-1', reason: 'a new disk', includeHeld: true, address: null, asked: START };
    const asked = { ...drain, actor: 'key:test', via: 'api' } as const;
    expect(await hosts.setDrain('one', asked, line('host.draining'))).toBe(true);
    expect((await hosts.list())[0]).toMatchObject({ name: 'one', isDraining: true, drain: asked });
    await hosts.begin('one', START * 1000 + 1, { alone: false });
    expect((await hosts.list())[0]).toMatchObject({ isDraining: true, drain: asked });
    const before = await ledger.lastSeq();
    expect(await hosts.setDrain('two', asked, line('host.draining'))).toBe(false);
    expect(await hosts.setLabels('two', {}, line('host.labelled'))).toBe(false);
    expect(await ledger.lastSeq()).toBe(before);
    expect(await hosts.setDrain('one', null, line('host.kept'))).toBe(true);
    expect((await hosts.list())[0]).toMatchObject({ isDraining: false, drain: null });
    const types = (await ledger.page({}, 5)).rows.map(({ type }) => type);
    expect(types).toEqual(['host.kept', 'host.draining']);
  });

  test('a registry whose host was not known before its restore begins with term 2', async () => {
    await registry.hosts.endTerms(START * 1000);
    expect(await registry.hosts.begin('one', START * 1000, { alone: true })).toBe(2);
  });
}
