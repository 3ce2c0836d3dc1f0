/** The tabs of a sandbox and their addresses. Pure. */
import { type SearchParams, singleValues } from '../../search-params.ts';

export const TABS = [
  { key: 'files', name: 'Files' },
  { key: 'terminal', name: 'Terminal' },
  { key: 'time', name: 'Time' },
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

/** The tab that an address asks for; Files when it asks for none or an unknown one. */
export function tabOf(search: SearchParams): TabKey {
  const { tab } = singleValues(search);
  return TABS.find(({ key }) => key === tab)?.key ?? 'files';
}

export function tabAddress(id: string, tab: TabKey): string {
  return `/sandboxes/${id}${tab === 'files' ? '' : `?tab=${tab}`}#parts`;
}
