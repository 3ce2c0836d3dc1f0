/** Workbooks: a row for each, and one for each version with its source. Knows nothing of org. */

import { WinterdockError } from '../../base/errors.ts';
import { isNumberPosition, isTextPairPosition, pageOfRows, readCursor } from '../cursor.ts';
import { requireWorkbookCondition, requireWorkbookRoom, workbookInUse } from '../registry-errors.ts';
import { type WorkbookCriterion, workbookStatements } from '../statements/workbooks.ts';
import type { WorkbookRow, WorkbookStore } from '../workbooks.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

type Row = Omit<WorkbookRow, 'docked'>;

/** The workbooks in the registry's file. */
export function openWorkbooks(database: PostgresDatabase, ledger: LedgerTable): WorkbookStore {
  const statements = database.with(workbookStatements);
  const { select } = statements;
  const docked = async (row: Row): Promise<WorkbookRow> => ({
    ...row,
    docked: (await statements.docked().get({ tenant: row.tenant, id: row.id }))?.n ?? 0,
  });
  const find = async (values: { [K in WorkbookCriterion]?: unknown }, limit: number): Promise<Row[]> => {
    const by = (Object.keys(values) as WorkbookCriterion[]).filter((name) => values[name] !== undefined);
    return await select(by).all({ ...values, tenants: JSON.stringify(values.tenants), limit });
  };
  const first = async ([row]: Row[]): Promise<WorkbookRow | null> => (row === undefined ? null : docked(row));
  const get = async (tenant: string, id: string): Promise<WorkbookRow | null> => first(await find({ tenant, id }, 1));

  return {
    async put({ now, actor, ...content }, { keep, most }, entry, condition) {
      const { tenant, id } = content;
      const before = await get(tenant, id);
      requireWorkbookCondition(id, before, condition);
      if (before?.hash === content.hash) return { row: before, stored: false, created: false };
      const version = await ledger.recorded([entry], async () => {
        const current = await get(tenant, id);
        requireWorkbookCondition(id, current, condition);
        if (current === null) requireWorkbookRoom(tenant, most, (await statements.ofTenant().get({ tenant }))?.n ?? 0);
        const next = (current?.version ?? 0) + 1;
        const { title, hash, bytes, components, problems } = content;
        const row = { title, hash, bytes, components, problems, version: next, updated: now, updatedBy: actor };
        if (current === null) await statements.insert().run({ tenant, id, ...row, created: now });
        else await statements.update().run({ tenant, id, ...row });
        await statements.insertVersion().run({ ...content, version: next, created: now, createdBy: actor });
        const old = await statements.unused().all({ tenant, id, keep: next - keep + 1 });
        for (const one of old) await statements.removeVersion().run({ tenant, id, version: one.version });
        return next;
      });
      const row = await get(tenant, id);
      if (row === null) throw new WinterdockError('internal', `The workbook "${id}" was not stored.`);
      return { row, stored: true, created: version === 1 };
    },

    get,
    ofId: async (id, tenants, limit) =>
      Promise.all((await find({ id, tenants: tenants ?? undefined }, limit)).map(docked)),
    ofHash: async (tenant, hash) => first(await find({ tenant, hash }, 1)),

    async list({ tenant, tenants, text }, limit, cursor) {
      const [afterTenant, afterId] = cursor === undefined ? [] : readCursor(cursor, isTextPairPosition);
      const by = (['tenant', 'tenants', 'text'] as const).filter(
        (name) => ({ tenant, tenants, text })[name] !== undefined,
      );
      const found = await select([...by, ...(afterId === undefined ? [] : (['after'] as const))]).all({
        tenant,
        tenants: JSON.stringify(tenants),
        text: text?.toLowerCase(),
        afterTenant,
        afterId,
        limit: limit + 1,
      });
      const { rows, next } = pageOfRows(found, limit, (last) => [last.tenant, last.id]);
      return { rows: await Promise.all(rows.map(docked)), next };
    },

    version: async (tenant, id, version) => (await statements.version().get({ tenant, id, version })) ?? null,
    planOf: async (tenant, id, version) => (await statements.plan().get({ tenant, id, version })) ?? null,

    async rebuild(rebuilt) {
      const { tenant, id, version, title, components, problems } = rebuilt;
      await database.write(async () => {
        const before = await statements.plan().get({ tenant, id, version });
        if (before === undefined || before.builder >= rebuilt.builder) return;
        await statements.rebuildVersion().run({ ...rebuilt });
        await statements.rebuildNewest().run({ tenant, id, version, title, components, problems });
        for (const { instance } of await statements.dockedAt().all({ tenant, id, version })) {
          await statements.synchronise().run({ instance });
        }
      });
    },

    async versions(tenant, id, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      return pageOfRows(await statements.versions().all({ tenant, id, before, limit: limit + 1 }), limit, (last) => [
        last.version,
      ]);
    },

    remove: (tenant, id, entry) =>
      ledger.recorded([entry], async () => {
        const row = await get(tenant, id);
        if (row === null) return false;
        if (row.docked > 0) throw workbookInUse(row);
        await statements.removeVersions().run({ tenant, id });
        await statements.remove().run({ tenant, id });
        return true;
      }),
  };
}
