/** Which ledger lines a webhook is told of. Pure. */
import type { LedgerLine } from '../registry/types.ts';
import type { WebhookRow } from '../registry/webhooks.ts';

/** Stands for every line of a fault, a failure or a refusal. */
const PROBLEMS = 'problems';

/** A line of something that went wrong or was refused: it has an error, or its type says so. */
function isProblem({ type, error }: Pick<LedgerLine, 'type' | 'error'>): boolean {
  return error !== null || /\.(?:refused|failed|raised|broken|timed_out|out_of_memory|head_missing)$/.test(type);
}

export function isWanted({ tenant, types }: Pick<WebhookRow, 'tenant' | 'types'>, line: LedgerLine): boolean {
  if (tenant !== null && line.tenant !== tenant) return false;
  return (
    types === null ||
    types.some((wanted) => {
      if (wanted === PROBLEMS) return isProblem(line);
      return wanted.endsWith('.*') ? line.type.startsWith(wanted.slice(0, -1)) : wanted === line.type;
    })
  );
}
