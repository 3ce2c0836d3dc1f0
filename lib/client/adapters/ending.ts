/** Suspending and deleting sandboxes as frameworks mean it, however they stand. Safe for the browser. */
import type { Sandbox } from '../sandbox.ts';
import { isRefusal } from './links.ts';

/** Suspends an awake sandbox. One that sleeps, rests deeper, was never awake or is deleted stays as it is. */
export async function putToSleep(box: Sandbox, reason: string, { force = false } = {}): Promise<void> {
  try {
    await box.suspend({ force, reason });
  } catch (error) {
    if (!isRefusal(error, 'invalid_transition', 'archived', 'gone')) throw error;
  }
}

/** Ends what runs in the sandbox and deletes it with its files, at once. Once deleted it stays so. */
export async function destroySandbox(box: Sandbox, reason: string): Promise<void> {
  await putToSleep(box, reason, { force: true });
  await box.delete({ reason });
}
