/**
 * Files by paths that lead over links, as frameworks expect: the files API follows them in one volume, and writes over
 * none. Costs a request only where something is not there, and wakes the sandbox only where a link is in the way. Safe
 * for the browser.
 */

import type { CallOptions, Upload } from '../call.ts';
import { ApiError } from '../error.ts';
import { shellPathOf, volumePathOf } from '../sandbox/paths.ts';
import type { Sandbox } from '../sandbox.ts';

/** Whether an error is a refusal of the server with one of these codes. */
export function isRefusal(error: unknown, ...codes: string[]): boolean {
  return error instanceof ApiError && codes.includes(error.code);
}

const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')));

/** The path that a link leads to, by the shell; null when it leads nowhere. */
async function linkTarget(box: Sandbox, path: string, options: CallOptions): Promise<string | null> {
  const { exitCode, stdout } = await box.commands.run('[ -e "$LINK" ] && readlink -f -- "$LINK"', {
    ...options,
    cwd: '/',
    env: { LINK: path },
  });
  return exitCode === 0 ? stdout.replace(/\n$/, '') : null;
}

/**
 * Where a path leads: itself when no link is in it, null when nothing is there. Rejects with `not_found` when the
 * sandbox is not there.
 */
async function realPathOf(box: Sandbox, path: string, options: CallOptions): Promise<string | null> {
  const place = volumePathOf(path);
  for (let at = place.path; ; at = parentOf(at)) {
    try {
      await box.client.listFolder(box.id, place.volume, { path: at, limit: 1 }, options);
      return at === place.path ? shellPathOf(place) : null;
    } catch (error) {
      // Something is there that is no folder: a file, or a link.
      if (isRefusal(error, 'conflict')) return linkTarget(box, shellPathOf(place), options);
      // The top of a volume is always there, and else the sandbox is not.
      if (at === '/' || !isRefusal(error, 'not_found')) throw error;
    }
  }
}

/**
 * What `look` gives for a path, or for where its links lead; null when nothing is there. Rejects as `look` does when
 * something else is there than it looks for, such as a folder in the place of a file.
 */
export async function followLinks<T>(
  box: Sandbox,
  path: string,
  options: CallOptions,
  look: (path: string) => Promise<T>,
): Promise<T | null> {
  try {
    return await look(path);
  } catch (error) {
    if (!isRefusal(error, 'not_found', 'conflict')) throw error;
    const real = await realPathOf(box, path, options);
    if (real === null) return null;
    if (real === shellPathOf(volumePathOf(path))) throw error;
    return look(real);
  }
}

/**
 * Writes a file, also over a link or below one, as a shell does; a stream only where no link is in the way. `ifMatch`
 * may be the version that was read through the link, which has none itself.
 */
export async function writeOverLinks(
  box: Sandbox,
  path: string,
  content: Upload,
  options: CallOptions & { ifMatch?: string | undefined },
): Promise<void> {
  try {
    await box.files.write(path, content, options);
  } catch (error) {
    const isInTheWay =
      isRefusal(error, 'conflict') || (options.ifMatch !== undefined && isRefusal(error, 'precondition_failed'));
    if (!isInTheWay || content instanceof ReadableStream) throw error;
    const whole = shellPathOf(volumePathOf(path));
    const { exitCode, stdout } = await box.commands.run('readlink -f -- "$LINK"', {
      signal: options.signal,
      cwd: '/',
      env: { LINK: whole },
    });
    const real = stdout.replace(/\n$/, '');
    if (exitCode !== 0 || real === whole) throw error;
    await box.files.write(real, content, options);
  }
}
