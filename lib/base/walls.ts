/** The names of the walls that can stand around the process of a sandbox. Knows nothing of how they are built. */

/**
 * `net`: no network, and none shared with another sandbox; `uid`: another user than the server's; `caps`: no
 * capabilities and no new ones; `files`: of the file system only what a process needs; `pid`: a namespace of processes
 * to itself, which ends with it; `ipc`: no shared memory and no queues of others; `seccomp`: of the system calls only
 * what a process needs.
 */
export const WALLS = ['net', 'uid', 'caps', 'files', 'pid', 'ipc', 'seccomp'] as const;
export type Wall = (typeof WALLS)[number];

/** Whether each wall is in force. */
export type WallStates = Record<Wall, boolean>;

export function isWall(name: string): name is Wall {
  return (WALLS as readonly string[]).includes(name);
}

/** A user and a group, by their ids. */
export interface FileUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Which users open guests' files for the server. Each answer is of the file as it is now; a link is followed by nobody.
 */
export interface HelperUsers {
  /**
   * Who may read the file (absolute): the user of its group, which is its tenant's, else its owner. One that is the
   * server's alone is given to a group of its own first, which changes its ctime.
   */
  reading(path: string): FileUser;
  /** The same without a change of any file; null: nobody but the server. */
  readerAsItIs(path: string): FileUser | null;
  /** The owner of a file; null where that is no user of sandboxes. */
  ownerOf(path: string): FileUser | null;
  /** Nobody's user: of a file that is not there. */
  readonly nobody: FileUser;
  /** Gives a file that the server has just made to this user. */
  give(path: string, user: FileUser): void;
  /** Gives a folder of the server's, and the files in it, to this user, or to a new one. Returns whom. */
  lend(folder: string, to?: FileUser): FileUser;
  /**
   * Takes back a file that was given, or a folder with the files in it: they are the server's then, and read by a
   * group. In a folder what is no file, or one with more names, is removed; folders in it stay.
   */
  takeBack(path: string): void;
}

/** What stands around a process that opens guests' files for the server. */
export interface HelperWalls {
  /** Runs the process's own command. */
  readonly command: readonly string[];
  /** The process is the only child of what the command starts, which ends with it; else it is the same. */
  readonly isWrapped: boolean;
  /** Its last arguments, by which it is found when its server has died. */
  readonly marks: readonly string[];
  /** Folder of its compile cache, which no process that has seen a guest's bytes can write. Null: it has none. */
  readonly cacheFolder: string | null;
  /** Null: they stay the user that they start as. */
  readonly users: HelperUsers | null;
  readonly states: WallStates;
  close(): void;
}
