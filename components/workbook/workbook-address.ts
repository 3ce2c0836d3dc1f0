/** Addresses of a workbook's page. Pure. */

/** `tenant`: ids are unique in one tenant. The rest are the page's own parameters, and `hash` its anchor. */
export function workbookAddress(
  id: string,
  {
    tenant,
    hash,
    ...search
  }: { tenant: string; hash?: string; version?: number; from?: number; to?: number; new?: 1; saved?: number },
): string {
  const given = Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
  const query = new URLSearchParams([['tenant', tenant], ...given]);
  return `/workbooks/${id}?${query}${hash === undefined ? '' : `#${hash}`}`;
}
