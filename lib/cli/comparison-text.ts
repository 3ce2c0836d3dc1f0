/** What differs between two states of a volume, as a table for people. Pure. */
import type { Comparison } from '../contract/schema.ts';
import { bytesText, table } from './format.ts';
import { wholePath } from './remote-path.ts';

export function comparisonText({ volume, changes, added, removed, changed, same }: Comparison): string {
  const row = ({ change, path, before, now }: Comparison['changes'][number]) => [
    change,
    bytesText(before?.size ?? 0),
    bytesText(now?.size ?? 0),
    wholePath(volume, path),
  ];
  const rows = changes.length === 0 ? '' : table(['CHANGE', 'BEFORE', 'NOW', 'PATH'], changes.map(row));
  return `${rows}${added} added, ${removed} removed, ${changed} changed, ${same} as they were.\n`;
}
