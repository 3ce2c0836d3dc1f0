/** What every registry guarantees of exported bundles. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { instanceId, type PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import type { ShareRow } from '../shares.ts';
import { entry, type RegistryUnderTest, START } from './fixtures.ts';

function share(id: string, over: Partial<ShareRow> = {}): ShareRow {
  return {
    id,
    instance: instanceId('sb-1'),
    tenant: 'acme',
    format: 'wbundle/1',
    volumes: ['workspace'],
    privateIncluded: false,
    issuer: 'did:key:z6MkTest',
    members: { 'vfs.sqlite': { sha256: `disk-${id}`, bytes: 4096 } },
    diskSha256: `disk-${id}`,
    sha256: `whole-${id}`,
    bytes: 5000,
    created: START,
    actor: 'key:test',
    requestId: 'r-1',
    ...over,
  };
}

const shipped = entry({ type: 'bundle.shipped' });
const ids = (page: { rows: ShareRow[] }) => page.rows.map(({ id }) => id);

export function shareSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  test('a share reads back complete, with its ledger line, after a restart too', async () => {
    const kept = share('a', { privateIncluded: true, volumes: ['workspace', 'memory', 'tmp'], issuer: null });
    await registry.shares.add(kept, [shipped]);
    const again = await driver.again();
    expect((await again.shares.list({}, 10)).rows).toEqual([kept]);
    expect((await again.ledger.page({ type: 'bundle.shipped' }, 10)).rows).toHaveLength(1);
  });

  test('a taken id stores nothing, not even a ledger line', async () => {
    await registry.shares.add(share('a'), [shipped]);
    await expect(async () => registry.shares.add(share('a', { tenant: 'other' }), [shipped])).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await registry.shares.list({}, 10)).rows).toHaveLength(1);
    expect((await registry.ledger.page({ type: 'bundle.shipped' }, 10)).rows).toHaveLength(1);
  });

  test('lists are newest first, by tenant, tenants and sandbox, page by page', async () => {
    for (const n of [1, 2, 3, 4, 5]) {
      await registry.shares.add(
        share(`s${n}`, { tenant: n % 2 ? 'odd' : 'even', instance: instanceId(`sb-${n % 3}`) }),
        [shipped],
      );
    }
    const first = await registry.shares.list({}, 2);
    expect(ids(first)).toEqual(['s5', 's4']);
    const second = await registry.shares.list({}, 2, first.next ?? '');
    expect(ids(second)).toEqual(['s3', 's2']);
    const last = await registry.shares.list({}, 2, second.next ?? '');
    expect([ids(last), last.next]).toEqual([['s1'], null]);
    expect(ids(await registry.shares.list({ tenant: 'odd' }, 10))).toEqual(['s5', 's3', 's1']);
    expect(ids(await registry.shares.list({ tenants: ['even', 'nobody'] }, 10))).toEqual(['s4', 's2']);
    expect(ids(await registry.shares.list({ tenants: [] }, 10))).toEqual([]);
    expect(ids(await registry.shares.list({ tenants: ['even'], tenant: 'odd' }, 10))).toEqual([]);
    expect(ids(await registry.shares.list({ instance: 'sb-1' }, 10))).toEqual(['s4', 's1']);
    await expect(async () => registry.shares.list({}, 2, 'nonsense')).rejects.toMatchObject({ code: 'validation' });
  });

  test('a bundle is found by its hash, else by its id, else by its disk, and only among the given tenants', async () => {
    await registry.shares.add(share('a'), [shipped]);
    await registry.shares.add(share('b', { tenant: 'other' }), [shipped]);
    const find = async (sha256: string, id: string | null, diskSha256: string | null, tenants?: string[]) =>
      (await registry.shares.find({ sha256, id, diskSha256 }, { tenants }))?.id ?? null;
    expect(await find('whole-a', 'b', 'disk-b')).toBe('a');
    expect(await find('x', 'b', 'disk-a')).toBe('b');
    expect(await find('x', 'x', 'disk-a')).toBe('a');
    expect(await find('x', null, null)).toBeNull();
    expect(await find('whole-b', 'b', 'disk-b', ['acme'])).toBeNull();
  });
}
