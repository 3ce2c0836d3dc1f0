/** How a change derives the next row from the current one, alike in every driver. Pure. */
import type { State } from '../lifecycle/state-map.ts';
import type { FiledInStore, InstancePatch, InstanceStore, RowTaking, StoredRecord, Transition } from './instances.ts';
import { isSameAcquisition, ownershipAfter, UNOWNED } from './owner.ts';
import { acquiredBy } from './series-order.ts';
import type { FileRecord, InstanceRow, NewInstance, RowOwner, StoredObject } from './types.ts';

type Raised = NonNullable<Transition['fault']>;

/** Whether a row was taken so already, by an attempt whose answer was lost. */
export function wasTaken({ ownerHost, ownerToken, pending, generation }: InstanceRow, { row, by }: RowTaking): boolean {
  if (by !== null) return ownerToken !== null && ownerToken === by.owner?.token;
  return generation === row.generation && ownerHost === null && pending === null;
}

/** The row that was taken from its host; null: it is another one than was read. */
export function takenRow(before: InstanceRow, { row, by }: RowTaking): InstanceRow | null {
  if (!isSameAcquisition(before, row) || before.ownerHost !== row.ownerHost) return null;
  if (by === null) return { ...before, pending: null, ownerHost: null, ownerTerm: null, ownerToken: null };
  const { intent, order, owner } = by;
  const { host: ownerHost = null, term: ownerTerm = null, token: ownerToken = null } = owner ?? {};
  return { ...before, ...order, pending: intent, ownerHost, ownerTerm, ownerToken };
}

/** The row of a new instance; `now` in epoch seconds. */
export function newRow({ host, ...instance }: NewInstance, now: number): InstanceRow {
  const row: InstanceRow = {
    ...instance,
    name: instance.name?.toWellFormed() ?? null,
    labels: wellFormed(instance.labels),
    state: 'created',
    updated: now,
    created: now,
    stateSince: now,
    generation: 0,
    fault: null,
    faultReason: null,
    pending: null,
    holdUntil: null,
    workbookVersion: instance.workbookVersion ?? null,
    replicate: instance.replicate ?? null,
    bytes: instance.bytes ?? null,
    file: instance.file ?? null,
    failures: 0,
    ...UNOWNED,
    writeId: instance.writeId ?? null,
    ...(host === undefined ? {} : acquiredBy(UNOWNED, host.term)),
    stored: null,
  };
  return {
    ...row,
    ...ownershipAfter(row, host === undefined ? null : { host: host.name, term: host.term, token: null }),
  };
}

/** The row of a sandbox that existed before, and what it is moved to at once. `filed`: only the store has its file. */
export function adoptedRow(
  made: InstanceRow,
  to: State,
  hops: number,
  filed?: FiledInStore,
): { row: InstanceRow; moved: InstanceRow } {
  if (filed === undefined) return { row: made, moved: { ...made, state: to, generation: hops } };
  const { host: _, ...asFiled } = filed;
  const row = { ...made, created: filed.created };
  return { row, moved: { ...row, ...asFiled, state: to, vfsPath: filed.stored.address } };
}

/** `undefined` leaves the fault alone, null clears it. */
export function faultOf(
  fault: Raised | null | undefined,
  before: InstanceRow,
): Pick<InstanceRow, 'fault' | 'faultReason'> {
  if (fault === undefined) return { fault: before.fault, faultReason: before.faultReason };
  return { fault: fault?.fault ?? null, faultReason: fault?.reason ?? null };
}

/** The row after a transition that makes `hops` of them. */
export function movedRow(before: InstanceRow, hop: Transition, hops: number): InstanceRow {
  const moves = hop.from !== hop.to;
  const after: InstanceRow = {
    ...before,
    ...faultOf(hop.fault, before),
    state: hop.to,
    generation: before.generation + hops,
    vfsPath: hop.vfsPath,
    file: hop.file,
    bytes: hop.bytes === undefined ? before.bytes : hop.bytes,
    policy: hop.policy ?? before.policy,
    updated: moves ? hop.now : before.updated,
    stateSince: moves ? hop.now : before.stateSince,
    pending: null,
    failures: 0,
    writeId: hop.writeId ?? null,
    stored: hop.to === 'deleted' ? null : before.stored,
  };
  return { ...after, ...ownershipAfter(after, hop.owner ?? null) };
}

/** The row whose file is in the store, whole: no host has its newest bytes alone any more. */
export function storedRow(before: InstanceRow, stored: StoredObject): InstanceRow {
  const file = before.file && { ...before.file, sha256: stored.sha256 };
  const after: InstanceRow = { ...before, vfsPath: stored.address, file, stored };
  return { ...after, ...ownershipAfter(after, null) };
}

/** Whether a row at rest is still the filing that an object in the store was made of, and nobody is at it. */
export function isFiledAs(
  row: InstanceRow | null,
  { generation, vfsPath, host, stored }: Pick<StoredRecord, 'generation' | 'vfsPath' | 'host' | 'stored'>,
): row is InstanceRow {
  return (
    row !== null &&
    row.generation === generation &&
    row.vfsPath === vfsPath &&
    row.pending === null &&
    row.ownerToken === null &&
    row.file !== null &&
    (row.file.sha256 === null || row.file.sha256 === stored.sha256) &&
    (row.ownerHost === null || row.ownerHost === host) &&
    (row.state === 'frozen' || row.state === 'archived')
  );
}

/** The row whose file is back in its drawer, with what is known of its bytes; null when the row is another by now. */
export function broughtRow(row: InstanceRow, generation: number, file: FileRecord): InstanceRow | null {
  if (row.generation !== generation || row.pending !== null || row.file === null || row.state === 'active') return null;
  const { sha256, quickCheck, identity } = row.file;
  return { ...row, file: { ...file, sha256, quickCheck, ...(identity === undefined ? {} : { identity }) } };
}

/** The row after an operation that did not happen. */
export function abandonedRow(
  before: InstanceRow,
  patch: Parameters<InstanceStore['abandon']>[1],
  owner: RowOwner | null,
): InstanceRow {
  // The file is another one than before, so results about the old one do not apply to it.
  const refiled = patch.file === undefined ? {} : { file: patch.file, generation: before.generation + 1 };
  const after: InstanceRow = {
    ...before,
    ...faultOf(patch.fault, before),
    ...refiled,
    failures: patch.failures ?? before.failures,
    pending: null,
    writeId: patch.writeId ?? null,
  };
  return { ...after, ...ownershipAfter(after, owner) };
}

/** Text that SQLite returns unchanged: lone surrogates are replaced. */
export function wellFormed(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key.toWellFormed(), value.toWellFormed()]));
}

/** The columns that `patch` changes. */
const SETTINGS = [
  'name',
  'keepHot',
  'holdUntil',
  'hotToWarmSeconds',
  'idleToSuspendSeconds',
  'idleToFreezeSeconds',
  'replicate',
  'policy',
  'workbook',
  'workbookVersion',
] as const satisfies readonly (keyof InstancePatch)[];

/** True when the settings of a row are still as the caller read them. */
export function hasSettingsOf(row: InstanceRow, asRead: InstanceRow): boolean {
  const labels = ({ labels }: InstanceRow) => JSON.stringify(Object.entries(labels).sort());
  return SETTINGS.every((name) => row[name] === asRead[name]) && labels(row) === labels(asRead);
}

type Docking = Pick<InstanceRow, 'workbook' | 'workbookVersion'>;

/** Whether a change of settings docks to another workbook or version. */
export function isDockedAnew(before: Docking, after: Docking): boolean {
  return before.workbook !== after.workbook || before.workbookVersion !== after.workbookVersion;
}
