/** The search parameters of a page's address, and addresses made from them. */

export type SearchParams = Record<string, string | string[] | undefined>;

/** The first value of each parameter that is not empty, trimmed, as the API takes it. */
export function singleValues(search: SearchParams): Record<string, string> {
  const pairs = Object.entries(search).flatMap(([key, value]): [string, string][] => {
    const first = (Array.isArray(value) ? value[0] : value)?.trim();
    return first ? [[key, first]] : [];
  });
  return Object.fromEntries(pairs);
}

/** False for an address with an empty or a repeated parameter: it says the same as one without. */
export function isCanonical(search: SearchParams): boolean {
  return Object.values(search).every((value) => typeof value === 'string' && value.trim() !== '');
}

/** The address of a page with these parameters. */
export function addressWith(path: string, values: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(values).toString();
  return search === '' ? path : `${path}?${search}`;
}
