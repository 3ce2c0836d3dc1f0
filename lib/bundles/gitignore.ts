/**
 * The `.gitignore` of a checkout, made from the same list of volumes that decides what ships. Pure.
 */
import { VOLUME_CONTRACTS, VOLUMES } from '../vfs/volumes.ts';

export const IGNORE_FILE = '.gitignore';

const HEAD = '# The private volumes of the sandbox; they are not part of the work.';

/**
 * Appends one anchored line for each volume that does not ship to the workspace's own `.gitignore`. The last matching
 * line wins in git, so no line of the workspace can include them again. A volume gets no line when the workspace has a
 * top-level directory of its name (`taken`), because the line would hide that directory. `list`: the file that says
 * what the checkout lacks, which is no part of the work; null without one.
 */
export function ignoreFile(own: Uint8Array | null, taken: ReadonlySet<string>, list: string | null = null): Buffer {
  const lines: string[] = VOLUMES.filter((volume) => !VOLUME_CONTRACTS[volume].ships).map((volume) =>
    taken.has(volume) ? `# /${volume}/ has no line: the work has a directory of that name.` : `/${volume}/`,
  );
  if (list !== null) lines.push(`/${list}`);
  const before = own ?? new Uint8Array(0);
  const ended = before.byteLength === 0 || before.at(-1) === 0x0a;
  return Buffer.concat([before, Buffer.from(`${ended ? '' : '\n'}${[HEAD, ...lines].join('\n')}\n`)]);
}
