/** The refusal of what needs a replica, on a server without one. */
import { WinterdockError } from '../base/errors.ts';

export function replicaMissing(): WinterdockError {
  return new WinterdockError('conflict', 'This server has no replica.', {
    hint: 'WB_REPLICA_URL names one. A backup may have what you want.',
  });
}
