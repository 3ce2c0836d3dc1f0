import { expect, test } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import type { Role } from '../auth/roles.ts';
import { withPlainIds } from '../testing/plain-ids.ts';
import { vfsPath } from '../vfs/testing/tmp-files.ts';
import { createGuard, type Guard, type OwnerLookups } from './guard.ts';
import type { Operations } from './operations.ts';

const JOBS: Readonly<Record<string, string | string[]>> = { ours: ['acme', 'globex'], 'of-acme': ['acme'] };
const HOMES: Readonly<Record<string, string>> = { mine: 'acme', yours: 'globex' };

const OWNERS: OwnerLookups = {
  instance: (id) => HOMES[id] ?? null,
  snapshot: () => null,
  webhook: () => null,
  job: (id) => JOBS[id] ?? null,
};
const refusals: string[] = [];

/** Operations that say what reached them. */
function guardOver(reached: unknown[][] = []): Guard {
  const names = ['listInstances', 'createInstance', 'getInstance', 'getJob', 'revive', 'file', 'search', 'query'];
  const recording = Object.fromEntries(
    names.map((name) => [name, async (_caller: Caller, ...args: unknown[]) => reached.push([name, ...args])]),
  );
  return createGuard(recording as unknown as Operations, OWNERS, async (caller, operation) => {
    refusals.push(`${caller.role} ${operation}`);
  });
}

/** The same guard, whose operations take plain texts for ids. */
function plainGuard() {
  const { operations, admit } = guardOver();
  return { operations: withPlainIds(operations), admit };
}

const guarded = (reached?: unknown[][]) => withPlainIds(guardOver(reached).operations);

function as(role: Role, tenants: readonly string[] | null): Caller {
  return { actor: 'key:test', via: 'api', requestId: 'r1', role, tenants, address: null, session: null };
}

const told = (wish: Promise<unknown>) =>
  wish.then(
    () => 'done',
    (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
  );

test('what is of another tenant answers like what there is not, and what is named like a trespass', async () => {
  const operations = guarded();
  const caller = as('tenant', ['acme']);
  expect(await told(operations.getInstance(caller, 'mine'))).toBe('done');
  const foreign = await told(operations.getInstance(caller, 'yours'));
  expect(foreign).toBe('not_found: There is no sandbox "yours".');
  expect(foreign.replace('yours', 'never')).toBe(await told(operations.getInstance(caller, 'never')));
  expect(await told(operations.createInstance(caller, { tenant: 'acme' }))).toBe('done');
  expect(await told(operations.createInstance(caller, { tenant: 'globex' }))).toMatch(/^forbidden/);
  expect(await told(operations.listInstances(caller, { tenant: 'globex', sort: 'updated', limit: 1 }))).toMatch(
    /^forbidden/,
  );
});

test('what is of several tenants at once is for whoever looks after them all, and what is of everybody for none of them', async () => {
  const operations = guarded();
  const both = as('operator', ['acme', 'globex', 'third']);
  const one = as('operator', ['acme']);
  expect(await told(operations.getJob(both, 'ours'))).toBe('done');
  expect(await told(operations.getJob(one, 'of-acme'))).toBe('done');
  expect(await told(operations.getJob(one, 'ours'))).toBe('not_found: There is no job "ours".');
  expect(await told(operations.getJob(both, 'of-everybody'))).toMatch(/^not_found/);
  expect(await told(operations.getJob(as('operator', null), 'of-everybody'))).toBe('done');
});

test('a role is refused before anything is looked up', async () => {
  const operations = guarded();
  for (const id of ['mine', 'yours', 'never']) {
    expect(await told(operations.query(as('viewer', ['acme']), id, {}, { sql: 'select 1' }))).toBe(
      'forbidden: A viewer may not do this.',
    );
  }
  expect(refusals.slice(-3)).toEqual(['viewer query', 'viewer query', 'viewer query']);
});

test('support reads the workspace only, searches it only, and revives with a reason', async () => {
  const reached: unknown[][] = [];
  const operations = guarded(reached);
  const support = as('support', null);
  expect(await told(operations.file(support, 'mine', 'workspace', vfsPath('/a')))).toBe('done');
  expect(await told(operations.file(support, 'mine', 'memory', vfsPath('/a')))).toMatch(/^forbidden/);
  expect(await told(operations.search(support, 'mine', { q: 'x', in: 'name', limit: 1 }))).toBe('done');
  expect(reached.at(-1)?.[2]).toMatchObject({ volume: 'workspace' });
  const inMemory = { q: 'x', in: 'name' as const, limit: 1, volume: 'memory' as const };
  expect(await told(operations.search(support, 'mine', inMemory))).toMatch(/^forbidden/);
  expect(await told(operations.query(support, 'mine', {}, { sql: 'select 1' }))).toMatch(/^forbidden/);
  expect(await told(operations.revive(support, 'mine', {}))).toMatch(/^validation/);
  expect(await told(operations.revive(support, 'mine', { reason: 'ticket 7' }))).toBe('done');
  expect(await told(operations.revive(as('operator', null), 'mine', {}))).toBe('done');
});

test('a list of one tenant is asked as that, one of several is left to the operation', async () => {
  const reached: unknown[][] = [];
  const operations = guarded(reached);
  await operations.listInstances(as('tenant', ['acme']), { sort: 'updated', limit: 1 });
  await operations.listInstances(as('operator', ['acme', 'globex']), { sort: 'updated', limit: 1 });
  expect(reached.map(([, query]) => query)).toEqual([
    { sort: 'updated', limit: 1, tenant: 'acme' },
    { sort: 'updated', limit: 1 },
  ]);
});

test('an operation without a rule does not start', () => {
  const nameless = { somethingNew: async () => null } as unknown as Operations;
  expect(() => createGuard(nameless, OWNERS, async () => undefined)).toThrow('somethingNew has no rule');
});

test('a request asks once what its role may, in the route or in the operation', async () => {
  const { operations, admit } = plainGuard();
  let asked = 0;
  const counting = (): Caller => ({
    ...as('tenant', ['acme']),
    get role(): Role {
      asked += 1;
      return 'tenant';
    },
  });
  const caller = counting();
  await admit(caller, 'getInstance');
  await operations.getInstance(caller, 'mine');
  expect(asked).toBe(1);
  await operations.getInstance(counting(), 'mine');
  expect(asked).toBe(2);
});

test('who was admitted to one operation is still asked for another', async () => {
  const { operations, admit } = plainGuard();
  const viewer = as('viewer', null);
  await admit(viewer, 'getInstance');
  expect(await told(operations.revive(viewer, 'mine', { reason: 'x' }))).toBe('forbidden: A viewer may not do this.');
  expect(await told(admit(viewer, 'revive'))).toBe('forbidden: A viewer may not do this.');
});
