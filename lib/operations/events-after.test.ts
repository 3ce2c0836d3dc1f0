import { expect, test } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import { systemClock } from '../base/clock.ts';
import type { LedgerMaintenance } from '../ledger/ledger-maintenance.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerLine } from '../registry/types.ts';
import { ledgerOperations } from './ledger.ts';

const LINES = 1_000_000;
const caller: Caller = {
  actor: 'key:few',
  via: 'api',
  requestId: 'r',
  role: 'tenant',
  tenants: ['few'],
  address: null,
  session: null,
};

test('a tenant of few lines among a million finds them in batches, and other work runs in between', async () => {
  let reads = 0;
  let longest = 0;
  const ledger: Pick<Registry['ledger'], 'lastSeq' | 'ofTenants'> = {
    lastSeq: async () => LINES,
    async ofTenants(tenants, { from, to }) {
      reads += 1;
      longest = Math.max(longest, to - from);
      expect(tenants).toEqual(['few']);
      return [700_001, 700_002].filter((seq) => from < seq && seq <= to).map((seq) => ({ seq }) as LedgerLine);
    },
  };
  const operations = ledgerOperations({
    registry: { ledger } as Registry,
    auth: {
      actors: { nameOf: () => null, load: async () => undefined, learn: () => undefined, forget: () => undefined },
    },
    keeper: {} as LedgerMaintenance,
    clock: systemClock,
  });
  let turns = 0;
  const count = () => {
    turns += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const found = await operations.eventsAfter(caller, 0, 500);
  expect(found.map(({ seq }) => seq)).toEqual([700_001, 700_002]);
  expect(turns).toBeGreaterThanOrEqual(reads - 2);
  expect([longest, reads]).toEqual([10_000, 71]);
  expect(await operations.eventsAfter(caller, 700_002, 500)).toEqual([]);
  clearImmediate(timer);
});
