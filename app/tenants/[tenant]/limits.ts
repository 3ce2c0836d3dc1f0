/** The quota fields: parsing and complaints. Pure. */

import { parseDuration, parseSize } from '#components/ui/amounts.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { TenantPatch } from '#lib/contract/schema.ts';

export const LIMITS = [
  'max_sandboxes',
  'max_active',
  'max_bytes',
  'max_daily_cpu_s',
  'max_run_s',
  'max_call_s',
] as const;
export type Limit = (typeof LIMITS)[number];

export interface LimitsState {
  values: Partial<Record<Limit, string>>;
  errors: Partial<Record<Limit, string>>;
  outcome: ActionOutcome | null;
}

export type LimitsAction = (previous: LimitsState, form: FormData) => Promise<LimitsState>;

const count = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : null);

const READ: Readonly<Record<Limit, { of: (text: string) => number | null; like: string }>> = {
  max_sandboxes: { of: count, like: 'a whole number, like 50' },
  max_active: { of: count, like: 'a whole number, like 5' },
  max_bytes: { of: parseSize, like: 'a size, like 500 MB' },
  max_daily_cpu_s: { of: parseDuration, like: 'a time, like 30 min or 2 h' },
  max_run_s: { of: parseDuration, like: 'a time, like 30 min or 2 h' },
  max_call_s: { of: parseDuration, like: 'a time, like 5 min' },
};

/** Parses typed limits; an empty one removes the limit. Complaints are by field. */
export function readLimits(values: LimitsState['values']): { patch: TenantPatch; errors: LimitsState['errors'] } {
  const patch: TenantPatch = {};
  const errors: LimitsState['errors'] = {};
  for (const name of LIMITS) {
    const text = values[name] ?? '';
    const amount = text === '' ? null : READ[name].of(text);
    if (text !== '' && amount === null) errors[name] = `must be ${READ[name].like}`;
    else patch[name] = amount;
  }
  return { patch, errors };
}
