/** Deletes a sandbox as frameworks mean it: at once, whatever runs in it. Safe for the browser. */
import type { Sandbox } from '../sandbox.ts';
import { isRefusal } from './links.ts';

/** Ends what runs in the sandbox and deletes it with its files. Once deleted it stays so. */
export async function destroySandbox(box: Sandbox, reason: string): Promise<void> {
  try {
    await box.suspend({ force: true, reason });
  } catch (error) {
    // It is not awake, or is deleted: nothing runs.
    if (!isRefusal(error, 'invalid_transition', 'gone')) throw error;
  }
  await box.delete({ reason });
}
