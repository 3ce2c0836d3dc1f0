/** Saves downloads to files, whole or not at all. Overwrites only with `--force`. `-` is stdout. */
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Download } from '../client/client.ts';
import { CliError } from './failure.ts';
import type { ProgressLine } from './progress.ts';

export interface SavedFile {
  file: string;
  bytes: number;
}

/** Throws a usage error when `file` exists and `force` is not set. Call it before the download starts. */
export function refuseOverwrite(file: string, force: boolean | undefined): void {
  if (file === '-' || force === true || !existsSync(file)) return;
  throw new CliError('usage', `"${file}" exists already.`, 'Add --force to overwrite it, or name another file.');
}

/** Writes a download to `file`. Returns what was written, or null for stdout. A failure leaves no file behind. */
export async function saveDownload(
  download: Download,
  file: string,
  options: { force?: boolean; progress: ProgressLine },
): Promise<SavedFile | null> {
  refuseOverwrite(file, options.force);
  const source = Readable.fromWeb(download.stream as import('node:stream/web').ReadableStream);
  try {
    if (file === '-') {
      await pipeline(source, process.stdout, { end: false });
      return null;
    }
    const temporary = `${file}.part-${process.pid}`;
    const sink = createWriteStream(temporary, { flags: 'wx' });
    try {
      await pipeline(source, sink);
      renameSync(temporary, file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return { file, bytes: sink.bytesWritten };
  } finally {
    options.progress.end();
  }
}
