/** Reads a workbook for its page. Not found is null. */
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { UpgradeAnswer, Workbook } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

export interface ReadWorkbook {
  workbook: Workbook;
  source: string;
}

/** A version of a workbook, by default its newest; null when there is none that the caller may see. */
export async function readWorkbook(
  caller: Caller,
  id: string,
  query: { tenant?: string; version?: number },
): Promise<ReadWorkbook | null> {
  try {
    return await getHost().operations.getWorkbook(caller, id, query);
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) return null;
    throw error;
  }
}

/** The number of its newest version; null when there is no such workbook. */
export async function readVersionNumber(caller: Caller, id: string, tenant: string): Promise<number | null> {
  return (await readWorkbook(caller, id, { tenant }))?.workbook.version ?? null;
}

/** What an upgrade would change; null when one of the two has no plan. */
export async function readUpgrade(
  caller: Caller,
  id: string,
  query: { tenant: string; from: number; to?: number },
): Promise<UpgradeAnswer | null> {
  try {
    return await getHost().operations.workbookUpgrade(caller, id, query);
  } catch (error) {
    if (isWinterdockError(error)) return null;
    throw error;
  }
}
