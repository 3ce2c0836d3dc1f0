/** What a call has changed, in numbers: the commit takes steps for those kinds alone that there are. */

/** Numbers about the buffered changes. */
export interface Gathered {
  rows: number;
  above: number | null;
  pages: number;
  replaced: number;
  gone: number;
  files: number;
  nodes: number;
  kept: number;
  attributes: number;
}

const count = (...kinds: string[]) => `count(*) FILTER (WHERE kind IN (${kinds.map((kind) => `'${kind}'`)}))`;
export const GATHERED = `SELECT count(*) AS rows, max(above) AS above, total(pages) AS pages, total(freed) FILTER (WHERE kind = 'file') AS replaced,
  ${count('gone', 'dir', 'link')} AS gone, ${count('file')} AS files, ${count('dir', 'link')} AS nodes, ${count('kept')} AS kept,
  ${count('attributes')} AS attributes FROM pending.changed_path WHERE call = ?`;
