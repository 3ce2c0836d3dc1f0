/**
 * Addresses of files that are in the object store: what a row shows, and the name of the object there. The cached copy
 * lies in the drawer of the same kind under the sandbox's id. Pure; nobody else takes such an address apart.
 */

/** The drawers of a sandbox's own file that an object store is below. */
export const CLOUD_KINDS = ['cold', 'archive'] as const;
type CloudKind = (typeof CLOUD_KINDS)[number];

export interface CloudAddress {
  kind: CloudKind;
  /** Of the sandbox. */
  id: string;
  /** That the row had when the object was made. */
  generation: number;
  /** Random, of one attempt: a name is written once. */
  token: string;
}

const SCHEME = 'cloud:';
/** Where the objects of drawers are, in a store. */
const OBJECTS = 'drawers/';
const ADDRESS = /^cloud:(cold|archive)\/([^/]+)\/(\d{1,15})-([A-Za-z0-9_-]+)$/;
/** What a row has as its path, such as `cloud:cold/a/7-Zm9v`. */
export function cloudAddress({ kind, id, generation, token }: CloudAddress): string {
  return `${SCHEME}${kind}/${id}/${generation}-${token}`;
}

/** Takes an address apart; null for any other path. */
export function parseCloudAddress(path: string | null): CloudAddress | null {
  const [, kind, id, generation, token] = ADDRESS.exec(path ?? '') ?? [];
  if (id === undefined || token === undefined) return null;
  return { kind: kind === 'cold' ? 'cold' : 'archive', id, generation: Number(generation), token };
}

/** Whether a row's path says that its file is in the store. */
export function isCloudAddress(path: string | null): boolean {
  return parseCloudAddress(path) !== null;
}

/** The name of the object, relative to the installation's prefix. Throws for any other path. */
export function objectNameOf(address: string): string {
  if (!isCloudAddress(address)) throw new Error(`${address} is no address in a store.`);
  return `${OBJECTS}${address.slice(SCHEME.length)}`;
}

/** The address of an object of a sandbox, by its name in the store; null for any other name. */
export function addressOfObject(name: string): string | null {
  const address = `${SCHEME}${name.slice(OBJECTS.length)}`;
  return name.startsWith(OBJECTS) && isCloudAddress(address) ? address : null;
}
