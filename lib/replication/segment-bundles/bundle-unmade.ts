/** A bundle that could not be written on this disk: what was to be in it can go by itself. */
export class BundleUnmade extends Error {
  constructor(cause: unknown) {
    super('A bundle could not be written.', { cause });
  }
}
