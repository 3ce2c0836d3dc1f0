/** What every page of a list does with its address: one canonical form, and a way back from a page that is gone. */
import { redirect } from 'next/navigation';
import { isWinterdockError } from '#lib/base/errors.ts';
import { addressWith, isCanonical, type SearchParams, singleValues } from './search-params.ts';

/**
 * The values of a list's address. One with empty or repeated parameters, as a form sends it without JavaScript, is
 * redirected to the same address without them.
 */
export async function listValues(path: string, search: Promise<SearchParams>): Promise<Record<string, string>> {
  const found = await search;
  const values = singleValues(found);
  if (!isCanonical(found)) redirect(addressWith(path, values));
  return values;
}

/**
 * A page of a list. When the page of the cursor no longer exists, or the cursor is mangled, the visitor is redirected
 * to the first page with the same filters.
 */
export async function readListPage<T>(
  place: { path: string; filters: Readonly<Record<string, string>>; cursor: string | undefined },
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (place.cursor === undefined || !isWinterdockError(error) || error.code !== 'validation') throw error;
  }
  redirect(addressWith(place.path, place.filters));
}

/** The addresses of the first and the next page, for `Pagination`. */
export function pageLinks(
  { path, filters, cursor }: Parameters<typeof readListPage>[0],
  next: string | null,
): { first: string | null; next: string | null } {
  return {
    first: cursor === undefined ? null : addressWith(path, filters),
    next: next === null ? null : addressWith(path, { ...filters, cursor: next }),
  };
}
