/** One page of a list, and where the next begins. */
export interface Page<T> {
  rows: T[];
  /** Cursor of the page after, or null at the end. */
  next: string | null;
}
