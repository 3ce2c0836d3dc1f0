/** Gives a page's first field the focus, also without JavaScript: for pages that have nothing to read before it. */
export const FIRST_FIELD = { autoFocus: true } as const;
