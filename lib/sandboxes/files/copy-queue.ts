/**
 * The queue of copies, fair by tenant. A copy waits here before it takes the lease, so that its sandbox can be filed
 * and woken meanwhile. Knows nothing of files.
 */
import { FairSlots } from '../../base/fair-slots.ts';

/** As many copies at a time as the readers have processes for. */
export const copyQueue = () =>
  new FairSlots({
    ...{ slots: 2, mostWaiting: 256, mostWaitingEach: 64 },
    refusal: 'Too many copies are waiting already.',
  });
