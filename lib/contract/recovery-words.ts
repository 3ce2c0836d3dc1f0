/** How far a replica is, in words. Pure. */
import type { Instance } from './schema.ts';

/** Above so many seconds a lag is said in the words of `duration`. */
const IN_SECONDS = 90;

/**
 * How much of a sandbox a lost disk would take: `0.8 s behind`, `in step`, `as filed 3 h ago`, `not replicated`; and
 * `as it was 3 h ago at least` while nobody knows more. `now` in epoch seconds; `duration` says seconds in words.
 */
export function recoveryInWords(
  { replicate, recovery_point: { at, behind_s: behind, as } }: Pick<Instance, 'replicate' | 'recovery_point'>,
  now: number,
  duration: (seconds: number) => string,
): string {
  const ago = at === null ? null : `${duration(Math.max(0, now - at))} ago`;
  if (as === 'live') {
    if (ago === null) return 'its first copy is on its way';
    if (behind === null) return `as it was ${ago} at least`;
    if (behind === 0) return replicate === 'sync' ? 'in step' : 'up to date';
    return `${behind < IN_SECONDS ? `${behind.toFixed(1)} s` : duration(behind)} behind`;
  }
  if (as === 'filed' && ago !== null) return behind === 0 ? `as filed ${ago}` : `as it was ${ago}, not as it is`;
  return replicate === 'off' ? 'not replicated' : 'not replicated yet';
}
