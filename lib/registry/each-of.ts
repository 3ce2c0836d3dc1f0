/** Walks what a registry gives in pieces one by one. */
export async function* eachOf<T>(pieces: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const piece of pieces) yield* piece;
}
