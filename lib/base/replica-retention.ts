/** How long a replica keeps what, as WB_REPLICA_RETENTION says. Pure. */

/** In milliseconds; none is shorter than the one before it. */
export interface ReplicaKeeps {
  /** Every moment. */
  readonly commitsMs: number;
  /** The last moment of each minute. */
  readonly minutesMs: number;
  /** The last moment of each hour. */
  readonly hoursMs: number;
  /** The last state of each series. */
  readonly filingsMs: number;
}

const GRAINS = ['commits', 'minutes', 'hours', 'filings'] as const;
type Grain = (typeof GRAINS)[number];

export const DEFAULT_RETENTION = 'commits=24h,minutes=7d,hours=30d,filings=365d';
export const RETENTION_RULE = `must be times such as ${DEFAULT_RETENTION}, none shorter than the one before it; 7d alone keeps every moment for 7 days, and then only the last state`;

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };
const TIME = /^([1-9]\d{0,4})([hd])$/;

/**
 * Parses `commits=24h,minutes=7d,hours=30d,filings=365d`, where what is left out is as by default, but never shorter
 * than what comes before it. A time alone is that of all four. Null for anything else.
 */
export function parseRetention(text: string): ReplicaKeeps | null {
  const alone = timeMs(text);
  if (alone !== null) return { commitsMs: alone, minutesMs: alone, hoursMs: alone, filingsMs: alone };
  const said = saidIn(text);
  const defaults = saidIn(DEFAULT_RETENTION);
  if (said === null || defaults === null) return null;
  const keeps: number[] = [];
  for (const grain of GRAINS) {
    const before = keeps.at(-1) ?? 0;
    const own = said.get(grain);
    if (own !== undefined && own < before) return null;
    keeps.push(own ?? Math.max(before, defaults.get(grain) ?? 0));
  }
  const [commitsMs = 0, minutesMs = 0, hoursMs = 0, filingsMs = 0] = keeps;
  return { commitsMs, minutesMs, hoursMs, filingsMs };
}

function saidIn(text: string): Map<Grain, number> | null {
  const said = new Map<Grain, number>();
  for (const part of text.split(',')) {
    const [name, time = '', ...more] = part.trim().split('=');
    const grain = GRAINS.find((each) => each === name);
    const ms = timeMs(time);
    if (grain === undefined || ms === null || more.length > 0 || said.has(grain)) return null;
    said.set(grain, ms);
  }
  return said;
}

function timeMs(text: string): number | null {
  const [, count, unit = ''] = TIME.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (UNIT_MS[unit] ?? 0);
}

/** The inverse of `parseRetention`, with all four. */
export function retentionText({ commitsMs, minutesMs, hoursMs, filingsMs }: ReplicaKeeps): string {
  const text = (ms: number) =>
    ms % 86_400_000 === 0 && ms > 86_400_000 ? `${ms / 86_400_000}d` : `${ms / 3_600_000}h`;
  return `commits=${text(commitsMs)},minutes=${text(minutesMs)},hours=${text(hoursMs)},filings=${text(filingsMs)}`;
}
