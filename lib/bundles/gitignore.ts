/**
 * The `.gitignore` of a checkout, made from the same list of volumes that decides what ships. Pure.
 */
import { VOLUME_CONTRACTS, VOLUMES } from '../vfs/volumes.ts';

export const IGNORE_FILE = '.gitignore';

const HEAD = '# The private volumes of the sandbox; they are not part of the work.';

/**
 * One anchored line for each volume that does not ship, behind what the work's own file says: the last word is ours, so
 * that nothing of it lets them back in. A volume whose name a directory of the work itself has (`taken`: those at its
 * top) gets no line, as that would hide a part of the work.
 */
export function ignoreFile(own: Uint8Array | null, taken: ReadonlySet<string>): Buffer {
  const lines: string[] = VOLUMES.filter((volume) => !VOLUME_CONTRACTS[volume].ships).map((volume) =>
    taken.has(volume) ? `# /${volume}/ has no line: the work has a directory of that name.` : `/${volume}/`,
  );
  const before = own ?? new Uint8Array(0);
  const ended = before.byteLength === 0 || before.at(-1) === 0x0a;
  return Buffer.concat([before, Buffer.from(`${ended ? '' : '\n'}${[HEAD, ...lines].join('\n')}\n`)]);
}
