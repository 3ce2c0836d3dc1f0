/** Whether a ledger still contains the line of a signed head. Knows nothing of signatures. */
import type { ChainedLine, ChainHead } from '../registry/chain.ts';
import type { Segment } from '../registry/segments.ts';

export interface ChainReader {
  /** Lines after `seq`, oldest first. */
  chain(seq: number, limit: number): Promise<ChainedLine[]>;
  readonly segments: { list(): Promise<Segment[]> };
}

/** Whether the chain that ends at `now` has the line of `head`, or dropped it together with its month. */
export async function chainIncludes(ledger: ChainReader, head: ChainHead, now: ChainHead): Promise<boolean> {
  if (head.seq === now.seq) return head.hash === now.hash;
  if (head.seq === 0) return true;
  if (head.seq > now.seq) return false;
  const [at] = await ledger.chain(head.seq - 1, 1);
  if (at?.seq === head.seq) return at.hash === head.hash;
  const gone = (await ledger.segments.list()).filter((segment) => segment.droppedMs !== null);
  const ended = gone.find((segment) => segment.lastSeq === head.seq);
  if (ended !== undefined) return ended.lastHash === head.hash;
  return gone.some((segment) => segment.firstSeq <= head.seq && head.seq < segment.lastSeq);
}
