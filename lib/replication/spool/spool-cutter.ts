/**
 * A cutter into the spool, whose folders go when they are empty: it makes that of a segment again when it has gone
 * between two of them.
 */
import { dirname } from 'node:path';
import { makeFolderNow } from '../../base/effects.ts';
import { isThere } from '../../base/is-there.ts';
import { isCode } from '../../storage/files.ts';
import type { Cutter } from '../log/cutter.ts';

type CutterOfFiles = Pick<Cutter, 'cutSegment' | 'cutBase' | 'cutFirstPage' | 'walkLog'>;

export function spoolCutter(cutter: CutterOfFiles): CutterOfFiles {
  return {
    cutSegment: (request) => inFolder(request.target, () => cutter.cutSegment(request)),
    cutBase: (request) => inFolder(request.target, () => cutter.cutBase(request)),
    walkLog: (request) => cutter.walkLog(request),
    cutFirstPage: (request) => inFolder(request.target, () => cutter.cutFirstPage(request)),
  };
}

async function inFolder<T>(target: string, cut: () => Promise<T>): Promise<T> {
  const folder = dirname(target);
  try {
    return await cut();
  } catch (error) {
    if (!isCode(error, 'ENOENT') || isThere(folder)) throw error;
    makeFolderNow(folder);
    return cut();
  }
}
