/** For how long something is acknowledged. Pure. */

const HOUR = 3600;
const DAY = 86_400;

export const ACKNOWLEDGED_FOR = {
  hour: { says: 'for an hour', seconds: HOUR },
  day: { says: 'for a day', seconds: DAY },
  week: { says: 'for a week', seconds: 7 * DAY },
  end: { says: 'until it ends', seconds: null },
} as const satisfies Record<string, { says: string; seconds: number | null }>;

export type AcknowledgedFor = keyof typeof ACKNOWLEDGED_FOR;

export function isAcknowledgedFor(value: string): value is AcknowledgedFor {
  return Object.hasOwn(ACKNOWLEDGED_FOR, value);
}
