/** The summaries of a diff: `--stat`, `--shortstat`, `--numstat`, `--summary`. Pure. */
import type { TreeChange } from './changes.ts';
import { type ChangeContents, lineCounts } from './patch-text.ts';
import { quotedPath } from './quoted-path.ts';

const WIDTH = 80;

interface Row {
  name: string;
  added: number;
  removed: number;
  /** Set for a binary file. */
  sizes: [before: number, after: number] | null;
}

function rowsOf(contents: readonly ChangeContents[]): Row[] {
  return contents.map((one) => {
    const counts = lineCounts(one);
    return {
      name: changeName(one.change),
      added: counts?.added ?? 0,
      removed: counts?.removed ?? 0,
      sizes: counts === null ? [one.before.length, one.after.length] : null,
    };
  });
}

/** `path`, or of a rename `folder/{old => new}/rest`. */
function changeName({ status, from, path }: TreeChange): string {
  if (status !== 'R') return quotedPath(path);
  let head = 0;
  for (let at = 0; at < from.length && from[at] === path[at]; at += 1) if (from[at] === '/') head = at + 1;
  let tail = 0;
  const most = Math.min(from.length, path.length) - Math.max(head - 1, 0);
  for (let at = 1; at <= most && from[from.length - at] === path[path.length - at]; at += 1) {
    if (from[from.length - at] === '/') tail = at;
  }
  const [old, fresh] = [from.slice(head, from.length - tail), path.slice(head, path.length - tail)];
  if (head + tail === 0) return `${quotedPath(from)} => ${quotedPath(path)}`;
  return `${path.slice(0, head)}{${old} => ${fresh}}${tail === 0 ? '' : path.slice(path.length - tail)}`;
}

/** `--stat`, with its last line. */
export function statText(contents: readonly ChangeContents[]): string {
  const rows = rowsOf(contents);
  if (rows.length === 0) return '';
  const most = Math.max(...rows.map(({ added, removed }) => added + removed));
  const hasBinary = rows.some(({ sizes }) => sizes !== null);
  const binaryWidth = Math.max(
    0,
    ...rows.map(({ sizes }) => (sizes === null ? 0 : 14 + String(sizes[0]).length + String(sizes[1]).length)),
  );
  const numberWidth = Math.max(String(most).length, hasBinary ? 3 : 0);
  let graphWidth = Math.max(most, binaryWidth > 0 ? binaryWidth - numberWidth : 0);
  if (most >= graphWidth) graphWidth = most;
  let nameWidth = Math.max(...rows.map(({ name }) => name.length));
  if (nameWidth + numberWidth + 6 + graphWidth > WIDTH) {
    if (graphWidth > Math.floor((WIDTH * 3) / 8) - numberWidth - 6) {
      graphWidth = Math.max(6, Math.floor((WIDTH * 3) / 8) - numberWidth - 6);
    }
    if (nameWidth > WIDTH - numberWidth - 6 - graphWidth) nameWidth = WIDTH - numberWidth - 6 - graphWidth;
    else graphWidth = WIDTH - numberWidth - 6 - nameWidth;
  }
  const lines = rows.map(({ name, added, removed, sizes }) => {
    const shown = ` ${shortened(name, nameWidth).padEnd(nameWidth)} |`;
    if (sizes !== null) return `${shown} ${'Bin'.padStart(numberWidth)} ${sizes[0]} -> ${sizes[1]} bytes\n`;
    const [plus, minus] = scaled(added, removed, graphWidth, most);
    const graph = '+'.repeat(plus) + '-'.repeat(minus);
    return `${shown} ${String(added + removed).padStart(numberWidth)}${graph === '' ? '' : ` ${graph}`}\n`;
  });
  return lines.join('') + shortStatText(contents);
}

function shortened(name: string, width: number): string {
  if (name.length <= width) return name;
  const tail = name.slice(name.length - (width - 3));
  const slash = tail.indexOf('/');
  return `...${slash < 0 ? tail : tail.slice(slash)}`;
}

function scaled(added: number, removed: number, width: number, most: number): [plus: number, minus: number] {
  if (width > most) return [added, removed];
  const scale = (count: number) => (count === 0 ? 0 : 1 + Math.floor((count * (width - 1)) / most));
  let total = scale(added + removed);
  if (total < 2 && added > 0 && removed > 0) total = 2;
  if (added < removed) return [scale(added), total - scale(added)];
  return [total - scale(removed), scale(removed)];
}

export function shortStatText(contents: readonly ChangeContents[]): string {
  const rows = rowsOf(contents);
  if (rows.length === 0) return '';
  const [added, removed] = [sumOf(rows, 'added'), sumOf(rows, 'removed')];
  const parts = [` ${rows.length} file${rows.length === 1 ? '' : 's'} changed`];
  if (added > 0 || removed === 0) parts.push(` ${added} insertion${added === 1 ? '' : 's'}(+)`);
  if (removed > 0 || added === 0) parts.push(` ${removed} deletion${removed === 1 ? '' : 's'}(-)`);
  return `${parts.join(',')}\n`;
}

function sumOf(rows: readonly Row[], key: 'added' | 'removed'): number {
  return rows.reduce((total, row) => total + row[key], 0);
}

export function numStatText(contents: readonly ChangeContents[]): string {
  return rowsOf(contents)
    .map(({ name, added, removed, sizes }) => `${sizes ? '-\t-' : `${added}\t${removed}`}\t${name}\n`)
    .join('');
}

/** Files that were created, removed or renamed, and modes that changed. */
export function summaryText(changes: readonly TreeChange[]): string {
  const octal = (mode: number | undefined) => (mode ?? 0).toString(8).padStart(6, '0');
  return changes
    .map((change) => {
      const { status, before, after, path, similarity } = change;
      if (status === 'A') return ` create mode ${octal(after?.mode)} ${quotedPath(path)}\n`;
      if (status === 'D') return ` delete mode ${octal(before?.mode)} ${quotedPath(path)}\n`;
      const isOtherMode = before?.mode !== after?.mode;
      const modes = `mode change ${octal(before?.mode)} => ${octal(after?.mode)}`;
      if (status === 'R') return ` rename ${changeName(change)} (${similarity}%)\n${isOtherMode ? ` ${modes}\n` : ''}`;
      return isOtherMode ? ` ${modes} ${quotedPath(path)}\n` : '';
    })
    .join('');
}
