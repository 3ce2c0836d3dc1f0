/**
 * Ledger lines whose texts were blanked when their tenant was forgotten. A line's hash covers its texts, so it cannot
 * be recomputed without them: a note that the server signs replaces them and states the line's place in the chain. The
 * last line of a forgetting carries a digest of all its notes and is chained itself, so a head that is kept elsewhere
 * covers the notes too. Pure but for the signing.
 */
import { createHash, type Hash, hash } from 'node:crypto';
import type { Signer } from '../base/signing.ts';
import { type ChainedLine, canonicalLine } from '../registry/chain.ts';
import { BLANK_KIND, type BlankNote, blankNoteSchema, type LineBlank } from './documents.ts';
import { isSigned, signed } from './sign.ts';

/** The last line of a forgetting. */
export const TENANT_FORGOTTEN = 'tenant.forgotten';

/** The line that a note describes. `kept`: the canonical text of its remaining members. */
interface Blanked {
  seq: number;
  previous: string;
  hash: string;
  kept: string;
}

function documentOf({ seq, previous, hash: own, kept }: Blanked, by: string) {
  return { kind: BLANK_KIND, seq, previous_hash: previous, hash: own, kept: hash('sha256', kept, 'hex'), by } as const;
}

/** The note, as JSON, of a line to be blanked; `previous` is the hash before it, `by` the job of the forgetting. */
export function blankNote(signer: Signer, line: ChainedLine, previous: string, by: string): string {
  const left = { ...line, reason: null, error: null, requestId: null, address: null };
  const blank = { seq: line.seq, previous, hash: line.hash, kept: canonicalLine(left) };
  const { issuer, signature } = signed<LineBlank>(signer, documentOf(blank, by));
  return JSON.stringify({ by, issuer, signature } satisfies BlankNote);
}

/** The note in a line's text, or null when the text is not one. */
export function parseBlankNote(text: string): BlankNote | null {
  try {
    return blankNoteSchema.parse(JSON.parse(text));
  } catch {
    // Neither JSON nor a note: the caller reports it.
    return null;
  }
}

/** True when a note is about this line, at this place, and signed by one of `issuers`. */
export function isBlankSigned(
  blank: Blanked,
  { by, issuer, signature }: BlankNote,
  issuers: readonly string[],
): boolean {
  return isSigned({ ...documentOf(blank, by), issuer, signature }, issuers);
}

/** The digest of notes, in the order of their lines. */
export class BlankNoteDigest {
  readonly #hash: Hash = createHash('sha256');
  count = 0;

  add(note: string): void {
    this.#hash.update(`${note}\n`);
    this.count += 1;
  }

  /** `12 lines of the ledger blanked (sha256:…)`. */
  words(): string {
    return `${this.count} lines of the ledger blanked (sha256:${this.#hash.copy().digest('hex')})`;
  }
}

const BLANKED_LINES = /\b(\d+) lines of the ledger blanked \(sha256:[0-9a-f]{64}\)/;

/** Compares the notes of each forgetting with the digest in the line that ended it. */
export class BlankNoteCheck {
  readonly #notes = new Map<string, BlankNoteDigest>();

  /**
   * Takes a line, in order. Returns the flaw, or null. Where older lines were dropped, lines of a forgetting may be
   * among them.
   */
  take(line: ChainedLine, isCut: boolean): string | null {
    const note = line.blanked === null ? null : parseBlankNote(line.blanked);
    if (note !== null && line.blanked !== null) {
      const notes = this.#notes.get(note.by) ?? new BlankNoteDigest();
      notes.add(line.blanked);
      this.#notes.set(note.by, notes);
    }
    if (line.type !== TENANT_FORGOTTEN || line.requestId === null) return null;
    const declared = BLANKED_LINES.exec(line.reason ?? '');
    if (declared === null) return null;
    const found = this.#notes.get(line.requestId) ?? new BlankNoteDigest();
    this.#notes.delete(line.requestId);
    if (declared[0] === found.words() || (isCut && found.count < Number(declared[1]))) return null;
    return `line ${line.seq} declares ${declared[0]}, but the blanked lines are ${found.words()}`;
  }
}
