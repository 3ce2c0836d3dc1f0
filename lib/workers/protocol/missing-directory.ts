/** The sentence of a call whose working directory is not there, which its caller recognises. Pure. */

/** `path`: absolute; a long one is cut. */
export function missingDirectory(path: string): string {
  return `There is no directory ${JSON.stringify(path.slice(0, 200))} to run in.`;
}
