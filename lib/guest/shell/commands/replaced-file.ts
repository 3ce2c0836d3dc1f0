/** Files that take the place of others, as programs write them that make a new file and rename it. */
import type { IFileSystem } from 'just-bash';
import { isDenied } from '../posix-error.ts';

/** Writes a file in place of the one that is there, which keeps its mode and may be read-only. Throws POSIX errors. */
export async function replaceFile(files: IFileSystem, path: string, content: Uint8Array): Promise<void> {
  try {
    await files.writeFile(path, content);
  } catch (error) {
    const there = isDenied(error) ? await files.stat(path).catch(() => null) : null;
    if (there === null) throw error;
    await files.rm(path);
    await files.writeFile(path, content);
    await files.chmod(path, there.mode);
  }
}
