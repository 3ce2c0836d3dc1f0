/** The calls of the buttons of a form of thresholds. */
import type { FieldKind, MarkedCall } from '#components/calls/call-mark.ts';
import type { Threshold } from './threshold-values.ts';

const KINDS: Readonly<Record<Threshold, FieldKind>> = {
  hot_to_warm_s: 'length',
  idle_to_suspend_s: 'length',
  idle_to_freeze_s: 'length',
};

/** By the button's value. `tenant` null: the thresholds of all. */
export function thresholdCalls(tenant: string | null): Record<string, MarkedCall> {
  // What is set is what the preview showed.
  const fields = { seen: { to: '', kind: 'json' } } as const;
  return {
    look: { name: 'previewThresholds', body: tenant === null ? {} : { tenant }, fields: KINDS, onlyChanged: true },
    set: tenant === null ? { name: 'patchSettings', fields } : { name: 'patchTenant', path: { tenant }, fields },
  };
}
