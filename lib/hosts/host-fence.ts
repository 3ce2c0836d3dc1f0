/**
 * A host that may be dead to others does nothing: without a renewal its workers are stopped before its lease ends, and
 * go on with the next renewal; when another server has its name they are ended. Answers are the front's to keep back.
 */
import type { Logger } from '../base/log.ts';
import type { HostLease } from './host-lease.ts';

/** The workers of this host. */
interface FencedWorkers {
  hold(): void;
  letGo(): void;
  end(): void;
}

/** Fences this host by its lease. `onLost` is called once, when another server has its name: this one is to end. */
export function fenceByLease({
  lease,
  workers,
  endTaken,
  log,
  onLost,
}: {
  lease: Pick<HostLease, 'watch'>;
  workers: FencedWorkers;
  /** Ends what other hosts have taken over meanwhile; nothing goes on before. */
  endTaken: () => Promise<void>;
  log: Logger;
  onLost: (why: Error) => void;
}): void {
  lease.watch({
    onLapse() {
      workers.hold();
      log.error(
        'the lease of this host was not renewed: it answers nothing, and its sandboxes are stopped until it is',
      );
    },
    beforeRegain: endTaken,
    onRegain() {
      workers.letGo();
      log.warn('the lease of this host is renewed again: it answers, and its sandboxes go on');
    },
    onLost() {
      workers.end();
      onLost(new Error('Another Winterdock has the name of this host in the registry.'));
    },
  });
}
