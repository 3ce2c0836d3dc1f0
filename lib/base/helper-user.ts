/**
 * The helper's side of its walls: it becomes the user whose files it opens, for good, before it opens the first. Knows
 * nothing of files.
 */
import { messageOf } from './errors.ts';
import type { FileUser } from './walls.ts';

let become: FileUser | null = null;

/**
 * Becomes this user in all threads: with root's user a process loses every capability. Ends this process where that
 * does not succeed, or when it is another user's already: nothing of a guest is opened as root. Null: it stays who it
 * is.
 */
export function becomeUser(user: FileUser | null): void {
  if (user === null && become === null) return;
  if (user !== null && become?.uid === user.uid && become.gid === user.gid) return;
  try {
    if (user === null || become !== null) throw new Error('it is somebody already');
    process.umask(0o077);
    process.setgroups?.([user.gid]);
    process.setgid?.(user.gid);
    process.setuid?.(user.uid);
    if (process.getuid?.() !== user.uid || process.getgid?.() !== user.gid) throw new Error('it is not');
    become = user;
  } catch (error) {
    process.stderr.write(`It did not become user ${user?.uid}: ${messageOf(error)}.\n`);
    process.exit(1);
  }
}
