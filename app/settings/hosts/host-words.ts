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

/** The title of the page: how many there are, and how many of them are dead. */
export function hostsInWords(hosts: readonly Shown[]): string {
  const dead = hosts.filter((host) => host.dead).length;
  const running = hosts.filter((host) => host.held && !host.dead).length;
  const runs = running === 1 ? 'one runs' : `${running} run`;
  return dead === 0 ? runs : `${runs}, ${dead === 1 ? 'one is dead' : `${dead} are dead`}`;
}
