/** What is wrong with a sandbox, in words. Pure. */
import type { Fault } from '../lifecycle/words.ts';
import { lengthInWords } from './amount-words.ts';
import type { Instance } from './schema.ts';

/** What each fault means. */
export const FAULT_HAPPENED: Readonly<Record<Fault, string>> = {
  error: 'Its process crashed or ran out of memory. Everything that was answered is safe; the next wake clears this.',
  unknown: 'Filing it failed three times, so it is left alone until somebody decides. The ledger has the cause.',
  corrupt:
    'Its file failed its check, so it was not opened for work. It is kept as it is, and nothing was written to it.',
  missing: 'Its file is not where the row says. Nothing was started in its place.',
};

const BEING: Readonly<Record<string, string>> = {
  resume: 'being woken',
  suspend: 'being suspended',
  freeze: 'being frozen',
  archive: 'being archived',
  revive: 'being revived',
  delete: 'being deleted',
  prefetch: 'being brought home',
};

type StuckFields = Pick<Instance, 'pending' | 'pending_since' | 'interrupted'>;

/** `Being frozen for 12 minutes, and nobody carries it out any more.` `now` in epoch seconds. */
export function stuckInWords({ pending, pending_since, interrupted }: StuckFields, now: number): string {
  const being = BEING[pending ?? ''] ?? `under "${pending}"`;
  const long = lengthInWords(Math.max(0, now - (pending_since ?? now)));
  const begun = `${being.charAt(0).toUpperCase()}${being.slice(1)} for ${long}`;
  return interrupted
    ? `${begun}, and nobody carries it out any more.`
    : `${begun}, and still under way. A restart of the server would settle it.`;
}

/** Why it is not woken and takes no call while its host is away; null: it can be reached, or goes on elsewhere. */
export function whyNotWoken(instance: { host: string | null; unreachable: { goes_on: string | null } | null }) {
  return instance.unreachable === null || instance.unreachable.goes_on !== null ? null : whyAway(instance);
}

/** Why nothing else can be done to a sandbox whose host is away; null: it can be reached. */
export function whyAway({ host, unreachable }: { host: string | null; unreachable: object | null }): string | null {
  if (unreachable === null) return null;
  return `Its host, ${host}, is away: it can be reached again once that host is started, with its disk.`;
}
