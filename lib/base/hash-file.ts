/** The SHA-256 of a file. Knows nothing of what the file is for. */
import { createHash } from 'node:crypto';
import { openRegular } from './strangers-file.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * Hashes a file in two buffers: one is read into while the other is hashed, and neither is allocated again for the next
 * part. Throws the system's errors.
 */
export async function hashFile(path: string): Promise<{ /** Lower-case hex. */ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  const handle = await openRegular(path);
  try {
    let [current, next] = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)];
    let bytes = 0;
    let reading = handle.read(current, 0, CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) return { sha256: hash.digest('hex'), bytes };
      reading = handle.read(next, 0, CHUNK_BYTES);
      hash.update(current.subarray(0, bytesRead));
      bytes += bytesRead;
      [current, next] = [next, current];
    }
  } finally {
    await handle.close();
  }
}
