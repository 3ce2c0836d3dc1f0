/** The address of the list of sandboxes. Apart from list-address.ts, whose schemas no browser needs. */

export const LIST_PATH = '/sandboxes';
/** The parameter in which the box sends what was typed; the page redirects to what it means. */
export const TYPED = 'filter';
