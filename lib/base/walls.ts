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
