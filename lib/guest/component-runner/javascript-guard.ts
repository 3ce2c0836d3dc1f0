/**
 * The guest's side of what a JavaScript component did not declare: `Date`, `Math.random` and `fetch` refuse in place of
 * what they are. Evaluated before the component's own code, which has no other way to a clock or to random numbers.
 */
import { sourceText } from '../source-text.ts';

/** Source of a function of (refuse, names of the undeclared capabilities, separated by spaces). */
export const GUARD = sourceText(new URL('./guard.cjs', import.meta.url));
