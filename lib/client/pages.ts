/** Lists that come in pages: one page when awaited, everything when iterated. Safe for the browser. */

export interface Page<T> {
  items: T[];
  /** The `cursor` of the next page, or null at the end. */
  next: string | null;
  /** The total, when the list gives one: exact, or a lower bound. */
  total: number | null;
  totalIsExact: boolean;
  /** Whether the list was cut without a further page. */
  truncated: boolean;
}

/** `await` gives one page; `for await` gives every item of this page and all that follow, fetching as it goes. */
export interface Pages<T> extends Promise<Page<T>>, AsyncIterable<T> {}

/** Reads a page from an answer's items and headers. */
export function pageFromResponse<T>(items: T[], headers: Headers): Page<T> {
  const link = /<[^>]*[?&]cursor=([^&>]+)[^>]*>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1];
  const count = headers.get('x-total-count');
  return {
    items,
    next: link === undefined ? null : decodeURIComponent(link.replaceAll('+', ' ')),
    total: count === null ? null : Number.parseInt(count, 10),
    totalIsExact: count !== null && !count.endsWith('+'),
    truncated: headers.get('x-truncated') === 'true',
  };
}

/** Makes the pages of a list. `read` asks for the page at a cursor, or for the first. */
export function pagesOf<T>(read: (cursor: string | null) => Promise<Page<T>>): Pages<T> {
  const first = read(null);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      let page = await first;
      for (;;) {
        yield* page.items;
        if (page.next === null) return;
        page = await read(page.next);
      }
    },
  });
}
