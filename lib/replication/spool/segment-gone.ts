/** A segment of the spool that cannot be read any more. */
export class SegmentGone extends Error {
  readonly id: string;

  constructor(id: string, cause: unknown) {
    super(`A segment of ${id} is gone from the spool.`, { cause });
    this.id = id;
  }
}
