/** What the first page of a database says of its file: whether that is at rest, or in WAL mode. Pure. */

/** Where it says by which version of the format it is written and read, and what says WAL. */
const VERSIONS_AT = 18;
const WAL_VERSION = 2;
const RESTING = Buffer.from([1, 1]);

export function isRestingPage(page: Buffer): boolean {
  const versions = page.subarray(VERSIONS_AT, VERSIONS_AT + RESTING.length);
  return versions.some((version) => version !== WAL_VERSION);
}

/** Makes it the first page of a file at rest. */
export function putPageToRest(page: Buffer): void {
  RESTING.copy(page, VERSIONS_AT);
}
