/** The settings of real programs, for config.ts. */
import { z } from 'zod';

/** What is known of real programs. */
export interface NativeSettings {
  readonly isOn: boolean;
  /** Processes and threads of one sandbox, at most. */
  readonly processes: number;
  /** Processors that one sandbox may keep busy. */
  readonly processors: number;
}

const numbers = (least: number, most: number, isWhole: boolean, fallback: number) => {
  const rule = `must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}`;
  return z
    .string()
    .regex(isWhole ? /^\d{1,6}$/ : /^\d{1,4}(?:\.\d{1,2})?$/, rule)
    .transform(Number)
    .refine((value) => value >= least && value <= most, rule)
    .default(fallback);
};

/** Their names and forms. */
export const NATIVE_SETTINGS = {
  WB_NATIVE: z.enum(['on', 'off']).default('off'),
  WB_NATIVE_PIDS: numbers(16, 32_768, true, 256),
  WB_NATIVE_CPU: numbers(0.1, 1024, false, 1),
};

/** The settings of a checked environment. */
export function nativeSettingsOf(env: {
  WB_NATIVE: 'on' | 'off';
  WB_NATIVE_PIDS: number;
  WB_NATIVE_CPU: number;
}): NativeSettings {
  return { isOn: env.WB_NATIVE === 'on', processes: env.WB_NATIVE_PIDS, processors: env.WB_NATIVE_CPU };
}
