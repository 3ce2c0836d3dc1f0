/** For tests: which processes of this machine still belong to a data folder. */
import { readdirSync, readFileSync } from 'node:fs';

/** Ids of the live processes whose command line or environment names the folder. */
export function processesOf(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`].some((file) =>
          readFileSync(file, 'utf8').includes(folder),
        );
      } catch {
        // It ended while being looked at.
        return false;
      }
    });
}
