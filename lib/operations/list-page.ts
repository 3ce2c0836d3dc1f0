/** One page of a list, as operations return it. `next` is the cursor of the page after it, null on the last one. */
export interface ListPage<T> {
  items: T[];
  next: string | null;
}
