'use server';
/** Keeps what a visitor chose for the list: columns, density and saved filters. */
import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { cookieRules } from '#lib/auth/cookies.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { expectTexts, textField } from '../form-values.ts';
import { addressWith } from '../search-params.ts';
import { narrowing, parseListAddress } from './list-address.ts';
import { LIST_PATH } from './list-path.ts';
import {
  DENSITIES,
  type ListSettings,
  listCookie,
  moveColumn,
  parseListSettings,
  withSaved,
  writeListSettings,
} from './list-settings.ts';

const YEAR_SECONDS = 365 * 86_400;

async function changeSettings(change: (settings: ListSettings) => ListSettings): Promise<void> {
  const rules = cookieRules(getHost().config);
  const jar = await cookies();
  const name = listCookie(rules);
  jar.set({
    name,
    value: writeListSettings(change(parseListSettings(jar.get(name)?.value))),
    ...{ path: '/', secure: rules.secure, sameSite: 'lax', httpOnly: true, maxAge: YEAR_SECONDS },
  });
}

/** Stores which columns are shown, in which order, and the density. A button may move a column by one place. */
export async function chooseColumns(form: FormData): Promise<void> {
  await requireCaller(LIST_PATH);
  const density = textField(form, 'density');
  const move = textField(form, 'move');
  const order = form.getAll('order').map(String);
  const shown = new Set(form.getAll('column').map(String));
  await changeSettings((settings) => {
    const place = ({ name }: ListSettings['columns'][number]) => {
      const at = order.indexOf(name);
      return at < 0 ? order.length : at;
    };
    const columns = settings.columns
      // One that was not there to be chosen stays as it was.
      .map(({ name, shown: was }) => ({ name, shown: order.includes(name) ? shown.has(name) : was }))
      .toSorted((a, b) => place(a) - place(b));
    return {
      ...settings,
      columns: moveColumn(columns, move),
      density: DENSITIES.find((known) => known === density) ?? settings.density,
    };
  });
}

/** Saves the filter of an address, as a link above the list. */
export async function saveFilter(
  search: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(search);
  await requireCaller(LIST_PATH);
  const { query, filters } = parseListAddress(Object.fromEntries(new URLSearchParams(search)), 1);
  if (query === null) return { ok: false, says: 'It is not saved: the filter is not valid.' };
  const { limit: _limit, ...kept } = filters;
  const one = { name: textField(form, 'name'), search: new URLSearchParams(kept).toString() };
  if (Object.keys(narrowing(kept)).length === 0) return { ok: false, says: 'There is no filter to save.' };
  let complaint: string | null = null;
  await changeSettings((settings) => {
    const saved = withSaved(settings.saved, one);
    if (typeof saved !== 'string') return { ...settings, saved };
    complaint = saved;
    return settings;
  });
  if (complaint !== null) return { ok: false, says: complaint };
  redirect(addressWith(LIST_PATH, kept));
}

/** Removes a saved filter by its name. */
export async function removeFilter(name: string): Promise<void> {
  expectTexts(name);
  await requireCaller(LIST_PATH);
  await changeSettings((settings) => ({ ...settings, saved: settings.saved.filter((one) => one.name !== name) }));
}
