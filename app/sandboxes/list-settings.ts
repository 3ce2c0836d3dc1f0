/** What a visitor chose for the list: columns and their order, density, saved filters. Kept in a cookie. Pure. */
import { z } from 'zod';
import type { CookieRules } from '#lib/auth/cookies.ts';

/** The columns beside the first, which is the sandbox itself, in their order, and whether they are shown at first. */
export const COLUMNS = {
  where: { title: 'Where it is', shown: true },
  idle: { title: 'Idle', shown: true },
  next: { title: 'Next, by itself', shown: true },
  tenant: { title: 'Tenant', shown: true },
  labels: { title: 'Labels', shown: true },
  size: { title: 'Size', shown: true },
  process: { title: 'Process', shown: false },
  created: { title: 'Created', shown: false },
  policy: { title: 'Policy', shown: false },
  workbook: { title: 'Workbook', shown: false },
  /** Only where several servers use the registry. */
  host: { title: 'Host', shown: true },
} as const;
export type ColumnName = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as ColumnName[];

export const DENSITIES = ['roomy', 'compact'] as const;
export type Density = (typeof DENSITIES)[number];

const SAVED = 12;
/** Characters of all saved filters in the cookie: browsers drop one of more than 4096 with its name. */
const SAVED_LENGTH = 3200;
const NAME_LENGTH = 40;
const SEARCH_LENGTH = 200;

export interface SavedFilter {
  name: string;
  /** The search of its address, without the question mark. */
  search: string;
}

export interface ListSettings {
  /** Every column, in the order chosen. */
  columns: { name: ColumnName; shown: boolean }[];
  density: Density;
  saved: SavedFilter[];
}

const storedSchema = z.object({
  /** In their order; a minus before those that are hidden. */
  columns: z.array(z.string()).catch([]),
  density: z.enum(DENSITIES).catch('roomy'),
  saved: z
    .array(z.object({ name: z.string().min(1).max(NAME_LENGTH), search: z.string().min(1).max(SEARCH_LENGTH) }))
    .max(SAVED)
    .catch([]),
});

/** The name of the cookie. */
export function listCookie({ prefix }: CookieRules): string {
  return `${prefix}.list`;
}

/** The settings in a cookie; where it is absent or mangled, the default ones. */
export function parseListSettings(cookie: string | undefined): ListSettings {
  let stored: unknown = {};
  try {
    stored = JSON.parse(cookie ?? '{}');
  } catch {
    // A mangled cookie says nothing: the list looks as it does at first.
  }
  const parsed = storedSchema.safeParse(stored);
  if (!parsed.success) return { columns: inOrder([]), density: 'roomy', saved: [] };
  const { columns, density, saved } = parsed.data;
  return { columns: inOrder(columns), density, saved };
}

/** The cookie that says these settings. */
export function writeListSettings({ columns, density, saved }: ListSettings): string {
  return JSON.stringify({ columns: columns.map(({ name, shown }) => (shown ? name : `-${name}`)), density, saved });
}

/** The columns to choose from. `isAmongSeveral`: other servers use the registry too. */
export function columnsFor(columns: ListSettings['columns'], isAmongSeveral: boolean): ListSettings['columns'] {
  return isAmongSeveral ? columns : columns.filter(({ name }) => name !== 'host');
}

/** Every column once: the stored ones in their order, then those that it does not name. */
function inOrder(stored: readonly string[]): ListSettings['columns'] {
  const chosen = stored.flatMap((entry) => {
    const name = NAMES.find((known) => known === entry.replace(/^-/, ''));
    return name === undefined ? [] : [{ name, shown: !entry.startsWith('-') }];
  });
  const first = chosen.filter(({ name }, at) => chosen.findIndex((one) => one.name === name) === at);
  const rest = NAMES.filter((name) => first.every((one) => one.name !== name));
  return [...first, ...rest.map((name) => ({ name, shown: COLUMNS[name].shown }))];
}

/** The columns with one moved by a place; `move` is `up:idle` or `down:idle`. Anything else moves nothing. */
export function moveColumn(columns: ListSettings['columns'], move: string): ListSettings['columns'] {
  const [way, name] = move.split(':');
  const at = columns.findIndex((column) => column.name === name);
  const to = way === 'up' ? at - 1 : at + 1;
  const [from, other] = [columns[at], columns[to]];
  if ((way !== 'up' && way !== 'down') || from === undefined || other === undefined) return columns;
  return columns.with(at, other).with(to, from);
}

/** The saved filters with one more, or the complaint about it. One of the same name is replaced. */
export function withSaved(saved: readonly SavedFilter[], one: SavedFilter): SavedFilter[] | string {
  const name = one.name.trim();
  if (name === '') return 'Give it a name.';
  if (name.length > NAME_LENGTH) return `The name is too long: at most ${NAME_LENGTH} characters.`;
  if (one.search === '') return 'There is no filter to save.';
  if (one.search.length > SEARCH_LENGTH) return 'The filter is too long to be saved. Keep its address as a bookmark.';
  const others = saved.filter((kept) => kept.name !== name);
  if (others.length >= SAVED) return `At most ${SAVED} filters are saved. Remove one first.`;
  const saving = [...others, { name, search: one.search }];
  const tooLong = encodeURIComponent(JSON.stringify(saving)).length > SAVED_LENGTH;
  return tooLong ? 'There is no room for it. Remove a saved filter first.' : saving;
}
