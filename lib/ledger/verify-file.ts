/**
 * Verifies an exported segment by itself: its lines as they were written to the file, and its signed head at the end.
 * Memory does not grow with the file. Knows nothing of the registry that it came from.
 */
import { CHAIN_START, type ChainedLine, type ChainHead, canonicalLine, chainHash } from '../registry/chain.ts';
import { isBlankSigned, parseBlankNote } from './blanked-lines.ts';
import { type BlankNote, type SegmentHead, segmentHeadSchema } from './documents.ts';
import { isSigned } from './sign.ts';

export interface FileProof {
  /** The flaw, or null: the file holds the whole segment as it was sealed. */
  flaw: string | null;
  /** Lines whose hashes were recomputed. */
  lines: number;
  head: SegmentHead | null;
}

/** The hash at the end of a line's text, after the members that it covers. */
const HASH = /,"hash":"([0-9a-f]{64})"\}$/;
/**
 * The note before the hash of a blanked line. A quotation mark within a member is escaped, so no reason looks like
 * this.
 */
const NOTE = /,"blanked":(\{"by":"[^"\\]*","issuer":"[^"\\]*","signature":"[^"\\]*"\})\}$/;

/**
 * A line in its exported form: its canonical text with its hash as one more member, and before it the note of a blanked
 * one.
 */
export function exportedLine(line: ChainedLine): string {
  const note = line.blanked === null ? '' : `,"blanked":${line.blanked}`;
  return `${canonicalLine(line).slice(0, -1)}${note},"hash":"${line.hash}"}`;
}

interface Read {
  seq: number;
  /** Canonical text of the line, or of its remaining members when there is a `note`. */
  canonical: string;
  hash: string;
  note: BlankNote | null;
}

/** Whether a line follows the one whose hash is `previous`. A note counts when it is signed by one of `issuers`. */
function follows(previous: string, { seq, canonical, hash, note }: Read, issuers: readonly string[]): boolean {
  if (note === null) return chainHash(previous, canonical) === hash;
  return isBlankSigned({ seq, previous, hash, kept: canonical }, note, issuers);
}

/**
 * Reads the texts of the lines. `trusted` are the issuers (`did:key`) whose signature counts; null: any issuer.
 */
export async function verifySegmentFile(
  texts: AsyncIterable<string>,
  trusted: readonly string[] | null,
): Promise<FileProof> {
  const proof: FileProof = { flaw: null, lines: 0, head: null };
  const flawed = (why: string): FileProof => ({ ...proof, flaw: why });
  let first: Read | null = null;
  let last: ChainHead = CHAIN_START;
  /** Issuers of blank notes. When no issuer is trusted by name, only the one who sealed the file may blank lines. */
  const blankers = new Set<string>();
  for await (const text of texts) {
    if (text === '') continue;
    if (proof.head !== null) return flawed('something follows the signed head');
    const hash = HASH.exec(text)?.[1];
    if (hash === undefined) {
      const head = headIn(text);
      if (head === null) return flawed(`the text after line ${last.seq} is neither a line nor a signed head`);
      proof.head = head;
      continue;
    }
    const whole = text.replace(HASH, '}');
    const noted = NOTE.exec(whole)?.[1];
    const note = noted === undefined ? null : parseBlankNote(noted);
    const canonical = noted === undefined ? whole : whole.replace(NOTE, '}');
    if (note !== null) blankers.add(note.issuer);
    const seq = seqIn(canonical);
    if (seq === null) return flawed(`the text after line ${last.seq} is not a line`);
    const read: Read = { seq, canonical, hash, note };
    if (first === null) first = read;
    else if (seq !== last.seq + 1) return flawed(`line ${last.seq + 1} is missing: after ${last.seq} comes ${seq}`);
    else if (!follows(last.hash, read, trusted ?? [...blankers])) {
      return flawed(`line ${seq} does not fit its hash: it, or the line before it, was changed, moved or exchanged`);
    }
    last = { seq, hash };
    proof.lines += 1;
  }
  const { head } = proof;
  if (head === null) return flawed('the signed head at the end is missing');
  if (first === null) return flawed('there are no lines');
  if (!isSigned(head, trusted ?? [head.issuer])) return flawed('the head has no good signature of a trusted issuer');
  if ([...blankers].some((issuer) => issuer !== head.issuer && trusted?.includes(issuer) !== true)) {
    return flawed('lines were blanked by another issuer than the one that sealed it');
  }
  if (!follows(head.previous_hash, first, [...blankers]) || first.hash !== head.first_hash) {
    return flawed(`line ${head.first_seq}, the first, is not the one that was sealed`);
  }
  if (last.seq !== head.last_seq || last.hash !== head.last_hash || proof.lines !== head.lines) {
    return flawed(`the lines end at ${last.seq} (${proof.lines}), the sealed ones at ${head.last_seq} (${head.lines})`);
  }
  return proof;
}

function headIn(text: string): SegmentHead | null {
  try {
    return segmentHeadSchema.parse(JSON.parse(text));
  } catch {
    // Neither JSON nor a head: the caller says so.
    return null;
  }
}

function seqIn(canonical: string): number | null {
  try {
    const seq = (JSON.parse(canonical) as { seq?: unknown }).seq;
    return Number.isSafeInteger(seq) ? (seq as number) : null;
  } catch {
    // Not JSON: the caller says so.
    return null;
  }
}
