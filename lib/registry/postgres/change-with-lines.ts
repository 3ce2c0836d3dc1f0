/**
 * What every command writes, in one round trip each: a statement compares what its caller knows of the row, changes it,
 * computes when it falls due and appends the lines, or does nothing where the row is another. What the next row is
 * comes from row-changes.ts, and why nothing was done is for the caller to find out.
 */
import type { SQL } from 'drizzle-orm';
import { and, eq, isNull, ne, notExists, placeholder, type Queries, sql } from '../../../db/drizzle.ts';
import { instances, tenantForgettings, tenants } from '../../../db/schema.ts';
import { WAKE_VERBS } from '../../lifecycle/state-map.ts';
import type { InstanceStore } from '../instances.ts';
import { boundColumns } from '../statements/bound-values.ts';
import { INSTANCE_COLUMNS } from '../statements/instance-rows.ts';
import { beginIntent } from '../statements/instance-writes.ts';
import { GLOBAL_THRESHOLDS } from '../statements/thresholds.ts';
import type { InstanceRow, Thresholds } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import type { GivenLine, LedgerTable, SiftedLines } from './ledger.ts';
import { type Bound, type Compiled, compiled } from './statement.ts';

type Column = keyof typeof INSTANCE_COLUMNS;
/** What a row is compared by, as its caller knows it: all that its next one is made of. */
type KnownRow = Pick<InstanceRow, 'id'> & Partial<InstanceRow>;

/** What a row gets that is known in these columns: whatever comes from another one is left out. */
export function differing(known: Partial<InstanceRow>, after: InstanceRow): Partial<InstanceRow> {
  const changed = Object.entries(after).filter(
    ([name, value]) => value !== undefined && known[name as keyof InstanceRow] !== value,
  );
  return Object.fromEntries(changed);
}

/** When a row falls due that gets these values. */
function dueAfter(changed: Partial<Record<Column, SQL>>): SQL {
  const value = (column: 'state' | 'updated' | 'fault') => changed[column] ?? instances[column];
  const { created, keepHot, holdUntil, ephemeral } = instances;
  return sql`winterdock_due_at(${value('state')}, ${value('updated')}, ${created}, ${keepHot}, ${holdUntil}, ${ephemeral},
    ${value('fault')}, ${threshold('idleToSuspendSeconds')}, ${threshold('idleToFreezeSeconds')})`;
}

/** A row's own, its tenant's, the global one, or what applies where none was set. */
function threshold(name: 'idleToSuspendSeconds' | 'idleToFreezeSeconds'): SQL {
  return sql`coalesce(${instances[name]},
    (select ${tenants[name]} from ${tenants} where ${tenants.tenant} = ${instances.tenant}),
    (select (value::json ->> ${name})::bigint from settings where key = ${GLOBAL_THRESHOLDS}),
    ${placeholder(name)})`.inlineParams();
}

/** Whether its tenant may have one more active sandbox, `verbs` of pending operations counted too. */
const hasActiveLeft = (verbs: SQL) => sql`has_active_left(${instances.tenant}, ${verbs})`;

/** Sets these columns of a row that is as it is known, and whose tenant may have one more that is active. */
function changeOf(queries: Queries, known: readonly string[], changed: readonly string[], makesActive: boolean) {
  const set = boundColumns(Object.fromEntries(changed.map((name) => [name, true])));
  const isKnown = known.map((name) => {
    const [column, was] = [instances[name as Column], placeholder(`was ${name}`)];
    // It is never null, and the row is found by it.
    return name === 'id' ? eq(column, was) : sql`${column} is not distinct from ${was}`;
  });
  return queries
    .update(instances)
    .set({ ...set, dueAt: dueAfter(set) })
    .where(and(...isKnown, makesActive ? hasActiveLeft(sql`'{}'`) : undefined))
    .returning(INSTANCE_COLUMNS);
}

interface BeginKind {
  wakes: boolean;
  /** Whether what orders the series of its replica is compared and set. */
  isOrdered: boolean;
}

/** The same for an intent, which counts as active when it wakes. */
function beginOf(queries: Queries, { wakes, isOrdered }: BeginKind) {
  const { job, tenant, finished } = tenantForgettings;
  const forgetting = queries
    .select({ job })
    .from(tenantForgettings)
    .where(and(eq(tenant, instances.tenant), isNull(finished)));
  const may = wakes ? [hasActiveLeft(sql`listed(${placeholder('verbs')})`), notExists(forgetting)] : [];
  return beginIntent(queries, isOrdered, ...may).returning(INSTANCE_COLUMNS);
}

/** The bytes of a touch, where they were measured by who may still say so (`mayMeasure`). */
const MEASURED = sql`case when touch.measured and case when touch.host is null then true
    when ${instances.ownerToken} is not null then ${instances.ownerToken} = touch.token
    else coalesce(${instances.ownerHost} = touch.host, true) end then touch.bytes else ${instances.bytes} end`;
const TOUCHES = sql`json_to_recordset(cast(cast(${placeholder('touches')} as text) as json))
    as touch(id text, updated bigint, bytes bigint, measured boolean, host text, token text)`;

function touchOf(queries: Queries) {
  const updated = sql`greatest(${instances.updated}, touch.updated)`;
  return queries
    .update(instances)
    .set({ updated, bytes: MEASURED, dueAt: dueAfter({ updated }) })
    .from(TOUCHES)
    .where(and(sql`${instances.id} = touch.id`, ne(instances.state, 'deleted')));
}

/** A change of one row that appends lines if it is made, and returns the number of the first one behind the row. */
function withLines({ text, params }: Bound, lines: readonly GivenLine[]): Bound {
  const [line] = lines;
  if (line === undefined) return { text, params };
  const at = (n: number) => `$${params.length + n}`;
  // What is returned is computed of a row that was changed.
  if (lines.length > 1) return { text: `${text}, ledger_append(${at(1)})`, params: [...params, JSON.stringify(lines)] };
  const { rest, ...columns } = line;
  const names = Object.keys(columns);
  const values = names.map((_, n) => at(n + 1));
  const append = `insert into events (seq, ${quoted(names)}, hash) select 0, ${values}, ${at(names.length + 1)} from changed`;
  return {
    text: `with changed as (${text}), line as (${append} returning seq) select changed.*, seq from changed, line`,
    params: [...params, ...Object.values(columns), rest],
  };
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join();

export class HotWrites {
  readonly #database: PostgresDatabase;
  readonly #ledger: LedgerTable;
  readonly #thresholds: Thresholds;
  readonly #statements = new Map<string, Compiled<InstanceRow>>();

  /** `thresholds` apply where none were set. */
  constructor(database: PostgresDatabase, ledger: LedgerTable, thresholds: Thresholds) {
    this.#database = database;
    this.#ledger = ledger;
    this.#thresholds = thresholds;
  }

  #statement(key: string, build: (queries: Queries) => { prepare(): unknown }): Compiled<InstanceRow> {
    const made = this.#statements.get(key) ?? compiled<InstanceRow>((queries) => build(queries).prepare());
    this.#statements.set(key, made);
    return made;
  }

  /** Writes an intent. Returns the row; null: it is another one, or its tenant may have no more that are awake. */
  async begin(bound: Record<string, unknown>, kind: BeginKind): Promise<InstanceRow | null> {
    const key = `begin ${kind.wakes} ${kind.isOrdered}`;
    const { text, bind, decode } = this.#statement(key, (queries) => beginOf(queries, kind));
    const params = bind({ ...bound, verbs: JSON.stringify(WAKE_VERBS) });
    const [row] = (await this.#database.writeWhole([{ text, params }]))[0]?.rows ?? [];
    return row === undefined ? null : decode(row);
  }

  /**
   * Changes a row that is as it is known, with its lines, which are announced. Returns the new row; null: it is another
   * one, or its tenant may have no more that are active. `also` is in the same transaction.
   */
  change(
    known: KnownRow,
    changed: Partial<InstanceRow>,
    lines: SiftedLines,
    { makesActive = false, also = [] }: { makesActive?: boolean; also?: readonly Bound[] } = {},
  ): Promise<InstanceRow | null> {
    const after = { ...changed, ...(changed.state === 'deleted' ? { tombstone: 1 } : {}) };
    const [was, set] = [Object.keys(known), Object.keys(after)];
    const { text, bind, decode } = this.#statement(`${was} ${set} ${makesActive}`, (queries) =>
      changeOf(queries, was, set, makesActive),
    );
    const before = Object.fromEntries(Object.entries(known).map(([name, value]) => [`was ${name}`, value]));
    const params = bind({ ...this.#thresholds, ...after, ...before });
    return this.#ledger.appended(lines, async (given) => {
      const change = withLines({ text, params }, given);
      const [row] = (await this.#database.writeWhole([change, ...also]))[0]?.rows ?? [];
      if (row === undefined) return { done: null, first: null };
      return { done: decode(row), first: given.length === 0 ? null : Number(row.at(-1)) };
    });
  }

  /** See `InstanceStore.touch`. */
  async touch(touches: Parameters<InstanceStore['touch']>[0]): Promise<void> {
    if (touches.length === 0) return;
    const { text, bind } = this.#statement('touch', touchOf);
    const rounds: Map<string, object>[] = [];
    for (const { id, updated, bytes, owner } of touches) {
      // A statement changes a row once.
      const round = rounds.find((one) => !one.has(id)) ?? new Map<string, object>();
      if (round.size === 0) rounds.push(round);
      const { host = null, token = null } = owner ?? {};
      round.set(id, { id, updated, bytes, measured: bytes !== undefined, host, token });
    }
    await this.#database.writeWhole(
      rounds.map((round) => ({
        text,
        params: bind({ ...this.#thresholds, touches: JSON.stringify([...round.values()]) }),
      })),
    );
  }

  /** Appends lines, which are announced; once with each id. */
  append(lines: SiftedLines, note: { id: string; atMs: number } | null): Promise<void> {
    return this.#ledger.appended(lines, async (given) => {
      if (given.length === 0) return { done: undefined, first: null };
      const lines = JSON.stringify(given);
      const noted =
        'with noted as (insert into writes (id, at_ms) values ($2, $3) on conflict do nothing returning id)';
      const append =
        note === null
          ? { text: 'select ledger_append($1)', params: [lines] }
          : { text: `${noted} select ledger_append($1) from noted`, params: [lines, note.id, note.atMs] };
      const [[first] = []] = (await this.#database.writeWhole([append]))[0]?.rows ?? [];
      return { done: undefined, first: first === undefined ? null : Number(first) };
    });
  }
}
