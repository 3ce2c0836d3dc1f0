/**
 * Proves an exported segment by itself: its lines as they were written to the file, its signed head at the end. Memory does not grow with
 * the file. Knows nothing of the registry that it came from.
 */
import { CHAIN_START, type ChainedLine, type ChainHead, canonicalLine, chainHash } from '../registry/chain.ts';
import { type SegmentHead, segmentHeadSchema } from './documents.ts';
import { isSigned } from './sign.ts';

export interface FileProof {
  /** What is wrong, or null: the file holds the whole segment as it was sealed. */
  flaw: string | null;
  /** Lines whose hashes were made again. */
  lines: number;
  head: SegmentHead | null;
}

/** What ends a line's text: its hash, after the members that it was made of. */
const HASH = /,"hash":"([0-9a-f]{64})"\}$/;

/** A line as it is exported: its canonical text with its hash as one more member. */
export function exportedLine(line: ChainedLine): string {
  return `${canonicalLine(line).slice(0, -1)},"hash":"${line.hash}"}`;
}

/** Reads the texts of the lines. `trusted` are the issuers (`did:key`) whose signature counts; null: whoever signed it. */
export async function verifySegmentFile(
  texts: AsyncIterable<string>,
  trusted: readonly string[] | null,
): Promise<FileProof> {
  const proof: FileProof = { flaw: null, lines: 0, head: null };
  const flawed = (why: string): FileProof => ({ ...proof, flaw: why });
  let first: { canonical: string; hash: string } | null = null;
  let last: ChainHead = CHAIN_START;
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
    const canonical = text.replace(HASH, '}');
    const seq = seqIn(canonical);
    if (seq === null) return flawed(`the text after line ${last.seq} is not a line`);
    if (first === null) first = { canonical, hash };
    else if (seq !== last.seq + 1) return flawed(`line ${last.seq + 1} is missing: after ${last.seq} comes ${seq}`);
    else if (chainHash(last.hash, canonical) !== hash) {
      return flawed(`line ${seq} does not fit its hash: it, or the line before it, was changed, moved or exchanged`);
    }
    last = { seq, hash };
    proof.lines += 1;
  }
  const { head } = proof;
  if (head === null) return flawed('the signed head at the end is missing');
  if (first === null) return flawed('there are no lines');
  if (!isSigned(head, trusted ?? [head.issuer])) return flawed('the head has no good signature of a trusted issuer');
  if (chainHash(head.previous_hash, first.canonical) !== first.hash || first.hash !== head.first_hash) {
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
