/** How a call found a sandbox, in words. Pure. */
import { millisecondsText } from './format.ts';

/** How a call found the sandbox, as a sentence. */
export function wokeText(id: string, woke: string, tookMs: number): string {
  if (woke === 'hot') return `${id} was awake.`;
  if (woke === 'warm') return `${id} was paused and runs again after ${millisecondsText(tookMs)}.`;
  return `${id} woke from ${woke} in ${millisecondsText(tookMs)}.`;
}
