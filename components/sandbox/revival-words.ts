/** What a revival brings back and how long it takes, in words. Pure. */
import { sizeInWords, tookInWords } from '../ui/durations.ts';
import { numberInWords } from './count-words.ts';

export interface RevivalFacts {
  /** By volume; null: the visitor may not see how much there is, or the file cannot be read. */
  volumes: readonly { volume: string; files: number; bytes: number; survives: boolean }[] | null;
  /** How long the last revivals took, in milliseconds, newest first. */
  tookMs: readonly number[];
}

function filesInWords(files: number): string {
  return `${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}`;
}

/** `workspace 6 files (1.2 MB), memory 1 file (31 B)`; null for nothing. */
function volumesInWords(volumes: NonNullable<RevivalFacts['volumes']>): string | null {
  const parts = volumes
    .filter(({ files }) => files > 0)
    .map(({ volume, files, bytes }) => `${volume} ${filesInWords(files)} (${sizeInWords(bytes)})`);
  return parts.length === 0 ? null : parts.join(', ');
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** `Comes back: workspace 6 files (1.2 MB). Does not: tmp 3 files (2 kB). About 30 ms, as the last six took.` */
export function revivalInWords({ volumes, tookMs }: RevivalFacts): string[] {
  const sentences: string[] = [];
  if (volumes !== null) {
    const back = volumesInWords(volumes.filter(({ survives }) => survives));
    const gone = volumesInWords(volumes.filter(({ survives }) => !survives));
    sentences.push(back === null ? 'Comes back: nothing, its file is empty.' : `Comes back: ${back}.`);
    if (gone !== null) sentences.push(`Does not: ${gone}.`);
  }
  if (tookMs.length > 0) {
    const last = tookMs.length === 1 ? 'the last one' : `the last ${numberInWords(tookMs.length) ?? tookMs.length}`;
    sentences.push(`About ${tookInWords(median(tookMs))}, as ${last} took.`);
  }
  return sentences;
}
