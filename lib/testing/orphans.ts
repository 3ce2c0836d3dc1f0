/** For tests: what was set aside in a data folder. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isStaging } from '../storage/files.ts';

/** The names of what was set aside, in no order; unfinished work is not among them. `folder`: the data folder. */
export function orphansIn(folder: string): string[] {
  return readdirSync(join(folder, 'orphans')).filter((name) => !isStaging(name));
}
