/**
 * Verifies a ledger: follows its chain from the first line to the last, checks it against the sealed segments and
 * signed heads, and names the first flaw. Memory does not grow with the ledger. Knows nothing of where the lines are
 * stored.
 */
import { CHAIN_START, type ChainedLine, type ChainHead, canonicalLine, chainHash } from '../registry/chain.ts';
import type { Segment } from '../registry/segments.ts';
import { BlankNoteCheck, isBlankSigned, parseBlankNote } from './blanked-lines.ts';
import type { LedgerHead } from './documents.ts';
import { type EpochLine, epochLineOf } from './epoch-lines.ts';
import { isDropped, isSealed, isSigned } from './sign.ts';

export interface ChainSource {
  /** Oldest first. */
  segments(): Segment[] | Promise<Segment[]>;
  /** Lines after `seq`, oldest first. */
  lines(seq: number, limit: number): ChainedLine[] | Promise<ChainedLine[]>;
}

interface Flaw {
  /** Number of the first bad line; null when it is not about one. */
  seq: number | null;
  why: string;
}

export interface LedgerProofResult {
  /** The first flaw, or null: no line was changed, removed or reordered. */
  flaw: Flaw | null;
  /** Lines whose hashes were recomputed. */
  lines: number;
  /** Lines that were exported and dropped; the chain continues with the hashes of their segments. */
  dropped: number;
  segments: number;
  /** Lines whose texts were removed with a forgotten tenant; a signed note replaces the texts. */
  blanked: number;
  /** The last line that was verified. */
  last: ChainHead;
  /** Where a person continued the ledger from an earlier line, oldest first, without epochs in dropped months. */
  epochs: EpochLine[];
  /** Number of the last line that a signed head covers; later lines are chained but could still be cut off. */
  signedTo: number;
}

export interface VerifyOptions {
  /** Signed heads that the chain must pass through. */
  heads: readonly LedgerHead[];
  /** The issuers (`did:key`) whose signatures count. */
  issuers: readonly string[];
  /** Called between pages, so that other work runs. */
  pause?: () => Promise<void>;
}

/** Lines read at a time: about a millisecond's work. */
const PAGE = 200;

/** A flaw as an exception, so that the code reads as a list of what must hold. */
export class LedgerFlaw extends Error {
  readonly flaw: Flaw;

  constructor(seq: number | null, why: string) {
    super(why);
    this.flaw = { seq, why };
  }
}

/** Verifies the ledger. Throws only what the source throws; a bad ledger is an answer. */
export async function verifyLedger(source: ChainSource, options: VerifyOptions): Promise<LedgerProofResult> {
  const proof: LedgerProofResult = {
    flaw: null,
    lines: 0,
    dropped: 0,
    segments: 0,
    blanked: 0,
    epochs: [],
    last: CHAIN_START,
    signedTo: 0,
  };
  try {
    await verifyChain(source, options, proof);
  } catch (error) {
    if (!(error instanceof LedgerFlaw)) throw error;
    proof.flaw = error.flaw;
  }
  return proof;
}

async function verifyChain(source: ChainSource, options: VerifyOptions, proof: LedgerProofResult): Promise<void> {
  const { heads, issuers } = options;
  for (const head of heads) {
    if (!isSigned(head, issuers))
      throw new LedgerFlaw(null, `the signed head of line ${head.seq} has no good signature`);
  }
  const segments = await source.segments();
  checkSegments(segments, issuers);
  proof.segments = segments.length;

  // Where the chain must have which hash, and which document requires it.
  const marks = new Map<number, { hash: string; by: string }[]>();
  const mark = (seq: number, hash: string, by: string) => marks.set(seq, [...(marks.get(seq) ?? []), { hash, by }]);
  for (const segment of segments) {
    mark(segment.firstSeq, segment.firstHash, `the segment ${segment.id}`);
    mark(segment.lastSeq, segment.lastHash, `the segment ${segment.id}`);
  }
  for (const head of heads) mark(head.seq, head.hash, `the signed head of line ${head.seq}`);
  const meet = ({ seq, hash }: ChainHead) => {
    const against = marks.get(seq)?.find((one) => one.hash !== hash);
    if (against === undefined) return;
    throw new LedgerFlaw(seq, `line ${seq} is not the one that ${against.by} was made of${givenUp(seq, proof.epochs)}`);
  };

  meet(CHAIN_START);
  const gone = segments.findLast((segment) => segment.droppedMs !== null);
  if (gone !== undefined) {
    proof.dropped = gone.lastSeq;
    proof.last = { seq: gone.lastSeq, hash: gone.lastHash };
    meet(proof.last);
  }
  const blanks = new BlankNoteCheck();
  for (;;) {
    const lines = await source.lines(proof.last.seq, PAGE);
    for (const line of lines) {
      proof.last = nextHead(proof.last, line, issuers);
      proof.lines += 1;
      if (line.blanked !== null) proof.blanked += 1;
      const unlike = blanks.take(line, proof.dropped > 0);
      if (unlike !== null) throw new LedgerFlaw(line.seq, unlike);
      const epoch = epochLineOf(line);
      if (epoch !== null) proof.epochs.push(epoch);
      meet(proof.last);
    }
    if (lines.length < PAGE) break;
    await options.pause?.();
  }
  const { seq } = proof.last;
  const cut = [
    ...segments.map(({ id, lastSeq }) => ({ to: lastSeq, by: `the segment ${id}` })),
    ...heads.map((head) => ({ to: head.seq, by: `the head signed ${new Date(head.time_ms).toISOString()}` })),
  ].find(({ to }) => to > seq);
  if (cut !== undefined) {
    throw new LedgerFlaw(
      seq + 1,
      `the ledger ends at line ${seq}, but ${cut.by} goes to line ${cut.to}: its end was removed${givenUp(cut.to, proof.epochs)}`,
    );
  }
  const begun = proof.epochs.at(-1)?.epoch ?? 1;
  const other = heads.find(({ seq: to, epoch = 1 }) => to >= (proof.epochs.at(-1)?.seq ?? 0) && epoch !== begun);
  if (other !== undefined && proof.dropped === 0) {
    const { seq: to, epoch = 1 } = other;
    throw new LedgerFlaw(to, `the signed head of line ${to} is of epoch ${epoch}, the ledger of epoch ${begun}`);
  }
  proof.signedTo = Math.max(0, ...heads.map((head) => head.seq), ...segments.map(({ lastSeq }) => lastSeq));
}

/** The chain's end after `line`. `issuers` may blank it. Throws a `LedgerFlaw` when the line does not follow. */
export function nextHead(before: ChainHead, line: ChainedLine, issuers: readonly string[]): ChainHead {
  const seq = before.seq + 1;
  if (line.seq !== seq) throw new LedgerFlaw(seq, `line ${seq} is missing: after ${before.seq} comes ${line.seq}`);
  if (line.blanked !== null) {
    const note = parseBlankNote(line.blanked);
    const blank = { seq, previous: before.hash, hash: line.hash, kept: canonicalLine(line) };
    if (note === null || !isBlankSigned(blank, note, issuers)) {
      throw new LedgerFlaw(seq, `line ${seq} was blanked without a trusted signature, or was moved`);
    }
    return { seq, hash: line.hash };
  }
  const hash = chainHash(before.hash, canonicalLine(line));
  if (hash !== line.hash) {
    throw new LedgerFlaw(
      seq,
      `line ${seq} does not fit its hash: it, or the line before it, was changed, moved or exchanged`,
    );
  }
  return { seq, hash };
}

/** The explanation for a signed line that does not exist, when an epoch began before it. */
function givenUp(seq: number, epochs: readonly EpochLine[]): string {
  const begun = epochs.find((epoch) => epoch.seq <= seq);
  return begun === undefined
    ? ''
    : ` (epoch ${begun.epoch} was begun at line ${begun.seq}: the lines signed before it went further)`;
}

function checkSegments(segments: Segment[], issuers: readonly string[]): void {
  let before = CHAIN_START;
  let droppable = true;
  for (const segment of segments) {
    const { id, firstSeq, lastSeq } = segment;
    if (!isSealed(segment, issuers)) throw new LedgerFlaw(firstSeq, `the segment ${id} has no good signature`);
    if (firstSeq !== before.seq + 1 || segment.previousHash !== before.hash) {
      throw new LedgerFlaw(before.seq + 1, `the segment ${id} does not follow the one before it`);
    }
    if (segment.droppedMs !== null) {
      if (!droppable) throw new LedgerFlaw(firstSeq, `the segment ${id} was dropped before an older one`);
      if (!isDropped(segment, issuers))
        throw new LedgerFlaw(firstSeq, `the lines of the segment ${id} were not dropped by the server`);
    } else droppable = false;
    before = { seq: lastSeq, hash: segment.lastHash };
  }
}
