/**
 * Whose a sandbox is: the host that has it awake, carries out an operation on it, or has its newest bytes on its own
 * disk. The first two have a token of their acquisition, which every compare-and-set carries: nobody else has it, not
 * even the same host after a restart. Pure.
 */
import { randomBytes } from 'node:crypto';
import { isCloudAddress } from '../base/cloud-address.ts';
import { parseCopyPath } from '../base/copy-paths.ts';
import { NO_SERIES, type SeriesOrder } from './series-order.ts';
import type { InstanceRow, RowOwner } from './types.ts';

/** What a row says of its owner. */
export type Ownership = Pick<InstanceRow, 'ownerHost' | 'ownerTerm' | 'ownerToken' | 'writeId'>;

/** Of a row that is anybody's, and never was somebody's. */
export const UNOWNED: Ownership & SeriesOrder = {
  ...{ ownerHost: null, ownerTerm: null, ownerToken: null, writeId: null },
  ...NO_SERIES,
};

/** 128 random bits, as text. */
export function newToken(): string {
  return randomBytes(16).toString('base64url');
}

/** Whether the newest bytes of a row are on the disk of one host alone. */
function isLocal({ state, vfsPath, file }: Pick<InstanceRow, 'state' | 'vfsPath' | 'file'>): boolean {
  if (state === 'deleted' || vfsPath === null || vfsPath === ':memory:') return false;
  return file?.tag === undefined && parseCopyPath(vfsPath) === null && !isCloudAddress(vfsPath);
}

/**
 * The ownership of a row that `by` has just written, without an operation under way: an active one stays its owner's, a
 * resting one keeps the host that has its file. `by` is null for a tool, whose writes acquire nothing.
 */
export function ownershipAfter(
  row: Pick<InstanceRow, 'state' | 'vfsPath' | 'file' | 'ownerHost' | 'ownerTerm'>,
  by: RowOwner | null,
): Omit<Ownership, 'writeId'> {
  if (row.state === 'active' && by !== null) {
    return { ownerHost: by.host, ownerTerm: by.term, ownerToken: by.token };
  }
  if (!isLocal(row)) return { ownerHost: null, ownerTerm: null, ownerToken: null };
  return { ownerHost: by?.host ?? row.ownerHost, ownerTerm: by?.term ?? row.ownerTerm, ownerToken: null };
}

/** Whether what `by` has measured of a row may still be written: nobody else has acquired it since. */
export function mayMeasure(row: Pick<InstanceRow, 'ownerHost' | 'ownerToken'>, by: RowOwner): boolean {
  if (row.ownerToken !== null) return row.ownerToken === by.token;
  return row.ownerHost === null || row.ownerHost === by.host;
}

/** Whether nobody has moved or acquired a row since it was read. */
export function isSameAcquisition(
  row: Pick<InstanceRow, 'generation' | 'ownerToken'>,
  asRead: Pick<InstanceRow, 'generation' | 'ownerToken'>,
): boolean {
  return row.generation === asRead.generation && row.ownerToken === asRead.ownerToken;
}
