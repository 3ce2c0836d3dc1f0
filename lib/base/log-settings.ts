/** The settings of the logs of sandboxes, for config.ts: what they printed, kept on this machine. */
import { z } from 'zod';

/** What is known of the logs. */
export interface LogSettings {
  readonly isOn: boolean;
  /** Bytes of the log of one sandbox, and of all, at most. */
  readonly bytesPerSandbox: number;
  readonly bytesTotal: number;
}

const MIB = 1024 * 1024;
const LEAST = 65_536;

const bytes = (most: number, fallback: number) => {
  const rule = `must be a whole number of bytes from ${LEAST} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, rule)
    .transform(Number)
    .refine((value) => value >= LEAST && value <= most, rule)
    .default(fallback);
};

/** Their names and forms. */
export const LOG_SETTINGS = {
  WB_LOGS: z.enum(['on', 'off']).default('on'),
  WB_LOG_BYTES: bytes(1024 * MIB, 4 * MIB),
  WB_LOG_TOTAL: bytes(1024 * 1024 * MIB, 1024 * MIB),
};

/** The settings of a checked environment. */
export function logSettingsOf(env: { WB_LOGS: 'on' | 'off'; WB_LOG_BYTES: number; WB_LOG_TOTAL: number }): LogSettings {
  return { isOn: env.WB_LOGS === 'on', bytesPerSandbox: env.WB_LOG_BYTES, bytesTotal: env.WB_LOG_TOTAL };
}
