/** The refusal of a sandbox whose host is dead. Never written, and nothing older is given in its place. */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { UnreachableSandbox } from './whereabouts.ts';

const seconds = (ms: number | null) => (ms === null ? null : Math.floor(ms / 1000));

/** `unreachable`, with `host`, `last_seen` and `recovery_point`, the last two in epoch seconds or null. */
export function unreachable(
  id: InstanceId,
  { host, lastSeenMs, recoveryPointMs }: UnreachableSandbox,
): WinterdockError {
  const recoveryPoint = seconds(recoveryPointMs);
  const elsewhere =
    recoveryPoint === null
      ? 'the object store has nothing of it'
      : `the object store has it as it was at ${new Date(recoveryPoint * 1000).toISOString()}`;
  return new WinterdockError(
    'unreachable',
    `The sandbox "${id}" is on the host "${host}", which does not answer; ${elsewhere}.`,
    {
      hint: 'Start that host again, with its disk: what is there is newer than anything elsewhere.',
      extra: { host, last_seen: seconds(lastSeenMs), recovery_point: recoveryPoint },
    },
  );
}
