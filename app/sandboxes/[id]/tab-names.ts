/** The tabs of a sandbox and their addresses. Pure. */
import { type SearchParams, singleValues } from '../../search-params.ts';

export const TABS = [
  { key: 'files', name: 'Files' },
  { key: 'terminal', name: 'Terminal' },
  { key: 'logs', name: 'Logs' },
  { key: 'time', name: 'Time' },
  { key: 'past', name: 'Past' },
  { key: 'ledger', name: 'Ledger' },
  { key: 'snapshots', name: 'Snapshots' },
  { key: 'shares', name: 'Shares' },
  { key: 'workbook', name: 'Workbook' },
  { key: 'schedules', name: 'Schedules' },
  { key: 'network', name: 'Network' },
  { key: 'environment', name: 'Environment' },
  { key: 'settings', name: 'Settings' },
] as const;

export type TabKey = (typeof TABS)[number]['key'];

/**
 * The tab of an address that names none: Files; Time for those who see no contents, unless it names a file. Theirs are
 * by their own address.
 */
export function firstTab(search: SearchParams, seesContents: boolean): TabKey {
  return seesContents || singleValues(search).volume !== undefined ? 'files' : 'time';
}

/** The tab that an address asks for; the first one when it asks for none or an unknown one. */
export function tabOf(search: SearchParams, first: TabKey): TabKey {
  const { tab } = singleValues(search);
  return TABS.find(({ key }) => key === tab)?.key ?? first;
}

/** `first`: the tab of the address that names none. */
export function tabAddress(id: string, tab: TabKey, first: TabKey = 'files'): string {
  return `/sandboxes/${id}${tab === first ? '' : `?tab=${tab}`}#parts`;
}
