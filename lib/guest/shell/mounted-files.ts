/** The shell's own files, also from behind what the interpreter has mounted on them. */
import type { GuestFiles } from './guest-files.ts';

/** The shell's own files, or these behind what the interpreter has mounted on them for `>(command)`. */
export type MountedFiles = Pick<GuestFiles, 'appendFile'> & (GuestFiles | { readonly baseFs: MountedFiles });

export function guestFiles(files: MountedFiles): GuestFiles {
  return 'baseFs' in files ? guestFiles(files.baseFs) : files;
}
