/** What a page's address says after its question mark, and addresses made of it. */

export type SearchParams = Record<string, string | string[] | undefined>;

/** The first value of each parameter that is not empty, trimmed: as the API would take it. */
export function singleValues(search: SearchParams): Record<string, string> {
  const pairs = Object.entries(search).flatMap(([key, value]): [string, string][] => {
    const first = (Array.isArray(value) ? value[0] : value)?.trim();
    return first ? [[key, first]] : [];
  });
  return Object.fromEntries(pairs);
}

/** The address of a page with these parameters. */
export function addressWith(path: string, values: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(values).toString();
  return search === '' ? path : `${path}?${search}`;
}
