/** Workbooks: a row for each, and one for each version with its source. Knows nothing of org. */

import { WinterdockError } from '../../base/errors.ts';
import { isNumberPosition, isTextPairPosition, pageOfRows, readCursor } from '../cursor.ts';
import { requireWorkbookCondition, requireWorkbookRoom, workbookInUse } from '../registry-errors.ts';
import { type WorkbookCriterion, workbookStatements } from '../statements/workbooks.ts';
import type { WorkbookRow, WorkbookStore } from '../workbooks.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

type Row = Omit<WorkbookRow, 'docked'>;

/** The workbooks in the registry's file. */
export function openWorkbooks(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<WorkbookStore> {
  const statements = workbookStatements(database);
  const { select } = statements;
  const docked = (row: Row): WorkbookRow => ({
    ...row,
    docked: statements.docked().get({ tenant: row.tenant, id: row.id })?.n ?? 0,
  });
  const find = (values: { [K in WorkbookCriterion]?: unknown }, limit: number): Row[] => {
    const by = (Object.keys(values) as WorkbookCriterion[]).filter((name) => values[name] !== undefined);
    return select(by).all({ ...values, tenants: JSON.stringify(values.tenants), limit });
  };
  const get = (tenant: string, id: string): WorkbookRow | null => find({ tenant, id }, 1).map(docked)[0] ?? null;

  return {
    put({ now, actor, ...content }, { keep, most }, entry, condition) {
      const { tenant, id } = content;
      const before = get(tenant, id);
      requireWorkbookCondition(id, before, condition);
      if (before?.hash === content.hash) return { row: before, stored: false, created: false };
      let version = 1;
      const lines = database.write(() => {
        const current = get(tenant, id);
        requireWorkbookCondition(id, current, condition);
        if (current === null) requireWorkbookRoom(tenant, most, statements.ofTenant().get({ tenant })?.n ?? 0);
        version = (current?.version ?? 0) + 1;
        const { title, hash, bytes, components, problems } = content;
        const row = { title, hash, bytes, components, problems, version, updated: now, updatedBy: actor };
        if (current === null) statements.insert().run({ tenant, id, ...row, created: now });
        else statements.update().run({ tenant, id, ...row });
        statements.insertVersion().run({ ...content, version, created: now, createdBy: actor });
        const old = statements.unused().all({ tenant, id, keep: version - keep + 1 });
        for (const one of old) statements.removeVersion().run({ tenant, id, version: one.version });
        return ledger.append([entry]);
      });
      ledger.announce(lines);
      const row = get(tenant, id);
      if (row === null) throw new WinterdockError('internal', `The workbook "${id}" was not stored.`);
      return { row, stored: true, created: version === 1 };
    },

    get,
    ofId: (id, tenants, limit) => find({ id, tenants: tenants ?? undefined }, limit).map(docked),
    ofHash: (tenant, hash) => find({ tenant, hash }, 1).map(docked)[0] ?? null,

    list({ tenant, tenants, text }, limit, cursor) {
      const [afterTenant, afterId] = cursor === undefined ? [] : readCursor(cursor, isTextPairPosition);
      const by = (['tenant', 'tenants', 'text'] as const).filter(
        (name) => ({ tenant, tenants, text })[name] !== undefined,
      );
      const found = select([...by, ...(afterId === undefined ? [] : (['after'] as const))]).all({
        tenant,
        tenants: JSON.stringify(tenants),
        text: text?.toLowerCase(),
        afterTenant,
        afterId,
        limit: limit + 1,
      });
      const { rows, next } = pageOfRows(found, limit, (last) => [last.tenant, last.id]);
      return { rows: rows.map(docked), next };
    },

    version: (tenant, id, version) => statements.version().get({ tenant, id, version }) ?? null,
    planOf: (tenant, id, version) => statements.plan().get({ tenant, id, version }) ?? null,

    rebuild(rebuilt) {
      const { tenant, id, version, title, components, problems } = rebuilt;
      database.write(() => {
        const before = statements.plan().get({ tenant, id, version });
        if (before === undefined || before.builder >= rebuilt.builder) return;
        statements.rebuildVersion().run({ ...rebuilt });
        statements.rebuildNewest().run({ tenant, id, version, title, components, problems });
        for (const { instance } of statements.dockedAt().all({ tenant, id, version })) {
          statements.synchronise().run({ instance });
        }
      });
    },

    versions(tenant, id, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      return pageOfRows(statements.versions().all({ tenant, id, before, limit: limit + 1 }), limit, (last) => [
        last.version,
      ]);
    },

    remove(tenant, id, entry) {
      const lines = database.write(() => {
        const row = get(tenant, id);
        if (row === null) return null;
        if (row.docked > 0) throw workbookInUse(row);
        statements.removeVersions().run({ tenant, id });
        statements.remove().run({ tenant, id });
        return ledger.append([entry]);
      });
      ledger.announce(lines ?? []);
      return lines !== null;
    },
  };
}
