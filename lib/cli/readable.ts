/**
 * Any answer as text for people: scalars as names and values, lists as tables. The unit of a number is what its name
 * ends with. Pure.
 */
import { bytesText, durationText, facts, millisecondsText, table, timeText } from './format.ts';

/** Members that are epoch seconds, in every schema of the contract. */
const TIMES = /^(?:time|created|updated|ended|begun|first|since|until|from|to|next|checkpointed)$/;
/** A smaller number is no time of today. */
const EARLIEST = 1_000_000_000;

/** A scalar of an answer, by the name of its member. */
function scalarText(name: string, value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number') return String(value);
  if (TIMES.test(name) && value >= EARLIEST) return timeText(Math.floor(value));
  if (/(?:^|_)bytes$/.test(name)) return bytesText(value);
  if (/_ms$/.test(name)) return millisecondsText(value);
  if (/(?:_s|^seconds)$/.test(name)) return durationText(value);
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

const headingOf = (name: string) => name.replace(/_(?:s|ms|bytes)$/, '').replaceAll('_', ' ');
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Members of members by both names: `disk free`. */
function flat(value: Record<string, unknown>, above = ''): [name: string, label: string, value: unknown][] {
  return Object.entries(value).flatMap(([name, member]) => {
    const label = `${above} ${headingOf(name)}`.trim();
    if (isObject(member) && !Array.isArray(member)) return flat(member, label);
    return [[name, label, member] as [string, string, unknown]];
  });
}

/** A list as a table, or on one line when it holds scalars. */
function listText(label: string, list: readonly unknown[]): string {
  if (!list.every(isObject)) return list.map((one) => scalarText(label, one)).join(', ');
  const columns = [...new Set(list.flatMap((row) => flat(row).map(([, name]) => name)))];
  const rows = list.map((row) => {
    const cells = new Map(flat(row).map(([name, column, value]) => [column, cellText(name, value)]));
    return columns.map((column) => cells.get(column) ?? '');
  });
  return table(
    columns.map((column) => column.toUpperCase()),
    rows,
  );
}

function cellText(name: string, value: unknown): string {
  if (!Array.isArray(value)) return scalarText(name, value);
  return value.every((one) => !isObject(one)) ? listText(name, value) : `${value.length}`;
}

/** An answer as text; `none` where it is an empty list. Ends with a newline. */
export function readable(answer: unknown, none = 'None.'): string {
  if (Array.isArray(answer)) return answer.length === 0 ? `${none}\n` : listText('', answer);
  if (!isObject(answer)) return `${scalarText('', answer)}\n`;
  const members = flat(answer);
  const isTable = (value: unknown): value is unknown[] => Array.isArray(value) && value.some(isObject);
  const own = members.filter(([, , value]) => !isTable(value));
  const named = own.map(([name, label, value]) => [label, cellText(name, value)] as const);
  const tables = members.flatMap(([, label, value]) =>
    isTable(value) ? [`\n${label}\n${listText(label, value)}`] : [],
  );
  return `${named.length === 0 ? '' : facts(named)}${tables.join('')}`;
}
