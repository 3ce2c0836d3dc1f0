/** Iterates over the items of batches, one by one. */
export async function* eachOf<T>(pieces: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const piece of pieces) yield* piece;
}
