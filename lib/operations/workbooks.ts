/** Operations on workbooks: sources, their versions, plans and upgrades. Docking is in docking.ts. */
import { createHash } from 'node:crypto';
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { Turns } from '../base/turns.ts';
import type {
  PlanAnswer,
  UpgradeAnswer,
  UpgradeQuery,
  Workbook,
  WorkbookQuery,
  WorkbooksQuery,
  WorkbookVersion,
  WorkbookVersionQuery,
  WorkbookVersionsQuery,
} from '../contract/schema.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { WorkbookCondition, WorkbookRow } from '../registry/workbooks.ts';
import { componentsOfPlan, durableComponents } from '../workbooks/docked.ts';
import { KEPT_VERSIONS, MAX_WORKBOOKS, PLAN_BUILDER } from '../workbooks/limits.ts';
import { MAX_SOURCE_BYTES } from '../workbooks/outline.ts';
import type { SourceParser } from '../workbooks/source-parser.ts';
import type { PlanProblem, WorkbookPlan } from '../workbooks/types.ts';
import { checkUpgrade } from '../workbooks/upgrade.ts';
import { withActorName, withActorNames } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';
import { versionsOf } from './conditions.ts';
import type { ListPage } from './list-page.ts';
import type { UploadStream } from './streams.ts';

/** A large source takes the thread for milliseconds, several times. */
const TURNS = new Turns();

export interface WorkbookOperations {
  /** Stores a source for the query's tenant, else the caller's only one. The same bytes are no new version. */
  putWorkbook(
    caller: Caller,
    id: string,
    query: WorkbookQuery,
    upload: UploadStream,
    headers: { ifMatch: string | null; ifNoneMatch: string | null },
  ): Promise<{ workbook: Workbook; created: boolean }>;
  /** A workbook with the source of a version, by default of the newest. */
  getWorkbook(
    caller: Caller,
    id: string,
    query: WorkbookVersionQuery,
  ): Promise<{ workbook: Workbook; version: WorkbookVersion; source: string }>;
  deleteWorkbook(caller: Caller, id: string, query: WorkbookQuery): Promise<void>;
  /** By tenant and id. */
  listWorkbooks(caller: Caller, query: WorkbooksQuery): Promise<ListPage<Workbook>>;
  workbookPlan(caller: Caller, id: string, query: WorkbookVersionQuery): Promise<PlanAnswer>;
  /** Newest first. */
  workbookVersions(caller: Caller, id: string, query: WorkbookVersionsQuery): Promise<ListPage<WorkbookVersion>>;
  /** The plan of a source that is not stored. */
  planSource(caller: Caller, upload: UploadStream): Promise<PlanAnswer>;
  workbookUpgrade(caller: Caller, id: string, query: UpgradeQuery): Promise<UpgradeAnswer>;
}

export function workbookOperations(parts: {
  registry: Registry;
  clock: Clock;
  sourceParser: SourceParser;
  auth: { actors: ActorDirectory };
}): WorkbookOperations {
  const { registry, clock, sourceParser } = parts;
  const { workbooks } = registry;
  const { actors } = parts.auth;

  const named = (row: WorkbookRow): Promise<Workbook> => withActorName(actors, 'updated_by', workbookOf(row));

  /** The workbook of an id: of the named tenant, else the only one of those that the caller sees. */
  const found = async (caller: Caller, id: string, tenant: string | undefined): Promise<WorkbookRow> => {
    if (tenant !== undefined) {
      const row = await workbooks.get(tenant, id);
      if (row === null) throw unknownWorkbook(id);
      return row;
    }
    const [row, other] = await workbooks.ofId(id, caller.tenants, 2);
    if (row === undefined) throw unknownWorkbook(id);
    if (other !== undefined) throw needsTenant(`Several tenants have a workbook "${id}".`);
    return row;
  };

  /** The tenant of what is stored under an id: the caller's only one, else the only one that has it. */
  const ownerOf = async ({ tenants }: Caller, id: string): Promise<string> => {
    if (tenants?.length === 1 && tenants[0] !== undefined) return tenants[0];
    const [row, other] = await workbooks.ofId(id, tenants, 2);
    if (other !== undefined) throw needsTenant(`Several tenants have a workbook "${id}".`);
    if (row === undefined) throw needsTenant(`No tenant has a workbook "${id}" yet: a new one needs its tenant.`);
    return row.tenant;
  };

  const versionOf = async (row: WorkbookRow, version: number | undefined) => {
    const stored = await workbooks.version(row.tenant, row.id, version ?? row.version);
    if (stored !== null) return stored;
    throw new WinterdockError('not_found', `The workbook "${row.id}" has no version ${version}.`, {
      hint: 'It may have been removed: the newest hundred are kept, and those that a sandbox is docked to.',
    });
  };

  const planAt = async (row: WorkbookRow, version: number): Promise<WorkbookPlan> => {
    const { plan, problems } = await versionOf(row, version);
    if (plan !== null) return JSON.parse(plan) as WorkbookPlan;
    throw new WinterdockError('validation', `Version ${version} of "${row.id}" has ${problems} problems and no plan.`);
  };

  return {
    async putWorkbook(caller, id, query, upload, headers) {
      const tenant = query.tenant ?? (await ownerOf(caller, id));
      const source = await sourceOf(upload);
      const { title, plan, problems, components, schedules } = await sourceParser.parse(tenant, source.text);
      const { hash, bytes } = source;
      const summary =
        problems.length === 0
          ? `${components} components`
          : `${problems.length} problems, so that nothing can dock to it`;
      const audit = auditContextOf(caller, `workbook ${id}: ${bytes} bytes, sha256:${hash}, ${summary}`);
      const { row, created } = await workbooks.put(
        {
          tenant,
          id,
          title,
          hash,
          bytes,
          components: plan === null ? null : components,
          problems: problems.length,
          source: source.text,
          plan,
          problemList: JSON.stringify(problems),
          builder: PLAN_BUILDER,
          schedules,
          now: epochSeconds(clock),
          actor: caller.actor,
        },
        { keep: KEPT_VERSIONS, most: MAX_WORKBOOKS },
        ledgerEntry(parts, null, audit, 'workbook.put', { tenant }),
        conditionOf(headers),
      );
      return { workbook: await named(row), created };
    },

    async getWorkbook(caller, id, query) {
      const row = await found(caller, id, query.tenant);
      const { source, ...version } = await versionOf(row, query.version);
      const shown = await withActorName(actors, 'created_by', workbookVersionOf(version));
      return { workbook: await named(row), version: shown, source };
    },

    async deleteWorkbook(caller, id, query) {
      const row = await found(caller, id, query.tenant);
      const audit = auditContextOf(caller, `workbook ${id}, version ${row.version}`);
      const entry = ledgerEntry(parts, null, audit, 'workbook.deleted', { tenant: row.tenant });
      if (!(await workbooks.remove(row.tenant, id, entry))) throw unknownWorkbook(id);
    },

    async listWorkbooks({ tenants }, { tenant, q, limit, cursor }) {
      const filter = { tenant, tenants: tenants ?? undefined, ...(q === undefined || q === '' ? {} : { text: q }) };
      const { rows, next } = await workbooks.list(filter, limit, cursor);
      return { items: await withActorNames(actors, 'updated_by', rows.map(workbookOf)), next };
    },

    async workbookPlan(caller, id, query) {
      const row = await found(caller, id, query.tenant);
      const { version, title, hash, plan, problemList, components } = await versionOf(row, query.version);
      return planAnswer({ workbook: id, version, title, hash, plan, components }, JSON.parse(problemList));
    },

    async workbookVersions(caller, id, { tenant, limit, cursor }) {
      const row = await found(caller, id, tenant);
      const { rows, next } = await workbooks.versions(row.tenant, id, limit, cursor);
      return { items: await withActorNames(actors, 'created_by', rows.map(workbookVersionOf)), next };
    },

    async planSource(caller, upload) {
      const { text, hash } = await sourceOf(upload);
      const parsed = await sourceParser.parse(caller.tenants?.[0] ?? caller.actor, text);
      return planAnswer({ workbook: null, version: null, hash, ...parsed }, parsed.problems);
    },

    async workbookUpgrade(caller, id, { tenant, from, to }) {
      const row = await found(caller, id, tenant);
      const target = to ?? row.version;
      const changes = checkUpgrade(await planAt(row, from), await planAt(row, target));
      return { from, to: target, breaking: changes.some(({ breaking }) => breaking), changes };
    },
  };
}

function planAnswer(
  {
    plan: text,
    components,
    hash,
    ...rest
  }: Pick<PlanAnswer, 'workbook' | 'version' | 'title' | 'hash'> & {
    plan: string | null;
    components: number | null;
  },
  problems: PlanProblem[],
): PlanAnswer {
  const plan = text === null ? null : (JSON.parse(text) as WorkbookPlan);
  return {
    workbook: rest.workbook,
    version: rest.version,
    hash: `sha256:${hash}`,
    title: rest.title,
    plan,
    problems,
    durable: plan === null ? [] : durableComponents(plan),
    components: components ?? (plan === null ? 0 : componentsOfPlan(plan).length),
  };
}

/** The body as text with its hash. Throws `too_large`, and `validation` for what is no text. */
async function sourceOf(upload: UploadStream): Promise<{ text: string; hash: string; bytes: number }> {
  const body = await upload.bytes(MAX_SOURCE_BYTES);
  const text = await TURNS.run(() => textOf(body));
  const hash = await TURNS.run(() => createHash('sha256').update(body).digest('hex'));
  return { text, hash, bytes: body.byteLength };
}

function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch (cause) {
    throw new WinterdockError('validation', 'The source is not UTF-8.', { hint: 'Send org text in UTF-8.', cause });
  }
}

function needsTenant(message: string): WinterdockError {
  return new WinterdockError('validation', message, {
    hint: 'Name the tenant: ?tenant=.',
    extra: { errors: [{ path: 'tenant', message: 'is missing' }] },
  });
}

function conditionOf(headers: { ifMatch: string | null; ifNoneMatch: string | null }): WorkbookCondition {
  const { ifMatch, ifNoneMatch } = headers;
  return {
    ...(ifMatch === null ? {} : { ifMatch: versionsOf(ifMatch, false) }),
    ...(ifNoneMatch === null ? {} : { ifNoneMatch: versionsOf(ifNoneMatch, true) }),
  };
}

function unknownWorkbook(id: string): WinterdockError {
  return new WinterdockError('not_found', `There is no workbook "${id}".`);
}

function workbookOf(row: WorkbookRow): Omit<Workbook, 'updated_by_name'> {
  const { id, tenant, title, version, hash, bytes, components, problems, docked } = row;
  return {
    id,
    tenant,
    title,
    version,
    hash: `sha256:${hash}`,
    bytes,
    components,
    problems,
    created_at: row.created,
    updated_at: row.updated,
    updated_by: row.updatedBy,
    docked,
  };
}

function workbookVersionOf(
  row: Pick<WorkbookRow, 'version' | 'hash' | 'bytes' | 'components' | 'problems'> & {
    created: number;
    createdBy: string;
  },
): Omit<WorkbookVersion, 'created_by_name'> {
  const { version, hash, bytes, components, problems, created, createdBy } = row;
  return { version, hash: `sha256:${hash}`, bytes, components, problems, created_at: created, created_by: createdBy };
}
