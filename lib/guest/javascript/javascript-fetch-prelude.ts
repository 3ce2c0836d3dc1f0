/**
 * The guest's side of `fetch`, evaluated by QuickJS when the guest first uses one of its names. Whatever the guest has
 * redefined before changes what it sees alone: every request is checked by the server.
 */
import { sourceText } from '../source-text.ts';

/** Source of a function of the host's function that loads the rest. Whatever is assigned to a name replaces it. */
export const LAZY_FETCH = sourceText(new URL('./lazy-fetch.cjs', import.meta.url));

/** Source of a function of the host's functions. It returns the function that settles a request. */
export const FETCH_PRELUDE = sourceText(new URL('./fetch-prelude.cjs', import.meta.url));
