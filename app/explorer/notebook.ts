/**
 * The calls that somebody kept, in this browser and under their own name only. Answers are not kept: they may hold what
 * is shown once. Calls with a password in them are never kept.
 */
import type { CallValues } from './call-values.ts';

export interface KeptCall {
  /** Unique in the notebook. */
  key: string;
  name: string;
  values: CallValues;
}

const LONGEST = 50;
const SECRET_CALLS: readonly string[] = ['changePassword'];

function storageKey(actor: string): string {
  return `winterdock.recent.notebook ${actor}`;
}

/** Whether a call may be kept. */
export function isKeepable(name: string): boolean {
  return !SECRET_CALLS.includes(name);
}

function isKept(each: unknown): each is KeptCall {
  if (typeof each !== 'object' || each === null) return false;
  const { key, name, values } = each as Partial<KeptCall>;
  return (
    typeof key === 'string' &&
    typeof name === 'string' &&
    typeof values?.body === 'string' &&
    typeof values.parameters === 'object' &&
    values.parameters !== null &&
    Object.values(values.parameters).every((value) => typeof value === 'string')
  );
}

/** Reads the notebook of `actor`, oldest call first. What cannot be read is none. */
export function readNotebook(actor: string, storage: Pick<Storage, 'getItem'>): KeptCall[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(storageKey(actor)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isKept).filter(({ name }) => isKeepable(name)) : [];
  } catch {
    // Storage is refused, or holds something else.
    return [];
  }
}

/** Keeps the newest calls. False: the browser refused. */
export function writeNotebook(actor: string, calls: readonly KeptCall[], storage: Pick<Storage, 'setItem'>): boolean {
  try {
    storage.setItem(storageKey(actor), JSON.stringify(calls.filter(({ name }) => isKeepable(name)).slice(-LONGEST)));
    return true;
  } catch {
    return false;
  }
}
