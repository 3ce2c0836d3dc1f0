/** Litestream's own reader of replicas, an extension of SQLite, where this system has its package. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const EXTENSION = fileURLToPath(
  new URL('./node_modules/litestream-vfs-linux-amd64/litestream-vfs.so', import.meta.url),
);

/** The file of the extension; null where there is none for this system. */
export const LITESTREAM_VFS: string | null = existsSync(EXTENSION) ? EXTENSION : null;
