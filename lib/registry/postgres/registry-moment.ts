/** Inspects a registry on Postgres that a server may be using: one moment of it, nothing changed. */
import type { CopyKind } from '../../base/copy-paths.ts';
import type { RegistryMoment } from '../driver.ts';
import { FACT_PREFIX } from '../statements/facts.ts';
import { INSTANCE_COLUMNS } from '../statements/instance-rows.ts';
import { momentStatements, STATES_WITH_FILE } from '../statements/moment.ts';
import { recountStatements } from '../statements/recount.ts';
import type { InstanceRow } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import { LedgerTable } from './ledger.ts';
import { SegmentTable } from './segments.ts';
import { openStorage } from './storage.ts';

type Asked = { get(bound: Record<string, unknown>): Promise<unknown> };
type Bound = Record<string, unknown>;

/** Holds one moment of the registry that `database` is connected to, and closes that with it. */
export async function openMoment(database: PostgresDatabase, name: string): Promise<RegistryMoment> {
  const moment = await database.moment();
  const ledger = new LedgerTable(database, 0);
  const segments = new SegmentTable(database, ledger);
  const storage = openStorage(database, name);
  const ask = database.with((maker) =>
    momentStatements(maker, { columns: () => INSTANCE_COLUMNS, hasOwner: () => true }),
  );
  const counts = database.with(recountStatements);
  /** Whether one of these statements finds a row. They are asked one after the other: there is one connection. */
  const any = (statements: readonly (() => Asked)[], bound: Bound = {}) =>
    moment.run(async () => {
      for (const statement of statements) if ((await statement().get(bound)) !== undefined) return true;
      return false;
    });
  return {
    chained: true,
    chainHead: () => moment.run(() => ledger.head()),
    chain: (seq, limit) => moment.run(() => ledger.chain(seq, limit)),
    segments: { list: () => moment.run(() => segments.list()) },
    isEmpty: async () => !(await any([ask.anyInstance, ask.anySnapshot, ask.anyBlueprint])),
    hasInstance: (id) => any([ask.instance], { id }),
    hasCopy: (path, hash) => any([ask.snapshotOfHash, ask.blueprintOfHash, ask.instanceOfPath], { path, hash }),
    hasStoreName: (name) => any([ask.storeName], { name }),
    needsCopy: (path, hash) => any([ask.keptSnapshotOfHash, ask.blueprintOfHash, ask.waitingOfPath], { path, hash }),
    rows: (after, limit) => moment.run(() => ask.rows().all({ after, limit })),
    withFiles: (limit, host) =>
      moment.run(async () => {
        const rows: InstanceRow[] = [];
        for (const state of STATES_WITH_FILE)
          rows.push(...((await ask.withFiles().all({ state, limit, host: host ?? '' })) as InstanceRow[]));
        return rows;
      }),
    copies: () =>
      moment.run(async () => {
        const stored = new Set((await ask.storedCopies().all()).map(({ kind, hash }) => `${kind} ${hash}`));
        const of = <C extends { hash: string }>(kind: CopyKind, copies: readonly C[]) =>
          copies.map((copy) => ({ kind, ...copy, isStored: stored.has(`${kind} ${copy.hash}`) }));
        return [...of('snapshot', await ask.snapshots().all()), ...of('blueprint', await ask.blueprints().all())];
      }),
    tenantInLedger: async (id) => (await moment.run(() => ask.tenantInLedger().get({ id })))?.tenant ?? null,
    integrity: () => moment.run(() => storage.check(new AbortController().signal)),
    miscounted: () =>
      moment.run(async () => {
        const wrong: string[] = [];
        for (const { name, tooMany, tooFew } of counts) {
          if ((await tooMany().get()) !== undefined || (await tooFew().get()) !== undefined) wrong.push(name);
        }
        return wrong;
      }),
    marks: async () => new Set((await moment.run(() => ask.marks().all())).map(({ path }) => path)),
    fact: async (name) => (await moment.run(() => ask.fact().get({ key: FACT_PREFIX + name })))?.value ?? null,
    sealed: () =>
      moment.run(async () => ({
        secrets: await ask.sealedOfGuests().all(),
        webhooks: await ask.sealedOfWebhooks().all(),
      })),
    async close() {
      await moment.close();
      await database.close();
    },
  };
}
