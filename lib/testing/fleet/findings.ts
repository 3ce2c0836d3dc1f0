/**
 * For tests: what is wrong with the answers of a round of the drill of hosts: of each register the order of its reads
 * and writes, of each host what it said while it may not act, and what it said of others. Pure.
 */
import { misfitOf, type RegisterOperation } from './linearizable.ts';
import type { RowHistory } from './row-history.ts';

/** What clients know of an answer: `unknown`: it may have been done, or will be. */
export type AskedOutcome = 'done' | 'refused' | 'unknown' | 'wrong';

/** One request of a client. Times in milliseconds of a monotonic clock. */
export interface Asked {
  /** Id of the sandbox whose register it is about. */
  readonly register: string;
  /** Which host was asked. */
  readonly host: string;
  readonly kind: 'read' | 'write' | 'rest';
  /** What was written, or read. */
  readonly value: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly outcome: AskedOutcome;
  /** Status and code, or what ended the request. */
  readonly answer: string;
}

/** A host has said that another one is dead. */
export interface DeathClaim {
  readonly by: string;
  readonly of: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A verdict of a host may be as old as this many leases: it looks eight times in one, and may be slow. */
const OLD_LEASES = 3;

const shown = ({ kind, value, host, register, fromMs, toMs, answer }: Asked) =>
  `${kind} ${value} of ${register} on ${host} from ${Math.round(fromMs)} to ${Math.round(toMs)}: ${answer}`;

/** Sentences, one for each thing that is wrong. */
export function findingsOf({
  asked,
  claims,
  rows,
  leaseMs,
}: {
  asked: readonly Asked[];
  claims: readonly DeathClaim[];
  rows: RowHistory;
  leaseMs: number;
}): string[] {
  const findings = [...rows.findings];
  for (const one of asked) {
    const { register, host, fromMs, toMs, outcome, answer } = one;
    if (outcome === 'wrong') findings.push(`no answer of the product's: ${shown(one)}`);
    const owner = rows.ownerDuring(register, fromMs, toMs);
    if (outcome === 'done') {
      if (rows.isSilent(host, fromMs, toMs)) findings.push(`answered by a host that may not act: ${shown(one)}`);
      else if (typeof owner === 'string' && owner !== host && rows.isSilent(owner, fromMs, toMs))
        findings.push(`answered while it was the dead ${owner}'s: ${shown(one)}`);
    }
    if (owner === null && answer.includes('unreachable')) findings.push(`nobody's, and unreachable: ${shown(one)}`);
  }
  for (const { by, of, fromMs, toMs } of claims) {
    if (!rows.maySeemDead(of, fromMs - OLD_LEASES * leaseMs, toMs))
      findings.push(`${by} took ${of} for dead, which renewed its lease, at ${Math.round(toMs)}`);
  }
  return findings;
}

/**
 * What is wrong with one register: that something was done which was refused, or that there is no order. `initial`:
 * what it held before. `late`: writes of before whose outcome nobody knows.
 */
export function registerFindings(
  asked: readonly Asked[],
  { initial, late }: { initial: string; late: readonly Asked[] },
): string[] {
  const refused = new Map(asked.flatMap((one) => (isRefusedWrite(one) ? [[one.value, one] as const] : [])));
  const done = asked.find(({ kind, outcome, value }) => kind === 'read' && outcome === 'done' && refused.has(value));
  const write = done === undefined ? undefined : refused.get(done.value);
  if (write !== undefined) return [`refused, and done all the same: ${shown(write)}`];
  const misfit = misfitOf([...late, ...asked].flatMap(operationOf), initial);
  if (misfit === null) return [];
  const { operation, ordered, held } = misfit;
  const of = asked.find(
    ({ kind, value, toMs }) => kind === operation.kind && value === operation.value && toMs === operation.to,
  );
  const what = of === undefined ? `${operation.kind} ${operation.value}` : shown(of);
  return [`not linearisable: ${what}; after ${ordered} others the register held ${held}`];
}

const isRefusedWrite = ({ kind, outcome }: Asked) => kind === 'write' && outcome === 'refused';

function operationOf({ kind, value, fromMs: from, toMs, outcome }: Asked): RegisterOperation[] {
  if (kind === 'rest' || outcome === 'refused') return [];
  if (outcome === 'done') return [{ kind, value, from, to: toMs }];
  return kind === 'write' ? [{ kind, value, from, to: null }] : [];
}
