/**
 * The users of helpers, where the server is root: who opens which guest's file, by the owner and the group of the file
 * itself. The server looks at it by a descriptor that follows nothing. Knows nothing of processes.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { chmodFileNow, unlinkFileNow } from '../../base/effects.ts';
import { giveOpenNow } from '../../base/strangers-file.ts';
import type { HelperUsers } from '../../base/walls.ts';
import { isSandboxUser, newUser, WORKER_USER } from './user.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const GROUP_MAY_READ = 0o040;
const OWNER_ALONE = 0o700;
/** Known names in it are reached, and none is listed. */
const OTHERS_MAY_PASS = 0o011;
/** Folders above a file that are passed: a drawer, and a folder in it. */
const PASSED = 2;

/** `folders` (absolute): they and what lies in them may be passed on the way to a file. */
export function helperUsers(folders: readonly string[]): HelperUsers {
  /** Who opens what is not there, or is no file: nobody's files are theirs. */
  const nobody = newUser();

  function letPass(path: string): void {
    let at = dirname(path);
    for (let level = 0; level < PASSED && folders.some((folder) => at === folder || at.startsWith(`${folder}/`)); ) {
      // A drawer may be a link to another disk. Names beside it are the server's; of those in it workers make some.
      const isLink = folders.includes(dirname(at)) && lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink();
      const passed = isLink ? realPathOf(at) : at;
      const stat = lstatSync(passed, { throwIfNoEntry: false });
      if (stat?.isDirectory() && stat.uid === 0 && (stat.mode & OTHERS_MAY_PASS) !== OTHERS_MAY_PASS)
        chmodFileNow(passed, (stat.mode & 0o7777) | OTHERS_MAY_PASS);
      level += 1;
      at = dirname(at);
    }
  }

  return {
    nobody,
    readerAsItIs(path) {
      letPass(path);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (!stat?.isFile()) return nobody;
      if (isShown(path, stat)) return { uid: stat.gid, gid: stat.gid };
      return isOfWorkers(stat) ? { uid: stat.uid, gid: WORKER_USER } : null;
    },
    reading(path) {
      // Each start closes the drawers again.
      letPass(path);
      // Most are this already.
      const seen = lstatSync(path, { throwIfNoEntry: false });
      if (seen?.isFile() && isShown(path, seen)) return { uid: seen.gid, gid: seen.gid };
      const reader = opened(path, (descriptor, stat) => {
        if (!stat.isFile()) return nobody;
        if (isShown(path, stat)) return { uid: stat.gid, gid: stat.gid };
        if (isOfWorkers(stat)) return { uid: stat.uid, gid: WORKER_USER };
        if (stat.uid !== 0) return nobody;
        const group = isSandboxUser(stat.gid) ? { uid: stat.gid, gid: stat.gid } : newUser();
        giveOpenNow(descriptor, path, [0, group.gid], (stat.mode & OWNER_ALONE) | GROUP_MAY_READ);
        return group;
      });
      return reader ?? nobody;
    },
    ownerOf(path) {
      letPass(path);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat !== undefined && isOfWorkers(stat) ? { uid: stat.uid, gid: WORKER_USER } : null;
    },
    give(path, user) {
      letPass(path);
      opened(path, (descriptor, stat) => stat.isFile() && giveOpenNow(descriptor, path, [user.uid, user.gid], 0o600));
    },
    lend(folder, to) {
      const user = to ?? newUser();
      letPass(folder);
      for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        opened(path, (descriptor, stat) => {
          if (stat.isFile() && stat.nlink === 1 && (stat.uid === 0 || isOfWorkers(stat)))
            giveOpenNow(descriptor, path, [user.uid, user.gid], 0o600);
        });
      }
      opened(folder, (descriptor, stat) => {
        if (stat.isDirectory()) giveOpenNow(descriptor, folder, [user.uid, user.gid], OWNER_ALONE);
      });
      return user;
    },
    takeBack(path) {
      const isFolder = opened(path, (descriptor, stat) => {
        if (!isSandboxUser(stat.uid)) return false;
        const group = [0, stat.uid] as const;
        if (stat.isFile() && stat.nlink === 1) giveOpenNow(descriptor, path, group, 0o640);
        if (stat.isDirectory()) giveOpenNow(descriptor, path, group, OWNER_ALONE | OTHERS_MAY_PASS);
        return stat.isDirectory();
      });
      // From here on nobody else changes a name in it.
      for (const name of isFolder === true ? readdirSync(path) : []) {
        const at = join(path, name);
        const stat = lstatSync(at);
        if (stat.isFile() && stat.nlink === 1) this.takeBack(at);
        else if (!stat.isDirectory()) unlinkFileNow(at);
      }
    },
  };
}

/** Where a path leads to; itself where there is nothing. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Whether a group of its own can read it. */
function isShown(path: string, { gid, mode }: Stats): boolean {
  return isSandboxUser(gid) && (mode & GROUP_MAY_READ) !== 0 && (lstatSync(dirname(path)).mode & 0o001) !== 0;
}

function isOfWorkers({ uid }: Stats): boolean {
  return uid === WORKER_USER || isSandboxUser(uid);
}

/** Runs `look` on what is at the path itself; null where nothing is, or a link. */
function opened<T>(path: string, look: (descriptor: number, stat: Stats) => T): T | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    return look(descriptor, fstatSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}
