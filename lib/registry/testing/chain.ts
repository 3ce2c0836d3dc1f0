/** For tests: the ledger of a registry is one chain, whose lines are numbered without a gap. */
import { expect } from 'vitest';
import { CHAIN_START, type ChainedLine, canonicalLine, chainHash } from '../chain.ts';
import type { Registry } from '../registry.ts';

/** Recomputes it from its first line on. Returns the lines. `count`: how many there are to be. */
export async function expectOneChain(
  registry: { ledger: Pick<Registry['ledger'], 'chain'> },
  count?: number,
): Promise<ChainedLine[]> {
  const lines = await registry.ledger.chain(0, 10_000);
  let { hash } = CHAIN_START;
  for (const [at, line] of lines.entries()) {
    hash = chainHash(hash, canonicalLine(line));
    expect([line.seq, line.hash]).toEqual([at + 1, hash]);
  }
  if (count !== undefined) expect(lines).toHaveLength(count);
  return lines;
}
