/** The kinds of copies and the names of their files, which rows, drawers and backups share. Pure. */
export const COPY_KINDS = ['snapshot', 'blueprint'] as const;
export type CopyKind = (typeof COPY_KINDS)[number];

const DRAWERS: Readonly<Record<CopyKind, string>> = { snapshot: 'snapshots', blueprint: 'blueprints' };
const COPY_PATH = /^(snapshots|blueprints)\/([0-9a-f]{64})\.sqlite$/;

/** The drawer of a kind of copy. */
export function copyDrawer(kind: CopyKind): string {
  return DRAWERS[kind];
}

/** The path of a copy's file, relative to the data folder. `hash` is the lower-case hex SHA-256 of its bytes. */
export function copyPath(kind: CopyKind, hash: string): string {
  return `${DRAWERS[kind]}/${hash}.sqlite`;
}

/** Parses the path of a copy's file; null for any other path. */
export function parseCopyPath(path: string): { kind: CopyKind; hash: string } | null {
  const [, drawer, hash] = COPY_PATH.exec(path) ?? [];
  if (hash === undefined) return null;
  return { kind: drawer === DRAWERS.snapshot ? 'snapshot' : 'blueprint', hash };
}
