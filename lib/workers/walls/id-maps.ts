/** Who is who in a namespace of users. Writes to the kernel's own files of a process, and to no disk. */
import { writeFileSync } from 'node:fs';

/** Everybody is in it who they are outside. */
const SAME_IDS = '0 0 4294967295\n';

/**
 * Gives the namespace of users of a process all ids. Throws an Error, with what this process lacks, when it may not.
 * Only before anything else has given it some.
 */
export function giveAllIds(pid: number): void {
  try {
    for (const map of ['uid_map', 'gid_map']) writeFileSync(`/proc/${pid}/${map}`, SAME_IDS);
  } catch (error) {
    throw new Error('ids cannot be given to a namespace of users (CAP_SETUID, CAP_SETGID, CAP_SETFCAP)', {
      cause: error,
    });
  }
}
