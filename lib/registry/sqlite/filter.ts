/** What a list asks for, as conditions of SQL. Pure: every value is a parameter, never text of a statement. */
import type { State } from '../../lifecycle/states.ts';
import type { Fault } from '../../lifecycle/words.ts';
import type { ListFilter } from '../registry.ts';
import { queryWords } from '../words.ts';
import type { Value } from './database.ts';

/** A filter as the tables have it: what is deleted is apart from everything else. */
export interface Wanted {
  /** Only what is deleted, or only what is not. */
  deleted: boolean;
  /** Never `deleted`. */
  state?: State;
  notState?: State;
  tenant?: string;
  fault?: Fault;
  name?: string;
  label?: { key: string; value: string };
  since?: number;
  until?: number;
  pending?: { until?: number };
  due?: { since?: number; until?: number };
  words: string[];
}

export type Aspect =
  | 'deleted'
  | 'state'
  | 'notState'
  | 'tenant'
  | 'fault'
  | 'name'
  | 'label'
  | 'time'
  | 'pending'
  | 'due'
  | 'words';

export interface Condition {
  aspect: Aspect;
  sql: string;
  params: Value[];
}

/** The filter normalised, or null when nothing can match it. */
export function wantedOf(filter: ListFilter): Wanted | null {
  const { state, notState, tenant, fault, name, label, since, until, pending, due, text } = filter;
  if (state !== undefined && state === notState) return null;
  return {
    deleted: state === 'deleted',
    ...(state === undefined || state === 'deleted' ? {} : { state }),
    ...(state !== undefined || notState === undefined || notState === 'deleted' ? {} : { notState }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(fault === undefined ? {} : { fault }),
    ...(name === undefined ? {} : { name }),
    ...(label === undefined ? {} : { label: { key: label.key.toWellFormed(), value: label.value.toWellFormed() } }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(pending === undefined ? {} : { pending }),
    ...(due === undefined ? {} : { due }),
    words: text === undefined ? [] : queryWords(text),
  };
}

/** Each aspect as a condition on a row of `instances`. */
export function conditionsOf(wanted: Wanted): Condition[] {
  const { deleted, state, notState, tenant, fault, name, label, since, until, pending, due, words } = wanted;
  const conditions: Condition[] = [{ aspect: 'deleted', sql: `instances.tombstone = ${deleted ? 1 : 0}`, params: [] }];
  if (tenant !== undefined) conditions.push({ aspect: 'tenant', sql: 'instances.tenant = ?', params: [tenant] });
  if (state !== undefined) conditions.push({ aspect: 'state', sql: 'instances.state = ?', params: [state] });
  if (notState !== undefined) conditions.push({ aspect: 'notState', sql: 'instances.state <> ?', params: [notState] });
  if (fault !== undefined) conditions.push({ aspect: 'fault', sql: 'instances.fault = ?', params: [fault] });
  if (name !== undefined) conditions.push({ aspect: 'name', sql: 'instances.name_key = ?', params: [name] });
  if (label !== undefined) conditions.push(labelCondition(label, deleted));
  if (since !== undefined) conditions.push({ aspect: 'time', sql: 'instances.updated >= ?', params: [since] });
  if (until !== undefined) conditions.push({ aspect: 'time', sql: 'instances.updated <= ?', params: [until] });
  if (pending !== undefined) conditions.push(pendingCondition(pending));
  if (due !== undefined) conditions.push(dueCondition(due));
  if (words.length > 0) {
    conditions.push({
      aspect: 'words',
      sql: words.map(() => 'instr(instances.words, ?) > 0').join(' AND '),
      params: words.map((word) => ` ${word}`),
    });
  }
  return conditions;
}

/** The moment at which an operation began is in its intent: those under way are few. */
function pendingCondition({ until }: { until?: number }): Condition {
  const bound = until === undefined ? '' : ` AND instances.pending ->> '$.startedMs' <= ?`;
  return {
    aspect: 'pending',
    sql: `instances.pending IS NOT NULL${bound}`,
    params: until === undefined ? [] : [until],
  };
}

function dueCondition({ since, until }: { since?: number; until?: number }): Condition {
  const bounds = [...(since === undefined ? [] : ['>=']), ...(until === undefined ? [] : ['<='])];
  const within = bounds.map((comparison) => ` AND instances.due_at ${comparison} ?`).join('');
  return {
    aspect: 'due',
    sql: `instances.due_at IS NOT NULL AND instances.pending IS NULL${within}`,
    params: [since, until].filter((bound) => bound !== undefined),
  };
}

/** What is deleted has no rows in the labels table, only the labels it had. */
function labelCondition({ key, value }: { key: string; value: string }, deleted: boolean): Condition {
  const from = deleted
    ? 'json_each(instances.labels) AS one WHERE'
    : 'labels AS one WHERE one.instance_row = instances.rowid AND';
  return {
    aspect: 'label',
    sql: `EXISTS (SELECT 1 FROM ${from} one.key = ? AND +one.value = ?)`,
    params: [key, value],
  };
}
