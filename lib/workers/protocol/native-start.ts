/** What a process for real programs is told with its sandbox. Types only. */

export interface NativeStart {
  /** The id of the sandbox, by which its jail is named. */
  readonly id: string;
  /** The root file system that its programs are of: absolute. */
  readonly root: string;
  /** Whom its programs are outside, and whose its files are. */
  readonly user: { readonly uid: number; readonly gid: number };
}
