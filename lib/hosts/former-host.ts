/**
 * Before a server begins on a registry that others reach too: no other may still act on it. One that was cut off does
 * so until its lease ends, though the registry's lock is free by then. Knows nothing of locks.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { HostStore } from '../registry/hosts.ts';
import { HostObserver, LOOKS_PER_LEASE } from './host-observer.ts';

/**
 * Resolves when each host that another data folder's server began has handed its name back, or is dead. What has the
 * key `publicKey` was begun on this very folder, which is locked: its server has ended. Rejects with the errors of the
 * registry. `tell` is called with a sentence before it waits.
 */
export async function waitForFormerHosts({
  hosts,
  publicKey,
  tell,
}: {
  hosts: Pick<HostStore, 'list'>;
  publicKey: string;
  tell: (line: string) => void;
}): Promise<void> {
  const observer = new HostObserver();
  for (let hasTold = false; ; hasTold = true) {
    const askedMs = performance.now();
    const others = (await hosts.list()).filter((one) => one.publicKey !== publicKey);
    const verdicts = observer.read({ askedMs, answeredMs: performance.now(), hosts: others });
    const held = others.filter(({ name }) => verdicts.get(name) === 'held');
    const [first] = held;
    if (first === undefined) return;
    const leases = held.flatMap(({ leaseMs }) => leaseMs ?? []);
    if (!hasTold) {
      const seconds = Math.ceil(Math.max(...leases) / 1000);
      tell(
        `The host ${first.name} has not handed the registry back. This server begins when that one has not renewed its lease for ${seconds} s.`,
      );
    }
    await pause(Math.min(...leases) / LOOKS_PER_LEASE);
  }
}
