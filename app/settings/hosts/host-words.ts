/** How a host is, in words. Pure. */
import type { HostAnswer } from '#lib/contract/schema/hosts.ts';

type Shown = Pick<HostAnswer, 'self' | 'held' | 'dead' | 'draining'>;

/** What a host does, and whether somebody has to look at it. */
export function hostStateInWords({ self, held, dead, draining }: Shown): { says: string; isBad: boolean } {
  if (dead) return { says: 'dead: what is on its disk cannot be reached', isBad: true };
  if (!held) return { says: 'ended, its name is free', isBad: false };
  const drains = draining ? ', takes nothing new' : '';
  return { says: `${self ? 'answers this page' : 'runs'}${drains}`, isBad: false };
}

/** How far it is emptied, and what is left, in one sentence. */
export function drainInWords({ sandboxes, drain }: Pick<HostAnswer, 'sandboxes' | 'drain'>): string {
  if (drain === null) return sandboxes === 0 ? 'It has nothing.' : 'What it has stays where it is.';
  const { state, chosen, done, failed, skipped } = drain;
  if (state === 'waiting') return 'It has not begun to hand anything over.';
  if (state === 'running')
    return `${(done + failed + skipped).toLocaleString('en')} of ${chosen.toLocaleString('en')} so far.`;
  const left =
    sandboxes === 0
      ? 'nothing is left'
      : `${sandboxes === 1 ? 'one is' : `${sandboxes.toLocaleString('en')} are`} left`;
  return state === 'cancelled' ? `Cancelled; ${left}.` : `Done; ${left}.`;
}

/** Why a host cannot be emptied: a sentence, or null. */
export function whyNotDrained(
  host: Pick<HostAnswer, 'name' | 'drain'>,
  hosts: readonly (Shown & Pick<HostAnswer, 'name'>)[],
): string | null {
  const { state } = host.drain ?? {};
  if (state === 'waiting' || state === 'running') return 'It is being emptied.';
  const isTaker = ({ name, held, dead, draining }: (typeof hosts)[number]) =>
    name !== host.name && held && !dead && !draining;
  return hosts.some(isTaker) ? null : 'No other host lives that would take over what it has.';
}

/** The title of the page: how many there are, and how many of them are dead. */
export function hostsInWords(hosts: readonly Shown[]): string {
  const dead = hosts.filter((host) => host.dead).length;
  const running = hosts.filter((host) => host.held && !host.dead).length;
  const runs = running === 1 ? 'one runs' : `${running} run`;
  return dead === 0 ? runs : `${runs}, ${dead === 1 ? 'one is dead' : `${dead} are dead`}`;
}
