/** Where the files of CPython are. Knows nothing of what is done with them. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const OF_THE_PACKAGES = 'just-bash/vendor/cpython-emscripten';

/**
 * The folder (absolute) of CPython as WebAssembly, which just-bash brings. Looked for among the packages that a file at
 * `url` may load, and not beside just-bash's entry: the folder that `npm run package` makes has none for CommonJS.
 * Throws where there is no such folder.
 */
export function pythonFolder(url: string): string {
  const places = createRequire(url).resolve.paths('just-bash') ?? [];
  const found = places.map((place) => join(place, OF_THE_PACKAGES)).find((folder) => existsSync(folder));
  if (found === undefined) throw new Error(`${OF_THE_PACKAGES} is not installed.`);
  return found;
}
