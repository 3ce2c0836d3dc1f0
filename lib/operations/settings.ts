/** Operations on thresholds: showing and changing them, and what others would do (preview, simulation). */
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { PreviewAnswer, PreviewInput, SimulateInput, Simulation } from '../contract/schema/tenants.ts';
import type { Settings } from '../contract/schema.ts';
import { simulate, type WakeCosts } from '../ledger/simulator.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { Thresholds } from '../registry/types.ts';
import { auditContextOf } from './audit-context.ts';

export interface SettingsOperations {
  getSettings(caller: Caller): Promise<Settings>;
  patchSettings(caller: Caller, patch: Partial<Settings>): Promise<Settings>;
  /** What other thresholds would do within a minute to the sandboxes as the last tick left them. Changes nothing. */
  previewThresholds(caller: Caller, input: PreviewInput): Promise<PreviewAnswer>;
  /** What other thresholds would have made of the last days, computed from the ledger. Changes nothing. */
  simulate(caller: Caller, input: SimulateInput): Promise<Simulation>;
}

const DAY_MS = 86_400_000;
const PREVIEW_SECONDS = 60;

export function settingsOperations(parts: { registry: Registry; clock: Clock }): SettingsOperations {
  const { registry, clock } = parts;
  return {
    getSettings: async () => settingsOf(await registry.thresholds.global()),

    async patchSettings(caller, patch) {
      const changed = await registry.thresholds.setGlobal(
        thresholdsPatch(patch),
        ledgerEntry(parts, null, auditContextOf(caller), 'settings.changed', {
          reason: Object.entries(patch)
            .map(([name, value]) => `${name}=${value}`)
            .join(' '),
        }),
      );
      return settingsOf(changed);
    },

    async previewThresholds(caller, { tenant, ...patch }) {
      const { more, fewer, cut } = await registry.thresholds.compare({
        tenant: tenant ?? null,
        patch: thresholdsPatch(patch),
        until: epochSeconds(clock) + PREVIEW_SECONDS,
        ...(caller.tenants === null ? {} : { tenants: caller.tenants }),
      });
      return { within_s: PREVIEW_SECONDS, more, fewer, cut };
    },

    async simulate(caller, { tenant, days, curve, ...patch }) {
      const old =
        tenant === undefined ? await registry.thresholds.global() : await registry.thresholds.ofTenant(tenant);
      const trial = { ...old, ...thresholdsPatch(patch) };
      const tenants = tenant === undefined ? caller.tenants : [tenant];
      const nowMs = clock.now();
      const done = await simulate(registry, {
        sinceMs: nowMs - days * DAY_MS,
        nowMs,
        old,
        trial,
        curve: (curve ?? []).map((idleToSuspendSeconds) => ({ ...trial, idleToSuspendSeconds })),
        ...(tenants === null ? {} : { tenants }),
      });
      return {
        since: epochSeconds({ now: () => done.sinceMs }),
        until: epochSeconds(clock),
        lines: done.lines,
        first: done.firstMs === null ? null : Math.floor(done.firstMs / 1000),
        idle_ends: done.idleEnds,
        cut: done.cut,
        idle_to_suspend_s: trial.idleToSuspendSeconds,
        idle_to_freeze_s: trial.idleToFreezeSeconds,
        was: tallyOf(done.was),
        would: tallyOf(done.would),
        estimated_wakes: done.estimatedWakes,
        curve: done.curve.map(({ would, estimatedWakes }, at) => ({
          idle_to_suspend_s: curve?.[at] ?? trial.idleToSuspendSeconds,
          would: tallyOf(would),
          estimated_wakes: estimatedWakes,
        })),
      };
    },
  };
}

function settingsOf(thresholds: Thresholds): Settings {
  return {
    hot_to_warm_s: thresholds.hotToWarmSeconds,
    idle_to_suspend_s: thresholds.idleToSuspendSeconds,
    idle_to_freeze_s: thresholds.idleToFreezeSeconds,
  };
}

/** The thresholds that a patch sets; null takes one back to the global one, where that may be. */
export function thresholdsPatch<T extends number | null>(patch: {
  hot_to_warm_s?: T | undefined;
  idle_to_suspend_s?: T | undefined;
  idle_to_freeze_s?: T | undefined;
}): { [K in keyof Thresholds]?: T } {
  const { hot_to_warm_s: toWarm, idle_to_suspend_s: toSuspend, idle_to_freeze_s: toFreeze } = patch;
  return {
    ...(toWarm === undefined ? {} : { hotToWarmSeconds: toWarm }),
    ...(toSuspend === undefined ? {} : { idleToSuspendSeconds: toSuspend }),
    ...(toFreeze === undefined ? {} : { idleToFreezeSeconds: toFreeze }),
  };
}

function tallyOf({ processHours, coldWakes, thaws }: WakeCosts) {
  return { process_hours: Math.round(processHours * 100) / 100, cold_wakes: coldWakes, thaws };
}
